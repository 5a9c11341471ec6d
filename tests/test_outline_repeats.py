"""Repeated blocks: optimised once, copied, and the result is that of optimising all of them."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from ge_dialect.ge.copied import CopiedRegion, find_ops, structure_of, walk_structure
from ge_dialect.ge.structure import FusionOp
from ge_dialect.passes import get_all_passes
from ge_dialect.passes.repeats.find import find_run
from ge_dialect.passes.repeats.outline_repeats import optimize_repeats, shorten_repeats
from ge_dialect.printing import exact_text
from ge_dialect.tools import api
from ge_dialect.tools.api import make_context
from ge_dialect.tools.check.numerics import mismatch_of, reference_of

T = "tensor<4x4xf32>"
PASSES = ("ge-canonicalize", "ge-simplify-algebra", "ge-cse", "ge-dce", "ge-raise", "ge-cse")

PIECES = {
    "add weight": [f"%{{n}} = ge.add %{{x}}, %{{w}} : ({T}, {T}) -> {T}"],
    "matmul": [f"%{{n}} = ge.matmul %{{x}}, %{{w}} : ({T}, {T}) -> {T}"],
    "relu": [f"%{{n}} = ge.relu %{{x}} : ({T}) -> {T}"],
    "residual": [f"%{{n}} = ge.add %{{x}}, %{{h}} : ({T}, {T}) -> {T}"],
    "shared": [f"%{{n}} = ge.mul %{{x}}, %s : ({T}, {T}) -> {T}"],
    "shared alone": [
        f"%{{n}}a = ge.exp %s : ({T}) -> {T}",
        f"%{{n}} = ge.mul %{{x}}, %{{n}}a : ({T}, {T}) -> {T}",
    ],
    "twice": [f"%{{n}}a = ge.neg %{{x}} : ({T}) -> {T}", f"%{{n}} = ge.neg %{{n}}a : ({T}) -> {T}"],
    "silu": [
        f"%{{n}}a = ge.sigmoid %{{x}} : ({T}) -> {T}",
        f"%{{n}} = ge.mul %{{n}}a, %{{x}} : ({T}, {T}) -> {T}",
    ],
    "transpose": [f"%{{n}} = ge.transpose %{{x}} perm [1, 0] : ({T}) -> {T}"],
    "abs": [f"%{{n}} = ge.abs %{{x}} : ({T}) -> {T}"],
    "neg": [f"%{{n}} = ge.neg %{{x}} : ({T}) -> {T}"],
    "flat": [
        f"%{{n}}a = ge.reshape %{{x}} : ({T}) -> tensor<16xf32>",
        "%{n}b = ge.exp %{n}a : (tensor<16xf32>) -> tensor<16xf32>",
        f"%{{n}} = ge.reshape %{{n}}b : (tensor<16xf32>) -> {T}",
    ],
    "first input": [f"%{{n}} = ge.add %{{x}}, %x : ({T}, {T}) -> {T}"],
    "one": [
        f"%{{n}}c = ge.constant dense<1.0> : {T}",
        f"%{{n}} = ge.mul %{{x}}, %{{n}}c : ({T}, {T}) -> {T}",
    ],
}


def stack(
    pieces: Sequence[str],
    count: int,
    *,
    weights: Sequence[str] = (),
    out: int = -1,
    around: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> str:
    """A function of `count` equal blocks; weights are arguments, or the constants given.

    Args:
        pieces: What a block is made of, of `PIECES`.
        count: Of blocks.
        weights: Text of the attribute of each block's weight.
        out: A block whose result is returned as well.
        around: Pieces before the blocks and behind them.
    """
    arguments = [f"%x: {T}", f"%s: {T}", f"%u: {T}", f"%v: {T}"]
    lines: list[str] = []
    value = "x"
    returned: list[str] = []

    def add(wanted: Sequence[str], prefix: str, before: str, weight: str) -> str:
        value = before
        for position, piece in enumerate(wanted):
            name = f"{prefix}p{position}"
            filled = {"n": name, "x": value, "w": weight, "h": before}
            lines.extend([line.format(**filled) for line in PIECES[piece]])
            value = name
        return value

    value = add(around[0], "before", value, "u")
    for block in range(count):
        weight = f"w{block}"
        if weights:
            lines.append(f"%{weight} = ge.constant {weights[block]} : {T}")
        else:
            arguments.append(f"%{weight}: {T}")
        value = add(pieces, f"b{block}", value, weight)
        if block == out:
            returned.append(value)
    returned.append(add(around[1], "behind", value, "v"))
    shown = ", ".join(f"%{one}" for one in returned)
    types = ", ".join([T] * len(returned))
    body = "\n  ".join([*lines, f"func.return {shown} : {types}"])
    return f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n  {body}\n}}"


def parse(text: str) -> ModuleOp:
    return Parser(make_context(), text).parse_module()


def run(module: ModuleOp, names: Sequence[str] = PASSES) -> None:
    known = get_all_passes()
    for name in names:
        known[name]()().apply(make_context(), module)


def lines_of(module: ModuleOp) -> list[str]:
    """The text in any order of lines, without the numbers that values get: constants may move."""
    return sorted(line.split(" = ")[-1].split(" : ")[0].split("%")[0] for line in ops_of(module))


def ops_of(module: ModuleOp) -> list[str]:
    return exact_text(module).splitlines()


SOME = st.lists(st.sampled_from(sorted(PIECES)), max_size=3)


@given(
    pieces=st.lists(st.sampled_from(sorted(PIECES)), min_size=1, max_size=6),
    count=st.integers(5, 9),
    out=st.integers(-1, 8),
    around=st.tuples(SOME, SOME),
)
@settings(max_examples=60)
def test_copies_compute_what_all_blocks_did(
    pieces: list[str], count: int, out: int, around: tuple[list[str], list[str]]
) -> None:
    module = parse(stack(pieces, count, out=out, around=around))
    reference = reference_of(module, 0, extremes=False)
    whole = module.clone()
    run(whole)
    copied = optimize_repeats(module, run, 5, 1)
    module.verify()
    assert (found := mismatch_of(module, reference, exact=True)) is None, found.message
    if copied:
        assert lines_of(module) == lines_of(whole)


FUSING = (*PASSES, "ge-optimize-layout", "ge-normalize-order", "ge-fuse-rules", "ge-fuse-auto")


@given(
    pieces=st.lists(st.sampled_from(sorted(PIECES)), min_size=1, max_size=6),
    count=st.integers(5, 9),
    out=st.integers(-1, 8),
    around=st.tuples(SOME, SOME),
)
@settings(max_examples=40)
def test_copies_of_kernels_compute_what_all_blocks_did(
    pieces: list[str], count: int, out: int, around: tuple[list[str], list[str]]
) -> None:
    module = parse(stack(pieces, count, out=out, around=around))
    reference = reference_of(module, 0, extremes=False)
    optimize_repeats(module, lambda short: run(short, FUSING), 5, 1)
    module.verify()
    assert (found := mismatch_of(module, reference, exact=True)) is None, found.message


def test_kernels_are_copied_with_their_bodies() -> None:
    module = parse(stack(["matmul", "silu", "matmul", "matmul", "matmul", "residual"], 10))
    whole = module.clone()
    run(whole, FUSING)
    assert optimize_repeats(module, lambda short: run(short, FUSING), 6, 1) == 8
    assert exact_text(module).count("ge.fusion") == exact_text(whole).count("ge.fusion") > 0
    assert lines_of(module) == lines_of(whole)


def copied_kernels() -> tuple[FuncOp, list[FusionOp], list[CopiedRegion]]:
    """A function of equal blocks, its kernels, and those bodies that are copies."""
    module = parse(stack(["matmul", "silu", "matmul", "matmul", "matmul", "residual"], 10))
    assert optimize_repeats(module, lambda short: run(short, FUSING), 6, 1) == 8
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    kernels = [op for op in function.body.block.ops if isinstance(op, FusionOp)]
    return function, kernels, [op.body for op in kernels if isinstance(op.body, CopiedRegion)]


def test_a_body_that_is_a_copy_is_its_own_when_somebody_looks() -> None:
    function, kernels, copies = copied_kernels()
    like = copies[0].like
    assert [structure_of(body) for body in copies] == [like] * 8
    text = exact_text(function, locations=True)
    for kernel in kernels:
        for op in kernel.body.walk():
            assert "seen" not in op.attributes
            op.attributes["seen"] = UnitAttr()
        assert structure_of(kernel.body) is kernel.body
    assert not any("seen" in op.attributes for op in like.walk())
    for op in function.walk():
        op.attributes.pop("seen", None)
    function.verify()
    assert exact_text(function, locations=True) == text


def test_ops_in_copies_are_found_where_they_are() -> None:
    function, kernels, copies = copied_kernels()
    kinds = [op.name for kernel in kernels for op in walk_structure(kernel)]
    assert not list(find_ops(function.body, lambda op: op.name == "ge.cos"))
    assert not any(body.is_made for body in copies)
    found = list(find_ops(function.body, lambda op: op.name == kinds[1]))
    assert all(body.is_made for body in copies)
    assert found == [op for op in function.walk() if op.name == kinds[1]]
    assert kinds == [op.name for kernel in kernels for op in kernel.walk()]


@pytest.mark.parametrize("asked", [(), ("MatMulSwiGlu",)])
def test_who_asks_why_not_has_every_block_fused_by_itself(asked: tuple[str, ...]) -> None:
    module = parse(stack(["matmul", "silu", "matmul", "matmul", "matmul", "residual"], 40))
    names = [one.name for one in api.compile(module, why_not=asked).passes]
    copied, fused = names.index("ge-outline-repeats"), names.index("ge-fuse-rules")
    assert (copied < fused) == bool(asked)


@pytest.mark.parametrize(
    "pieces",
    [
        ["matmul", "silu", "twice", "residual"],
        ["matmul", "silu", "matmul", "matmul", "matmul", "residual"],
    ],
)
def test_plans_are_the_same_where_kernels_reach_over_blocks_and_where_not(
    pieces: list[str],
) -> None:
    texts: list[str] = []
    for outline in (True, False):
        plan = api.compile(parse(stack(pieces, 40)), outline=outline)
        assert ("ge-outline-repeats" in [one.name for one in plan.passes]) == outline
        texts.append(exact_text(plan.module, locations=True))
    assert texts[0] == texts[1]


def test_kernels_may_have_weights_of_two_blocks() -> None:
    # Blocks begin between attention and feed-forward part, which a kernel reaches over.
    path = Path(__file__).resolve().parent.parent / "benchmarks" / "repeats.py"
    module = parse(runpy.run_path(str(path))["stack"](12))
    whole = module.clone()
    run(whole, FUSING)
    assert optimize_repeats(module, lambda short: run(short, FUSING)) == 10
    assert lines_of(module) == lines_of(whole)


def test_blocks_that_are_equal_are_copied() -> None:
    module = parse(stack(["matmul", "twice", "residual"], 10))
    assert optimize_repeats(module, run, 6, 1) == 8
    text = exact_text(module)
    assert text.count("ge.matmul") == 10
    assert text.count("ge.neg") == 0


@pytest.mark.parametrize("out", [-1, 0, 9])
@pytest.mark.parametrize(
    "pieces",
    [["silu", "matmul"], ["twice", "matmul", "shared"], ["one", "matmul", "silu", "residual"]],
)
def test_copies_are_what_the_passes_make_of_all_blocks(pieces: list[str], out: int) -> None:
    module = parse(stack(pieces, 10, out=out))
    whole = module.clone()
    run(whole)
    assert optimize_repeats(module, run, 6, 1)
    assert lines_of(module) == lines_of(whole)


def test_what_all_blocks_compute_alike_is_computed_once() -> None:
    module = parse(stack(["matmul", "shared alone"], 10))
    assert optimize_repeats(module, run, 6, 1)
    assert exact_text(module).count("ge.exp") == 1


def test_a_block_that_differs_ends_the_run() -> None:
    text = stack(["matmul", "relu"], 12)
    head, tail = text.split("%b8p1 = ge.relu")
    module = parse(f"{head}%b8p1 = ge.tanh{tail}")
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    run_ = find_run(function.body.block, 5)
    assert run_ is not None
    assert len(run_.blocks) == 9


@pytest.mark.parametrize(("repeats", "ops"), [(11, 1), (6, 1000)])
def test_what_does_not_pay_is_left_alone(repeats: int, ops: int) -> None:
    module = parse(stack(["matmul", "twice"], 10))
    before = exact_text(module)
    assert optimize_repeats(module, run, repeats, ops) == 0
    assert exact_text(module) == before


def shortened(module: ModuleOp, names: Sequence[str] = PASSES) -> list[int]:
    """Optimises a module with its repeats left out; returns how many ops the short ones had."""
    sizes: list[int] = []

    def count(short: ModuleOp) -> None:
        sizes.append(sum(1 for _ in short.walk()))
        run(short, names)

    assert optimize_repeats(module, count, 6, 1)
    return sizes


BLOCK = ["matmul", "silu", "shared", "flat", "residual"]


def test_half_a_block_is_enough_at_the_end_where_one_is_before_the_run() -> None:
    # That one has other ops, which come out the same.
    before, behind = ["twice", *BLOCK[:2], "twice", *BLOCK[2:], "twice"], BLOCK[:3]
    module = parse(stack(BLOCK, 10, around=(before, behind)))
    whole, reference = module.clone(), reference_of(module, 0, extremes=False)
    run(whole)
    assert len(shortened(module)) == 1
    assert lines_of(module) == lines_of(whole)
    assert mismatch_of(module, reference, exact=True) is None


def test_half_a_block_is_not_enough_where_nothing_shows_the_rest() -> None:
    module = parse(stack(BLOCK, 10, around=([], BLOCK[:3])))
    whole, reference = module.clone(), reference_of(module, 0, extremes=False)
    run(whole)
    first, second = shortened(module)
    assert second > first
    assert lines_of(module) == lines_of(whole)
    assert mismatch_of(module, reference, exact=True) is None


@pytest.mark.parametrize(
    "around", [(["neg"], []), (["transpose"], []), ([], ["neg"]), (["abs"], ["transpose"])]
)
@pytest.mark.parametrize("pieces", [["abs", "matmul"], ["neg", "matmul"], ["transpose", "relu"]])
def test_what_is_around_the_blocks_is_not_taken_for_part_of_them(
    pieces: list[str], around: tuple[list[str], list[str]]
) -> None:
    module = parse(stack([*pieces, "residual"], 9, around=around))
    reference = reference_of(module, 0, extremes=False)
    optimize_repeats(module, lambda one: run(one, FUSING), 5, 1)
    assert (found := mismatch_of(module, reference, exact=True)) is None, found.message


ROTATED = """
  %a{i} = ge.slice %x{i} starts [0] ends [4] axes [3] steps [1] : ({T}) -> {H}
  %b{i} = ge.slice %x{i} starts [4] ends [8] axes [3] steps [1] : ({T}) -> {H}
  %n{i} = ge.neg %b{i} : ({H}) -> {H}
  %t{i} = ge.concat %n{i}, %a{i} axis 3 : ({H}, {H}) -> {T}
  %cos{i} = ge.constant {cos} : {A}
  %sin{i} = ge.constant {sin} : {A}
  %p{i} = ge.mul %x{i}, %cos{i} : ({T}, {A}) -> {T}
  %q{i} = ge.mul %t{i}, %sin{i} : ({T}, {A}) -> {T}
  %r{i} = ge.add %p{i}, %q{i} : ({T}, {T}) -> {T}
  %e{i} = ge.relu %r{i} : ({T}) -> {T}
  %x{next} = ge.mul %e{i}, %w : ({T}, {T}) -> {T}"""


@pytest.mark.parametrize("alike", [True, False])
def test_tables_that_are_the_same_in_all_blocks_are_known(alike: bool, tmp_path: Path) -> None:
    tables = [np.tile(np.arange(12.0).reshape(3, 4), 2) for _ in range(20)]
    tables[9] = tables[9] if alike else tables[9] + 1
    path = tmp_path / "tables.bin"
    path.write_bytes(b"".join(table.astype(np.float32).tobytes() for table in tables))
    weights = [f'#ge.weight<"t{i}", "{path}", {i * 96}, 96>' for i in range(20)]
    types = {"T": "tensor<1x2x3x8xf32>", "H": "tensor<1x2x3x4xf32>", "A": "tensor<1x1x3x8xf32>"}
    lines = [
        ROTATED.format(i=i, next=i + 1, cos=weights[2 * i], sin=weights[2 * i + 1], **types)
        for i in range(10)
    ]
    wide = types["T"]
    module = parse(
        f"func.func @main(%x0: {wide}, %w: {wide}) -> ({wide}) {{{''.join(lines)}\n"
        f"  func.return %x10 : {wide}\n}}"
    )
    whole, reference = module.clone(), reference_of(module, 0, extremes=False)
    run(whole)
    assert optimize_repeats(module, run, 6, 1) == 8
    assert exact_text(module).count("ge.rotary_embedding") == (10 if alike else 0)
    assert exact_text(whole).count("ge.rotary_embedding") == 10
    assert (found := mismatch_of(module, reference, exact=False)) is None, found.message


def weight_files(folder: Path, arrays: Sequence[np.ndarray]) -> list[str]:
    """Attributes of weights in a file."""
    path = folder / "weights.bin"
    path.write_bytes(b"".join(array.astype(np.float32).tobytes() for array in arrays))
    return [f'#ge.weight<"w{i}", "{path}", {i * 64}, 64>' for i in range(len(arrays))]


def test_a_pass_that_computes_with_weights_is_not_believed(tmp_path: Path) -> None:
    arrays = [np.arange(16).reshape(4, 4) + i for i in range(10)]
    text = stack(["matmul", "relu"], 10, weights=weight_files(tmp_path, arrays))
    for i in range(10):
        text = text.replace(f"%w{i} = ge.constant", f"%v{i} = ge.constant")
        at = text.index("\n", text.index(f"%v{i} = ge.constant"))
        text = f"{text[:at]}\n  %w{i} = ge.neg %v{i} : ({T}) -> {T}{text[at:]}"
    module = parse(text)
    before = exact_text(module)
    assert optimize_repeats(module, lambda one: run(one, ("ge-constant-fold",)), 6, 1) == 0
    assert exact_text(module) == before


def test_weights_of_one_value_are_what_all_of_them_are(tmp_path: Path) -> None:
    zeros = weight_files(tmp_path, [np.full((4, 4), -0.0)] * 10)
    module = parse(stack(["add weight", "silu"], 10, weights=zeros))
    assert optimize_repeats(module, run, 6, 1)
    assert "ge.add" not in exact_text(module)


def test_weights_of_other_values_are_no_reason_to_drop_an_op(tmp_path: Path) -> None:
    arrays = [np.full((4, 4), -0.0 if i in (1, 8) else i) for i in range(10)]
    module = parse(stack(["add weight", "silu"], 10, weights=weight_files(tmp_path, arrays)))
    reference = reference_of(module, 0, extremes=False)
    optimize_repeats(module, run, 6, 1)
    assert exact_text(module).count("ge.add") == 10
    assert (found := mismatch_of(module, reference, exact=True)) is None, found.message


def test_copies_have_their_own_weights(tmp_path: Path) -> None:
    arrays = [np.random.default_rng(i).normal(size=(4, 4)) for i in range(10)]
    module = parse(stack(["matmul", "twice"], 10, weights=weight_files(tmp_path, arrays)))
    reference = reference_of(module, 0, extremes=False)
    assert optimize_repeats(module, run, 6, 1)
    assert (found := mismatch_of(module, reference, exact=True)) is None, found.message


LLAMA = Path(__file__).parents[2] / "shared" / "zoo" / "llama7b"


def test_a_short_form_can_be_printed_and_nobody_looked_into_a_weight(tmp_path: Path) -> None:
    arrays = [np.random.default_rng(i).normal(size=(4, 4)) for i in range(10)]
    files = weight_files(tmp_path, arrays)
    short = shorten_repeats(parse(stack(["matmul", "relu"], 10, weights=files)), 6, 1)
    assert short is not None
    assert files[0] in exact_text(short.module)
    assert str(short.module)
    assert not short.opened


@pytest.mark.skipif(not LLAMA.is_dir(), reason=f"{LLAMA} is not there")
@pytest.mark.parametrize("export", ["dynamo-static", "dynamo23-static", "decode-dynamo23-static"])
def test_a_transformer_is_the_same_file_with_and_without(export: str, tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes((LLAMA / export / "model.onnx").read_bytes())
    with (tmp_path / "weights.bin").open("wb") as file:
        file.truncate(524_288_000)
    plans = [api.compile(model, outline=outline) for outline in (True, False)]
    assert [one.name for one in plans[0].passes].count("ge-outline-repeats") == 1
    assert exact_text(plans[0].module, locations=True) == exact_text(
        plans[1].module, locations=True
    )
    assert plans[0].fired == plans[1].fired
