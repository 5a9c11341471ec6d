"""Ops that can work on transposed operands: with which attributes, and what their results are.

A permutation p of a value says that the value is `transpose(other, p)` of the one that takes its
place: its dimension i is dimension `p[i]` of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.ge.base import GEOp, int_attr, ints_attr
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.elementwise import BinaryOp, CastOp, ClipOp, SelectOp, UnaryOp
from ge_dialect.ge.normalization import LayerNormOp, RMSNormOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.quantization import ScaledOp
from ge_dialect.ge.reductions import AxisSoftmaxOp, ReduceOp
from ge_dialect.ge.requantization import RequantizeOp
from ge_dialect.ge.types import Shape, normalize_axes, normalize_axis, value_shape

Permutation: TypeAlias = tuple[int, ...]

_NAMES_AXES = ("axis", "axes", "perm")


@dataclass(frozen=True)
class Turned:
    """An op on transposed operands.

    Attributes:
        result: The permutation of its results.
        properties: Those that change.
    """

    result: Permutation
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])


def inverse(perm: Sequence[int]) -> Permutation:
    """Returns the permutation that undoes another one."""
    return tuple(sorted(range(len(perm)), key=lambda axis: perm[axis]))


def moves_data(shape: Shape, perm: Permutation) -> bool:
    """Whether a transposed value lies otherwise in memory: dimensions of size 1 may move freely.

    Args:
        shape: Of the result, whose dimension i was dimension `perm[i]`.
        perm: The permutation.
    """
    order = [perm[i] for i, dim in enumerate(shape) if dim != 1]
    return order != sorted(order)


def turned(op: Operation, perm: Permutation) -> Turned | None:
    """Returns what an op is on operands of the permutation `perm`, or None where it has to see them
    as they are.

    Operands of fewer dimensions count from the last one, as in every broadcast.
    """
    if not isinstance(op, GEOp) or op.regions or not op.results or not is_side_effect_free(op):
        return None
    rank = len(perm)
    match op:
        case ReduceOp():
            return _reduction(op, perm)
        case ConcatOp() | SplitOp():
            return Turned(perm, {"axis": int_attr(perm[op.dimension])})
        case SliceOp():
            axes = normalize_axes(op.axes.get_values(), rank)
            return Turned(perm, {"axes": ints_attr([perm[axis] for axis in axes])})
        case AxisSoftmaxOp():
            axis = normalize_axis(op.axis.value.data, rank)
            return Turned(perm, {"axis": int_attr(perm[axis] - rank)})
        case LayerNormOp() | RMSNormOp():
            return _norm(op, perm)
        case ScaledOp():
            return Turned(perm) if _has_one_scale(op) else None
        case RequantizeOp():
            return Turned(perm)
        case _:
            return Turned(perm) if _is_elementwise(op, rank) else None


def _has_one_scale(op: ScaledOp) -> bool:
    return not op.block_size.value.data and not value_shape(op.scale)


def _is_elementwise(op: GEOp, rank: int) -> bool:
    if not isinstance(op, UnaryOp | BinaryOp | SelectOp | ClipOp | CastOp):
        return False
    if any(name in op.properties for name in _NAMES_AXES):
        return False
    return all(len(value_shape(result)) == rank for result in op.results)


def _reduction(op: ReduceOp, perm: Permutation) -> Turned:
    axes = [perm[axis] for axis in op.reduced_axes]
    properties: dict[str, Attribute] = {"axes": ints_attr(sorted(axes))}
    if op.keepdims:
        return Turned(perm, properties)
    kept = sorted(axis for axis in perm if axis not in axes)
    rest = [axis for i, axis in enumerate(perm) if i not in op.reduced_axes]
    return Turned(tuple(kept.index(axis) for axis in rest), properties)


def _norm(op: LayerNormOp | RMSNormOp, perm: Permutation) -> Turned | None:
    """Norms are along the last dimensions, which have to stay where they are."""
    rank = len(perm)
    axis = normalize_axis(op.axis.value.data, rank)
    if perm[axis:] != tuple(range(axis, rank)):
        return None
    others = list(op.operands)[1:]
    return Turned(perm) if all(len(value_shape(x)) <= rank - axis for x in others) else None


def is_main_operand(value: SSAValue, rank: int) -> bool:
    """Whether an operand has all dimensions, so that it is transposed as it is."""
    return len(value_shape(value)) == rank
