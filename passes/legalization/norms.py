"""`ge-legalize-norm`: normalisations by mean, difference, square, root, quotient, scale and shift.

Statistics are in f32 (f64 of f64) and the result is rounded once, as the ops document it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.ge.binary import AddOp, DivOp, EqualOp, MulOp, SubOp
from ge_dialect.ge.channel_normalization import BatchNormOp, GroupNormOp, InstanceNormOp
from ge_dialect.ge.elementwise import SelectOp
from ge_dialect.ge.normalization import LayerNormOp, LpNormOp, RMSNormOp
from ge_dialect.ge.reductions import ReduceL1Op, ReduceMeanOp, ReduceSumSquareOp
from ge_dialect.ge.types import (
    element_type_of,
    normalize_axis,
    show_shape,
    value_shape,
)
from ge_dialect.ge.unary import SqrtOp
from ge_dialect.passes.driver import Driver
from ge_dialect.passes.legalization.common import (
    Formula,
    LegalizeByFormula,
    Steps,
    chosen,
)
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.remarks import ReasonClass

NAME = "ge-legalize-norm"


def _over_root(x: SSAValue, squares_of: SSAValue, axes: Sequence[int], eps: float, steps: Steps):
    """Returns `x / sqrt(mean(squares_of ** 2) + eps)`."""
    mean = steps.add(ReduceMeanOp(steps.add(MulOp(squares_of, squares_of)), axes))
    root = steps.add(SqrtOp(steps.add(AddOp(mean, steps.number(eps, x)))))
    return steps.add(DivOp(x, root))


def _standardized(x: SSAValue, axes: Sequence[int], eps: float, steps: Steps) -> SSAValue:
    """Returns `x` with mean 0 and variance 1 over `axes`."""
    centred = steps.add(SubOp(x, steps.add(ReduceMeanOp(x, axes))))
    return _over_root(centred, centred, axes, eps, steps)


def _affine(x: SSAValue, scale: SSAValue | None, bias: SSAValue | None, steps: Steps) -> SSAValue:
    if scale is not None:
        x = steps.add(MulOp(x, steps.cast(scale, element_type_of(x))))
    return x if bias is None else steps.add(AddOp(x, steps.cast(bias, element_type_of(x))))


def _per_channel(parameter: SSAValue, rank: int, steps: Steps) -> SSAValue:
    """Returns `[C]` in a shape that broadcasts along dimension 1 of a tensor of `rank`."""
    shape = (*value_shape(parameter), *(1,) * max(rank - 2, 0))
    return steps.reshape(parameter, shape)


def _last_axes(op: LayerNormOp | RMSNormOp) -> Sequence[int]:
    rank = len(value_shape(op.input))
    return range(normalize_axis(op.axis.value.data, rank), rank)


def _layer_norm(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, LayerNormOp)
    normal = _standardized(x, _last_axes(op), op.epsilon.value.data, steps)
    return _affine(normal, op.scale, op.bias, steps)


def _rms_norm(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, RMSNormOp)
    normal = _over_root(x, x, _last_axes(op), op.epsilon.value.data, steps)
    return _affine(normal, op.scale, None, steps)


def _group_norm(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, GroupNormOp)
    shape, groups = value_shape(x), op.num_groups.value.data
    channels = shape[1]
    if not isinstance(channels, int):
        text = "the number of channels is not known"
        raise NearMissError(ReasonClass.SYMBOL, text, show_shape(shape), "a number")
    parts = steps.reshape(x, (shape[0], groups, channels // groups, *shape[2:]))
    normal = _standardized(parts, range(2, len(shape) + 1), op.epsilon.value.data, steps)
    scale, bias = (_per_channel(value, len(shape), steps) for value in (op.scale, op.bias))
    return _affine(steps.reshape(normal, shape), scale, bias, steps)


def _instance_norm(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, InstanceNormOp)
    rank = len(value_shape(x))
    normal = _standardized(x, range(2, rank), op.epsilon.value.data, steps)
    scale, bias = (_per_channel(value, rank, steps) for value in (op.scale, op.bias))
    return _affine(normal, scale, bias, steps)


def _batch_norm(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, BatchNormOp)
    rank = len(value_shape(x))
    scale, bias, mean, variance = (
        steps.cast(_per_channel(value, rank, steps), element_type_of(x))
        for value in (op.scale, op.bias, op.mean, op.variance)
    )
    epsilon = steps.number(op.epsilon.value.data, x)
    root = steps.add(SqrtOp(steps.add(AddOp(variance, epsilon))))
    return _affine(steps.add(DivOp(steps.add(SubOp(x, mean)), root)), scale, bias, steps)


def _lp_norm(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, LpNormOp)
    axes = [op.axis.value.data]
    if op.p.value.data == 1:
        norm = steps.add(ReduceL1Op(x, axes))
    else:
        norm = steps.add(SqrtOp(steps.add(ReduceSumSquareOp(x, axes))))
    zero = steps.number(0.0, x)
    quotient = steps.add(DivOp(x, norm))
    return steps.add(SelectOp(steps.add(EqualOp(norm, zero)), zero, quotient))


_FORMULAS: dict[type[Operation], Formula] = {
    LayerNormOp: _layer_norm,
    RMSNormOp: _rms_norm,
    GroupNormOp: _group_norm,
    InstanceNormOp: _instance_norm,
    BatchNormOp: _batch_norm,
    LpNormOp: _lp_norm,
}
NORMS = tuple(op_class.name.removeprefix("ge.") for op_class in _FORMULAS)
"""What the option of the pass may name."""


@dataclass
class LegalizeNorm(LegalizeByFormula):
    """`rms_norm(x, scale)` -> `x / sqrt(mean(x * x) + eps) * scale`, and the like."""

    names: tuple[str, ...] = NORMS

    roots = tuple(_FORMULAS)
    formulas = _FORMULAS
    pass_name = NAME


@dataclass(frozen=True)
class LegalizeNormPass(ModulePass):
    """Spells normalisations out in reductions and arithmetic.

    Options:
    - `ops`: which to expand, by name. Default all that are known.
    """

    name = NAME

    ops: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = tuple(chosen(NAME, self.ops, NORMS))
        Driver(NAME, [LegalizeNorm(names)]).run(op)
