"""Evaluating an op at compile time, within a budget; shared by import, folding and inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp, array_constant, constant_array, constant_attr
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.quantization import DequantizeLinearOp
from ge_dialect.ge.types import byte_size, compatible, value_shape

if TYPE_CHECKING:
    import numpy.typing as npt

SHAPE_BYTES = 512
"""Constants up to this size may be shapes; evaluating them is part of import and inference."""


def has_constant_operands(op: Operation) -> bool:
    """Whether an op reads constants only; an op without operands does."""
    for operand in operands_of(op):  # noqa: SIM110  # a generator costs more than the loop
        if constant_attr(operand) is None:
            return False
    return True


def may_evaluate(op: Operation) -> bool:
    """Whether an op may be evaluated where its operands are known: of `ge`, pure, without
    regions."""
    return (
        isinstance(op, GEOp)
        and not isinstance(op, ConstantOp)
        and bool(op.results)
        and not op.regions
        and is_side_effect_free(op)
    )


def foldable(op: Operation) -> bool:
    """Whether an op may be evaluated at compile time at all, and reads constants only."""
    return has_constant_operands(op) and may_evaluate(op)


def operand_bytes(op: Operation) -> int:
    """Returns the bytes of an op's operands."""
    return sum(byte_size(operand.type) or 0 for operand in op.operands)


def result_bytes(op: Operation) -> int | None:
    """Returns the bytes of an op's results, or None where they are not known."""
    sizes = [byte_size(result.type) for result in op.results]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def is_shape_computation(op: Operation) -> bool:
    """Whether an op on constants is small enough to be a shape, or a scale computed from one.

    A dequantised matrix is neither: it may be the weight of a product of bytes.
    """
    if not has_constant_operands(op):
        return False
    if isinstance(op, DequantizeLinearOp) and len(value_shape(op.input)) > 1:
        return False
    size = result_bytes(op)
    return (
        size is not None
        and size <= SHAPE_BYTES
        and operand_bytes(op) <= 4 * SHAPE_BYTES
        and foldable(op)
    )


def evaluate_constant(op: Operation) -> Sequence[ConstantOp] | str:
    """Returns constants for the results of an op on constants, or why there are none."""
    from ge_dialect.interpreters.registry import evaluate, has_semantics

    if not has_semantics(op):
        return "it has no reference semantics"
    arguments: list[npt.NDArray[Any]] = []
    for operand in op.operands:
        array = constant_array(operand)
        assert array is not None
        arguments.append(array)
    try:
        results = evaluate(op, arguments)
    except (InterpretationError, ValueError, ArithmeticError, IndexError) as error:
        return f"its evaluation failed: {error}"
    constants = [array_constant(result) for result in results]
    for constant, result in zip(constants, op.results, strict=True):
        if not compatible(result.type, constant.result.type):
            return f"its value has type {constant.result.type}, not {result.type}"
        constant.location = op.location
        constant.result.name_hint = result.name_hint
    return constants


def replace_by_constants(op: Operation, constants: Sequence[ConstantOp]) -> None:
    """Replaces an op by constants, one a result."""
    block = op.parent
    assert block is not None
    for constant, result in zip(constants, op.results, strict=True):
        block.insert_op_before(constant, op)
        result.replace_all_uses_with(constant.result)
    op.detach()
    op.erase()
