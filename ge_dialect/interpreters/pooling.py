"""Reference semantics of pooling."""

from __future__ import annotations

from typing import TypedDict

from ge_dialect.ge.pooling import (
    AveragePoolOp,
    LpPoolOp,
    MaxPoolOp,
    MaxPoolWithIndicesOp,
    PoolOp,
)
from ge_dialect.interpreters.kernels import pooling as kernels
from ge_dialect.interpreters.registry import Array, semantics


class _Window(TypedDict):
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]
    ceil_mode: bool


def _window(op: PoolOp) -> _Window:
    return {
        "kernel": op.kernel.get_values(),
        "strides": op.strides.get_values(),
        "pads": op.pads.get_values(),
        "dilations": op.dilations.get_values(),
        "ceil_mode": op.ceil_mode is not None,
    }


@semantics(MaxPoolOp)
def max_pool(op: MaxPoolOp, x: Array) -> Array:
    """Evaluates `ge.max_pool`."""
    return kernels.max_pool(x, **_window(op))


@semantics(MaxPoolWithIndicesOp)
def max_pool_with_indices(op: MaxPoolWithIndicesOp, x: Array) -> tuple[Array, Array]:
    """Evaluates `ge.max_pool_with_indices`."""
    window = _window(op)
    return kernels.max_pool(x, **window), kernels.max_pool_indices(x, **window)


@semantics(AveragePoolOp)
def average_pool(op: AveragePoolOp, x: Array) -> Array:
    """Evaluates `ge.average_pool`."""
    include = op.count_include_pad is not None
    return kernels.average_pool(x, **_window(op), count_include_pad=include)


@semantics(LpPoolOp)
def lp_pool(op: LpPoolOp, x: Array) -> Array:
    """Evaluates `ge.lp_pool`."""
    return kernels.lp_pool(x, p=op.p.value.data, **_window(op))
