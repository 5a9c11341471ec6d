"""Ops of plans that print themselves at once print what their assembly format says."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.printer import Printer

from ge_dialect.ge.base import FormattedOp
from ge_dialect.ge_exec import BufferOp, LaunchOp, OutputOp, WeightOp
from ge_dialect.printing import ExactPrinter
from ge_dialect.tools import api

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "bert_tiny.onnx"
QUICK = (BufferOp, LaunchOp, OutputOp, WeightOp)


def texts_of(module: ModuleOp) -> list[tuple[str, str]]:
    """What each op prints, and what its format prints, by printers that know the same names."""
    printed, wanted = (ExactPrinter(StringIO(), print_debuginfo=True) for _ in range(2))
    pairs: list[tuple[str, str]] = []
    for op in module.walk():
        if not isinstance(op, QUICK):
            continue
        printed.stream, wanted.stream = first, second = StringIO(), StringIO()
        printed.print_op(op)
        Printer.print_op(wanted, op)
        pairs.append((first.getvalue(), second.getvalue()))
    return pairs


def is_quick(op: Operation) -> bool:
    return isinstance(op, FormattedOp) and op.quick_text(ExactPrinter(StringIO())) is not None


@pytest.mark.parametrize("l2_limit", [0, None])
def test_planned_ops(l2_limit: int | None) -> None:
    module = api.compile(EXAMPLE, l2_limit=l2_limit, streams=2).module
    pairs = texts_of(module)
    assert all(got == want for got, want in pairs)
    assert all(is_quick(op) for op in module.walk() if isinstance(op, QUICK))
    assert {type(op) for op in module.walk()} >= set(QUICK)


def test_ops_without_a_place_and_ops_with_attributes() -> None:
    module = api.compile(EXAMPLE).module
    ops = [op for op in module.walk() if isinstance(op, QUICK)]
    for op in ops:
        if isinstance(op, BufferOp | WeightOp):
            op.operands = []
            del op.properties["offset"]
    pairs = texts_of(module)
    assert all(got == want for got, want in pairs)
    for op in ops:
        op.attributes |= {"label": StringAttr('a "b"'), "marked": UnitAttr()}
    assert not any(map(is_quick, ops))
    assert all(got == want for got, want in texts_of(module))


def test_half_a_place_is_left_to_the_format() -> None:
    module = api.compile(EXAMPLE).module
    for op in module.walk():
        if isinstance(op, BufferOp | WeightOp):
            del op.properties["offset"]
            assert not is_quick(op)
