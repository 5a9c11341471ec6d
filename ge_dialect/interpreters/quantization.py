"""Reference semantics of quantisation."""

from __future__ import annotations

from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.quantization import (
    DequantizeLinearOp,
    DynamicQuantizeLinearOp,
    QuantizeLinearOp,
)
from ge_dialect.ge.requantization import RequantizeOp
from ge_dialect.ge.types import tensor_of
from ge_dialect.interpreters.kernels import quantization as kernels
from ge_dialect.interpreters.registry import Array, semantics


@semantics(QuantizeLinearOp)
def quantize_linear(
    op: QuantizeLinearOp, x: Array, scale: Array, zero_point: Array | None
) -> Array:
    """Evaluates `ge.quantize_linear`."""
    return kernels.quantize_linear(
        x,
        scale,
        zero_point,
        axis=op.axis.value.data,
        block_size=op.block_size.value.data,
        dtype=to_numpy(tensor_of(op.result).element_type),
        precision=None if op.precision is None else to_numpy(op.precision),
        saturate=op.unsaturated is None,
    )


@semantics(DequantizeLinearOp)
def dequantize_linear(
    op: DequantizeLinearOp, x: Array, scale: Array, zero_point: Array | None
) -> Array:
    """Evaluates `ge.dequantize_linear`."""
    return kernels.dequantize_linear(
        x,
        scale,
        zero_point,
        axis=op.axis.value.data,
        block_size=op.block_size.value.data,
        dtype=to_numpy(tensor_of(op.result).element_type),
    )


@semantics(DynamicQuantizeLinearOp)
def dynamic_quantize_linear(op: DynamicQuantizeLinearOp, x: Array) -> tuple[Array, Array, Array]:
    """Evaluates `ge.dynamic_quantize_linear`."""
    return kernels.dynamic_quantize_linear(x)


@semantics(RequantizeOp)
def requantize(op: RequantizeOp, x: Array, multiplier: Array, zero_point: Array | None) -> Array:
    """Evaluates `ge.requantize`."""
    dtype = to_numpy(tensor_of(op.result).element_type)
    last = op.zero_point_last is not None
    return kernels.requantize(x, multiplier, zero_point, dtype=dtype, zero_point_last=last)
