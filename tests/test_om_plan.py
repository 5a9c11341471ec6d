"""Plans in `.om` files: written, read and written again; a hostile plan is an error, never more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.decode import MAX_DENSE_ELEMENTS, parse_plan, read_plan
from ge_dialect.lowering.om.encode import plan_of, write_plan
from ge_dialect.lowering.om.file import read_om, write_om
from ge_dialect.lowering.om.graph import om_model
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools.api import compile, make_context
from ge_dialect.tools.runtime.executor import Executor
from tests.plan_texts import (
    CHAIN,
    FEEDS,
    FORK,
    KERNELS,
    M4,
    T4,
    launch,
    module_of,
    output,
    placed,
    stream,
)

MODEL = """
func.func @main(%x: tensor<2x300xf32> {ge.name = "x"}) -> (tensor<2x300xf32> {ge.name = "y"}) {
  %w = ge.constant dense<2.5> : tensor<300xf32> loc("layer/weight")
  %v = ge.constant dense<2.5> : tensor<300xf32> loc("other/weight")
  %c = ge.constant dense<"0x0000807F"> : tensor<1xf32>
  %a = ge.add %x, %w : (tensor<2x300xf32>, tensor<300xf32>) -> tensor<2x300xf32> loc("layer/add")
  %b = ge.mul %a, %v : (tensor<2x300xf32>, tensor<300xf32>) -> tensor<2x300xf32> loc("layer/mul")
  %m = ge.minimum %b, %c : (tensor<2x300xf32>, tensor<1xf32>) -> tensor<2x300xf32>
  func.return %m : tensor<2x300xf32>
}"""


def parse(text: str) -> ModuleOp:
    from xdsl.parser import Parser

    return Parser(make_context(), text).parse_module()


@pytest.fixture
def om(tmp_path: Path) -> str:
    path = str(tmp_path / "m.om")
    compile(parse(MODEL), level=0).save(path)
    return path


def test_a_plan_is_read_as_it_was_written(om: str):
    loaded = read_plan(om)
    with loaded.file:
        verify_plan(plan_of(loaded.module))
        x = np.linspace(-1, 1, 600, dtype=np.float32).reshape(2, 300)
        found = Executor(loaded.module, loaded.weights).run({"x": x})["y"]
        np.testing.assert_array_equal(found, (x + np.float32(2.5)) * np.float32(2.5))
        names = [str(op.location) for op in plan_of(loaded.module).tasks()]
    assert '"layer/add"' in names[0]
    assert '"layer/mul"' in names[1]


def test_equal_weights_are_stored_once(om: str):
    with read_om(om) as file:
        assert len(file.weights) == 1536
        assert bytes(file.weights[:1200]) == np.full(300, 2.5, np.float32).tobytes()


@pytest.mark.parametrize("text", [CHAIN, FORK, MODEL], ids=["chain", "fork", "model"])
def test_what_was_read_is_written_with_the_same_bytes(text: str, tmp_path: Path):
    first, second = str(tmp_path / "a.om"), str(tmp_path / "b.om")
    module = compile(parse(text), level=0).module if "func.func" in text else module_of(text)
    before = str(module)
    write_plan(module, first)
    assert str(module) == before  # writing leaves the module as it was
    write_plan(module, second)
    assert Path(first).read_bytes() == Path(second).read_bytes()
    loaded = read_plan(first)
    with loaded.file:
        write_plan(loaded.module, second)
    assert Path(first).read_bytes() == Path(second).read_bytes()


def test_a_wrong_plan_is_not_written(tmp_path: Path):
    module = module_of(placed(192, ("%a", 128)) + stream(0, launch(0, "relu", "%a", "%a")))
    with pytest.raises(GEError, match="GE0540"):
        write_plan(module, str(tmp_path / "m.om"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("plans", [(), ("a", "b")])
def test_a_module_without_exactly_one_plan_is_not_written(plans: tuple[str, ...], tmp_path: Path):
    text = "".join(f"ge_exec.plan @{name} {{\n^bb0:\n}}\n" for name in plans)
    with pytest.raises(GEError, match="GE0620: expected a module with one plan"):
        write_plan(parse(text or "builtin.module {}"), str(tmp_path / "m.om"))
    assert list(tmp_path.iterdir()) == []


def test_a_launch_of_no_kernel_is_not_written(tmp_path: Path):
    module = module_of(placed(192, ("%a", 128)) + stream(0, launch(0, "gone", "%x", "%a")))
    with pytest.raises(GEError, match="GE0807: task 0 @gone: there is no kernel of that name"):
        write_plan(module, str(tmp_path / "m.om"))


def test_weights_that_are_planned_elsewhere_are_not_written(om: str, tmp_path: Path):
    from ge_dialect.ge.base import int_attr

    loaded = read_plan(om)
    with loaded.file:
        for op in plan_of(loaded.module).weights:
            op.properties["offset"] = int_attr(4)
        with pytest.raises(GEError, match=r"GE0621|GE0540"):
            write_plan(loaded.module, str(tmp_path / "new.om"))


# Each is the text of a plan partition, with what its message says.
TINY = placed(192) + stream(0, "ge_exec.record 0", "ge_exec.wait 0")
WEIGHT = '%w = ge_exec.weight <"w", "{path}", {offset}, {size}> in %work offset 128 : {type}'


def kernel(line: str) -> str:
    return f'ge_exec.kernel @k "K" engine "host" flops 0 {{\n{line}\nge.yield\n}}'


def whole(plan: str) -> str:
    return f"{KERNELS}\nge_exec.plan @main {{\n{plan}\n}}"


def weight(path: str, offset: int, size: int, type_: str = M4) -> str:
    return whole(
        placed(4096) + "\n" + WEIGHT.format(path=path, offset=offset, size=size, type=type_)
    )


HOSTILE = {
    "a splat of a billion": (
        kernel("%c = ge.constant dense<0.0> : tensor<1000000000xf32>"),
        "a constant of 1000000000 elements",
    ),
    "a splat of many dimensions": (
        kernel("%c = ge.constant dense<0.0> : tensor<99999x99999x99999xf32>"),
        "a constant of 999970000299999 elements",
    ),
    "a splat behind a comment": (
        kernel("// x\n%c = ge.constant dense<0.0> : tensor<1000000000xf32>"),
        "a comment in its text",
    ),
    "a splat behind spaces": (
        kernel("%c = ge.constant dense  <0.0> :  tensor < 1000000000 x f32>"),
        "written in an unknown form",
    ),
    "a splat of a vector": (
        kernel("%c = ge.constant dense<0> : vector<1000000000xi8>"),
        "a constant of 1000000000 elements",
    ),
    "many splats": (
        kernel("\n".join(f"%{i} = ge.constant dense<0> : tensor<1048576xi8>" for i in range(65))),
        "a constant of 1048576 elements",
    ),
    "an attribute that nobody reads": (
        f"ge_exec.plan @p attributes {{a = dense<0> : tensor<{MAX_DENSE_ELEMENTS + 1}xi8>}} {{}}",
        "a constant of",
    ),
    "deep regions": ("builtin.module {" * 3000 + "}" * 3000, "nested too deeply"),
    "deep types": (whole("%a = ge_exec.buffer : " + "tuple<" * 5000), "nested too deeply"),
    "a string that does not end": (
        whole(f'ge_exec.output "{"a" * 64}'),
        "expected a string that ends on its line",
    ),
    "an unknown op": (whole('"foo.bar"() : () -> ()'), "foo.bar"),
    "an op of another dialect": ("func.func @f() {\n func.return\n}", "func.func"),
    "an unknown type": (whole("%a = ge_exec.buffer : !foo.bar"), "foo"),
    "no IR": ("hello", "hello"),
    "a negative offset": (whole(TINY.replace("offset 64", "offset -64")), "expected 'offset' >= 0"),
    "a huge number": (whole(TINY.replace("size 192", f"size {'9' * 5000}")), "cannot be used"),
    "a number of 65 bits": (whole(TINY.replace("size 192", f"size {1 << 64}")), "cannot be used"),
    "a weight behind the file": (weight("", 1 << 40, 16), "ends behind the 512 bytes of weights"),
    "a weight that starts inside": (weight("", 500, 16), "ends behind the 512 bytes of weights"),
    "a weight before the file": (weight("", -16, 16), "cannot be used"),
    "a weight in another file": (weight("/etc/passwd", 0, 16), "is not in the file"),
    "a weight of another size": (weight("", 0, 12), "expected a weight of 16 bytes, got 12"),
}


def write_text(path: Path, text: str, weights: bytes = bytes(512)) -> str:
    """Writes an `.om` file with this plan, whatever it says, and all checksums right."""
    model = om_model(plan_of(module_of(TINY)), "m", len(weights))
    write_om(path, model, text, weights)
    return str(path)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_plan_is_an_error(name: str, tmp_path: Path):
    text, message = HOSTILE[name]
    path = write_text(tmp_path / "m.om", text)
    with pytest.raises(GEError) as caught:
        read_plan(path)
    assert caught.value.code == "GE0622"
    assert message in caught.value.message
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("size", [1 << 50, (1 << 63) - 1])
def test_a_huge_arena_takes_no_memory_before_it_is_refused(size: int, tmp_path: Path):
    plan = placed(size, ("%a", 128)) + stream(0, launch(0, "relu", "%x", "%a"))
    loaded = read_plan(write_text(tmp_path / "m.om", whole(plan + output("z", "%a"))))
    with loaded.file, pytest.raises(GEError, match="GE0806: arena 'work' claims"):
        Executor(loaded.module, loaded.weights).run(FEEDS)


def test_a_name_with_the_word_dense_is_no_constant(tmp_path: Path):
    text = whole(TINY).replace("%x", "%dense").replace('"x"', '"dense<0> : tensor<9999999xf32>"')
    loaded = read_plan(write_text(tmp_path / "m.om", text))
    with loaded.file:
        assert plan_of(loaded.module).inputs[0].io_name.data.startswith("dense")


SEED = whole(FORK) + kernel(f"%c = ge.constant dense<[1.0, 2.0, 3.0, 4.0]> : {T4}")


@given(st.integers(0, len(SEED)), st.integers(0, 40), st.sampled_from('"<>{}()%@#!-09x\\\n/, '))
def test_a_damaged_plan_is_an_error_or_a_plan(start: int, cut: int, put: str):
    from ge_dialect.lowering.om.decode import check_constants

    text = SEED[:start] + put + SEED[start + cut :]
    try:
        check_constants(text, "m.om")
        module = parse_plan(text, "m.om")
        verify_plan(plan_of(module))
        Executor(module)
    except GEError as error:
        assert "\n" not in str(error)
