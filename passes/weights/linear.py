"""What convolutions and matrix products have in common: weights whose outputs can be scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.convolution import ConvOp, ConvTransposeOp
from ge_dialect.ge.types import value_shape

if TYPE_CHECKING:
    import numpy.typing as npt

    Wide: TypeAlias = npt.NDArray[Any]

LinearOp: TypeAlias = ConvOp | ConvTransposeOp | GemmOp | MatmulOp
LINEAR: tuple[type[Operation], ...] = (ConvOp, ConvTransposeOp, GemmOp, MatmulOp)


@dataclass(frozen=True)
class Linear:
    """A linear op.

    Attributes:
        op: The op.
        weight: Its filter or right operand.
        bias: What it adds for each output, or None.
        axis: The dimension of the result that counts the outputs.
    """

    op: LinearOp
    weight: SSAValue
    bias: SSAValue | None
    axis: int

    @property
    def outputs(self) -> int | None:
        """How many outputs there are; None where that is not a number."""
        size = value_shape(self.op.result)[self.axis]
        return size if isinstance(size, int) else None

    def can_shift(self) -> bool:
        """Whether the op can add a number for each output."""
        return not isinstance(self.op, MatmulOp) or all(
            len(value_shape(operand)) == 2 for operand in self.op.operands
        )

    def scaled_outputs(self, weight: Wide, factors: Wide) -> Wide:
        """Returns the weight with which output i is `factors[i]` times as large."""
        match self.op:
            case ConvOp():
                return weight * factors.reshape(-1, *(1,) * (weight.ndim - 1))
            case ConvTransposeOp() as op:
                group = op.group.value.data
                parts = weight.reshape(group, -1, *weight.shape[1:])
                each = factors.reshape(group, 1, -1, *(1,) * (weight.ndim - 2))
                return (parts * each).reshape(weight.shape)
            case GemmOp() as op if op.trans_b is not None:
                return weight * factors[:, None]
            case _:
                return weight * factors

    def scaled_inputs(self, weight: Wide, factors: Wide) -> Wide:
        """Returns the weight that multiplies input i by `factors[i]` itself."""
        match self.op:
            case ConvOp():
                return weight * factors.reshape(1, -1, *(1,) * (weight.ndim - 2))
            case GemmOp() as op if op.trans_b is not None:
                return weight * factors
            case _:
                return weight * factors.reshape(-1, 1)

    def rebuilt(self, x: SSAValue, weight: SSAValue, bias: SSAValue | None) -> LinearOp:
        """Returns the op with other operands; a bias is added as it is."""
        match self.op:
            case MatmulOp():
                return MatmulOp(x, weight) if bias is None else GemmOp(x, weight, bias)
            case GemmOp() as op:
                flags = op.trans_a is not None, op.trans_b is not None
                return GemmOp(x, weight, bias, op.alpha.value.data, 1.0, *flags)
            case ConvTransposeOp() as op:
                return ConvTransposeOp(
                    x,
                    weight,
                    bias,
                    output_padding=list(op.output_padding.get_values()),
                    group=op.group.value.data,
                    **_window(op),
                )
            case op:
                return ConvOp(x, weight, bias, group=op.group.value.data, **_window(op))


def _window(op: ConvOp | ConvTransposeOp) -> dict[str, Sequence[int]]:
    return {name: list(getattr(op, name).get_values()) for name in ("strides", "pads", "dilations")}


def linear_of(op: object) -> Linear | None:
    """Returns an op as a linear one, or None for others; a product with a matrix on the right."""
    match op:
        case ConvOp() | ConvTransposeOp():
            return Linear(op, op.filter, op.bias, 1)
        case GemmOp():
            return Linear(op, op.b, op.c, 1)
        case MatmulOp() if len(value_shape(op.rhs)) == 2 and len(value_shape(op.lhs)) > 1:
            return Linear(op, op.rhs, None, len(value_shape(op.result)) - 1)
        case _:
            return None


def per_place(value: SSAValue, rank: int, axis: int, size: int) -> Wide | None:
    """Returns a constant that differs only along one dimension of a tensor, one number a place.

    Args:
        value: A constant that broadcasts to a tensor of `rank`.
        rank: Of that tensor.
        axis: The dimension.
        size: Of the dimension.

    Returns:
        `[size]` in f64, or None where the constant differs along other dimensions as well.
    """
    import numpy as np

    from ge_dialect.passes.weights.budget import wide_array

    shape = value_shape(value)
    full = (*(1,) * (rank - len(shape)), *shape)
    if len(shape) > rank or any(dim != 1 for i, dim in enumerate(full) if i != axis):
        return None
    if full[axis] not in (1, size):
        return None
    return np.broadcast_to(wide_array(value).reshape(-1), (size,))
