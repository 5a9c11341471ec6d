"""What patterns say of the ops in front of their roots: trying them anywhere gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.passes import driver, statistics
from ge_dialect.passes.algebra.common import FLAGS
from ge_dialect.passes.algebra.simplify_algebra import SimplifyAlgebraPass
from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
from ge_dialect.passes.raising.raise_composites import RaisePass
from ge_dialect.printing import exact_text
from ge_dialect.tools.api import compile, make_context

FOLDER = Path(__file__).parent / "filecheck" / "passes"
FILES = sorted(
    path
    for kind in ("canonicalize", "simplify_algebra", "raise")
    for path in FOLDER.glob(f"{kind}*")
)
PASSES = (
    CanonicalizePass(),
    SimplifyAlgebraPass(),
    SimplifyAlgebraPass(FLAGS),
    RaisePass(),
    RaisePass(fast_math=("masks",)),
)


def anywhere(index: driver.PatternIndex, op: Operation) -> Sequence[driver.Rewrite]:
    return index.by_root.get(type(op), ())


def run(text: str, pass_: ModulePass) -> tuple[object, ...]:
    """Returns what a pass makes of a module, what it counts and what it says."""
    ctx = make_context()
    module = Parser(ctx, text).parse_module()
    with statistics.collect() as counts, remarks.collect() as said:
        pass_.apply(ctx, module)
    return exact_text(module), counts, said.remarks


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_patterns_do_nothing_where_none_of_their_ops_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = path.read_text(encoding="utf-8").split("// -----")
    found = [run(text, pass_) for text in texts for pass_ in PASSES]
    monkeypatch.setattr(driver.PatternIndex, "of", anywhere)
    assert [run(text, pass_) for text in texts for pass_ in PASSES] == found


@pytest.mark.parametrize(
    "name",
    [
        "activations.ts-static",
        "efficientnet.ts-static",
        "flash-block.ts14-static",
        "llama-layer.ts-static",
        "mixtral-prefill.dynamo-static",
        "swin.ts-static",
        "t5.ts-static",
    ],
)
def test_plans_are_those_of_patterns_that_are_tried_everywhere(
    name: str, zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = zoo / name / "model.onnx"
    if not model.exists():
        pytest.skip(f"the zoo has no {name}")
    plan = compile(model)
    monkeypatch.setattr(driver.PatternIndex, "of", anywhere)
    other = compile(model)
    assert exact_text(plan.module) == exact_text(other.module)
    assert plan.remarks == other.remarks


def test_a_plan_does_not_depend_on_who_listens(tmp_path: Path) -> None:
    model = Path(__file__).parents[1] / "examples" / "bert_tiny.onnx"
    told, silent = compile(model), compile(model, remarks=False)
    assert told.remarks and not silent.remarks
    assert exact_text(told.module) == exact_text(silent.module)
    assert told.fired == silent.fired
