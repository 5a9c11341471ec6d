"""Reference semantics of reductions, softmax, selection along an axis and running sums."""

from __future__ import annotations

from collections.abc import Callable

from ge_dialect.ge import reductions as ge
from ge_dialect.ge.selection import ArgMaxOp, ArgMinOp, CumsumOp, TopKOp
from ge_dialect.interpreters.kernels import reduction as kernels
from ge_dialect.interpreters.registry import Array, semantics


def _register_reduction(op_class: type[ge.ReduceOp], kernel: Callable[..., Array]) -> None:
    @semantics(op_class)
    def reduce(op: ge.ReduceOp, x: Array) -> Array:
        return kernel(x, op.reduced_axes, keepdims=bool(op.keepdims))


for _op_class, _kernel in (
    (ge.ReduceSumOp, kernels.reduce_sum),
    (ge.ReduceMeanOp, kernels.reduce_mean),
    (ge.ReduceMaxOp, kernels.reduce_max),
    (ge.ReduceMinOp, kernels.reduce_min),
    (ge.ReduceProdOp, kernels.reduce_prod),
    (ge.ReduceL1Op, kernels.reduce_l1),
    (ge.ReduceL2Op, kernels.reduce_l2),
    (ge.ReduceSumSquareOp, kernels.reduce_sum_square),
    (ge.ReduceLogSumOp, kernels.reduce_log_sum),
    (ge.ReduceLogSumExpOp, kernels.reduce_log_sum_exp),
):
    _register_reduction(_op_class, _kernel)


@semantics(ge.SoftmaxOp)
def softmax(op: ge.SoftmaxOp, x: Array) -> Array:
    """Evaluates `ge.softmax`."""
    return kernels.softmax(x, axis=op.axis.value.data)


@semantics(ge.LogSoftmaxOp)
def log_softmax(op: ge.LogSoftmaxOp, x: Array) -> Array:
    """Evaluates `ge.log_softmax`."""
    return kernels.log_softmax(x, axis=op.axis.value.data)


@semantics(ArgMaxOp, ArgMinOp)
def arg_reduce(op: ArgMaxOp | ArgMinOp, x: Array) -> Array:
    """Evaluates `ge.arg_max` and `ge.arg_min`."""
    kernel = kernels.arg_max if isinstance(op, ArgMaxOp) else kernels.arg_min
    return kernel(
        x,
        axis=op.axis.value.data,
        keepdims=bool(op.keepdims),
        select_last_index=op.select_last_index is not None,
    )


@semantics(CumsumOp)
def cumsum(op: CumsumOp, x: Array) -> Array:
    """Evaluates `ge.cumsum`."""
    return kernels.cumsum(
        x,
        axis=op.axis.value.data,
        exclusive=op.exclusive is not None,
        reverse=op.reverse is not None,
    )


@semantics(TopKOp)
def top_k(op: TopKOp, x: Array) -> tuple[Array, Array]:
    """Evaluates `ge.top_k`; in order whether or not that is asked for."""
    return kernels.top_k(
        x,
        k=op.k.value.data,
        axis=op.axis.value.data,
        largest=op.largest is not None,
    )
