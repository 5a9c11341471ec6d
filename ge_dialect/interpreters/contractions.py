"""Reference semantics of contractions and convolutions."""

from __future__ import annotations

from typing import TypedDict

from ge_dialect.ge.contractions import EinsumOp, GemmOp, MatmulOp
from ge_dialect.ge.convolution import ConvOp, ConvTransposeOp, WindowContractionOp
from ge_dialect.ge.integer_contractions import ConvIntegerOp, MatmulIntegerOp
from ge_dialect.interpreters.kernels import contraction, convolution
from ge_dialect.interpreters.registry import Array, semantics


class _Window(TypedDict):
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]
    group: int


def _window(op: WindowContractionOp) -> _Window:
    return {
        "strides": op.strides.get_values(),
        "pads": op.pads.get_values(),
        "dilations": op.dilations.get_values(),
        "group": op.group.value.data,
    }


@semantics(MatmulOp)
def matmul(op: MatmulOp, lhs: Array, rhs: Array) -> Array:
    """Evaluates `ge.matmul`."""
    return contraction.matmul(lhs, rhs)


@semantics(GemmOp)
def gemm(op: GemmOp, a: Array, b: Array, c: Array | None) -> Array:
    """Evaluates `ge.gemm`."""
    return contraction.gemm(
        a,
        b,
        c,
        alpha=op.alpha.value.data,
        beta=op.beta.value.data,
        trans_a=op.trans_a is not None,
        trans_b=op.trans_b is not None,
    )


@semantics(EinsumOp)
def einsum(op: EinsumOp, arguments: tuple[Array, ...]) -> Array:
    """Evaluates `ge.einsum`."""
    return contraction.einsum(*arguments, equation=op.equation.data)


@semantics(MatmulIntegerOp)
def matmul_integer(
    op: MatmulIntegerOp,
    lhs: Array,
    rhs: Array,
    lhs_zero_point: Array | None,
    rhs_zero_point: Array | None,
) -> Array:
    """Evaluates `ge.matmul_integer`."""
    return contraction.matmul_integer(lhs, rhs, lhs_zero_point, rhs_zero_point)


@semantics(ConvOp)
def conv(op: ConvOp, x: Array, filter: Array, bias: Array | None) -> Array:
    """Evaluates `ge.conv`."""
    return convolution.conv(x, filter, bias, **_window(op))


@semantics(ConvTransposeOp)
def conv_transpose(op: ConvTransposeOp, x: Array, filter: Array, bias: Array | None) -> Array:
    """Evaluates `ge.conv_transpose`."""
    extra = op.output_padding.get_values()
    return convolution.conv_transpose(x, filter, bias, **_window(op), output_padding=extra)


@semantics(ConvIntegerOp)
def conv_integer(
    op: ConvIntegerOp,
    x: Array,
    filter: Array,
    x_zero_point: Array | None,
    filter_zero_point: Array | None,
) -> Array:
    """Evaluates `ge.conv_integer`."""
    return convolution.conv_integer(x, filter, x_zero_point, filter_zero_point, **_window(op))
