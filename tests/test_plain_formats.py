"""Ops whose format is plain print at once what xDSL prints of it."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, f64, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation
from xdsl.printer import Printer

from ge_dialect.ge.base import FormattedOp
from ge_dialect.printing import ExactPrinter
from tests.op_samples import OP_CLASSES, OP_NAMES, parse_ops, sample, with_floats, without_optional

NUMBERS = (1e-5, 0.1, 1e30, -0.0, float("inf"), float("nan"))


def forms(op_class: type[IRDLOperation]) -> Iterator[Operation]:
    """Yields ops of a class, with and without what may be left out, and with other floats."""
    for op in parse_ops(sample(op_class)):
        yield op
        yield from without_optional(op)
        yield from [copy for number in NUMBERS if (copy := with_floats(op, number)) is not None]


def texts(op: Operation) -> tuple[str, str]:
    """What an op prints, and what its format prints, by printers that know the same names."""
    first, second = StringIO(), StringIO()
    ExactPrinter(first, print_debuginfo=True).print_op(op)
    Printer.print_op(ExactPrinter(second, print_debuginfo=True), op)
    return first.getvalue(), second.getvalue()


def is_quick(op: Operation) -> bool:
    return isinstance(op, FormattedOp) and op.quick_text(ExactPrinter(StringIO())) is not None


@pytest.mark.parametrize("op_class", OP_CLASSES, ids=OP_NAMES)
def test_an_op_prints_what_its_format_says(op_class: type[IRDLOperation]) -> None:
    for op in forms(op_class):
        printed, wanted = texts(op)
        assert printed == wanted


def test_most_ops_are_plain() -> None:
    plain = [op_class for op_class in OP_CLASSES if all(map(is_quick, forms(op_class)))]
    assert len(plain) > len(OP_CLASSES) / 2


@pytest.mark.parametrize(
    ("text", "name", "other"),
    [
        ("ge.rms_norm %x axis -1 epsilon 1.0e-05", "axis", IntegerAttr(-1, i32)),
        ("ge.rms_norm %x axis -1 epsilon 1.0e-05", "epsilon", FloatAttr(1e-5, f64)),
        ("ge.rms_norm %x axis -1 epsilon 1.0e-05", "epsilon", StringAttr("small")),
        ("ge.transpose %x perm [0]", "perm", DenseArrayBase.from_list(i32, [0])),
    ],
)
def test_what_is_not_as_it_should_be_is_left_to_the_format(
    text: str, name: str, other: Attribute
) -> None:
    (op,) = parse_ops(f"%y = {text} : (tensor<4xf32>) -> tensor<4xf32>")
    assert is_quick(op)
    op.properties[name] = other
    assert not is_quick(op)
    del op.properties[name]
    assert not is_quick(op)


def test_attributes_are_left_to_the_format() -> None:
    (op,) = parse_ops("%y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>")
    assert is_quick(op)
    op.attributes["label"] = StringAttr('a "b"')
    printed, wanted = texts(op)
    assert not is_quick(op) and printed == wanted
