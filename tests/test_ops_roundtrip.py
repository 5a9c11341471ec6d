"""Every op of the dialect prints what parses back to itself, in both forms."""

from __future__ import annotations

import math
from io import StringIO

import numpy as np
import pytest
from xdsl.dialects.builtin import bf16, f16, f32, f64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from ge_dialect.ge import dialect
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp, array_constant
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.structure import FusionOp, HostCallOp, IfOp, LoopOp, YieldOp
from ge_dialect.interpreters.functions import GEFunctions
from ge_dialect.interpreters.registry import registered_ops
from ge_dialect.printing import ExactPrinter
from tests.op_samples import (
    OP_CLASSES,
    OP_NAMES,
    context,
    documented,
    in_module,
    parse_ops,
    sample,
    with_element_type,
    with_floats,
    without_optional,
)

FINITE = (-0.0, 1 / math.sqrt(128), 1e-45, 16777217.0, 1e30)
NUMBERS = (math.nan, math.inf, -math.inf, *FINITE)
ELEMENT_TYPES = ("f32", "f16", "bf16", "f64")

each_op = pytest.mark.parametrize("op_class", OP_CLASSES, ids=OP_NAMES)
each_form = pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])


def check_roundtrip(op: Operation, generic: bool) -> None:
    """Checks that an op survives text; types and properties need not make sense together."""
    module = in_module(op)
    stream = StringIO()
    ExactPrinter(stream, print_generic_format=generic).print_op(module)
    parsed = Parser(context(), stream.getvalue()).parse_module()
    assert module.is_structurally_equivalent(parsed), stream.getvalue()


@each_op
@each_form
def test_samples_round_trip_in_every_float_type(
    op_class: type[IRDLOperation], generic: bool
) -> None:
    for element_type in ELEMENT_TYPES:
        ops = parse_ops(with_element_type(sample(op_class), element_type))
        assert any(isinstance(op, op_class) for op in ops)
        for op in ops:
            check_roundtrip(op, generic)


@each_op
@each_form
def test_special_numbers_round_trip(op_class: type[IRDLOperation], generic: bool) -> None:
    for op in parse_ops(sample(op_class)):
        for number in NUMBERS:
            if (changed := with_floats(op, number)) is not None:
                check_roundtrip(changed, generic)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-0x1", "Expected float literal or the 32 bits of one in hexadecimal"),
        ("0x100000000", "Expected float literal or the 32 bits of one in hexadecimal"),
        ("1", "Expected float literal or the 32 bits of one in hexadecimal"),
        ("axis", "Expected float literal"),
    ],
)
def test_what_is_no_float_is_refused(text: str, wanted: str) -> None:
    module = f"""
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %y = ge.rms_norm %x axis -1 epsilon {text} : (tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }}
    """
    with pytest.raises(ParseError, match=wanted):
        Parser(context(), module).parse_module()


@each_op
@each_form
def test_absent_optionals_round_trip(op_class: type[IRDLOperation], generic: bool) -> None:
    for op in parse_ops(sample(op_class)):
        for fewer in without_optional(op):
            check_roundtrip(fewer, generic)


@pytest.mark.parametrize("element_type", [f32, f16, bf16, f64], ids=str)
@each_form
def test_constants_of_special_numbers_round_trip(element_type: Attribute, generic: bool) -> None:
    dtype = to_numpy(element_type)
    with np.errstate(all="ignore"):
        for number in NUMBERS:
            check_roundtrip(array_constant(np.asarray(number, dtype)), generic)
        for numbers in (NUMBERS, FINITE, (0.0, -0.0)):
            for size in (2, 101):
                array = np.resize(np.asarray(numbers), size).astype(dtype)
                check_roundtrip(array_constant(array), generic)
            check_roundtrip(array_constant(np.full((2, 3), numbers[0], dtype)), generic)


@each_op
def test_samples_verify(op_class: type[IRDLOperation]) -> None:
    for op in parse_ops(sample(op_class)):
        if not isinstance(op, YieldOp):
            in_module(op).verify()


@each_op
def test_every_op_is_documented_and_has_a_name_for_ge(op_class: type[IRDLOperation]) -> None:
    assert op_class.__doc__, "no documentation"
    assert documented(op_class) is not None or sample(op_class)
    if issubclass(op_class, GEOp) and op_class not in (FusionOp, HostCallOp):
        assert op_class.GE_TYPE, "no GE_TYPE"


@each_op
def test_every_op_has_a_meaning(op_class: type[IRDLOperation]) -> None:
    by_region = (ConstantOp, FusionOp, IfOp, LoopOp, YieldOp)
    assert op_class in (*registered_ops(), *by_region)
    assert op_class in {implemented for implemented, _ in GEFunctions._impls()}  # pyright: ignore[reportPrivateUsage]  # xDSL has no other list


def test_every_module_that_defines_ops_is_in_the_dialect() -> None:
    from importlib import import_module
    from pathlib import Path

    folder = Path(dialect.__file__).parent
    modules = [path.stem for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]
    with_ops = {
        name for name in modules if dialect.op_classes(import_module(f"ge_dialect.ge.{name}"))
    }
    assert with_ops == set(dialect.FAMILIES)
    assert len(set(OP_NAMES)) == len(OP_NAMES)
