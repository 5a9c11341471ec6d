"""Reductions, softmax, and ops that search along an axis."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import reductions, selection
from ge_dialect.ge.base import int_attr
from ge_dialect.ge.extents import known_product
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import Shape, normalize_axis

_REDUCE: dict[str, type[reductions.ReduceOp]] = {
    "ReduceL1": reductions.ReduceL1Op,
    "ReduceL2": reductions.ReduceL2Op,
    "ReduceLogSum": reductions.ReduceLogSumOp,
    "ReduceLogSumExp": reductions.ReduceLogSumExpOp,
    "ReduceMax": reductions.ReduceMaxOp,
    "ReduceMean": reductions.ReduceMeanOp,
    "ReduceMin": reductions.ReduceMinOp,
    "ReduceProd": reductions.ReduceProdOp,
    "ReduceSum": reductions.ReduceSumOp,
    "ReduceSumSquare": reductions.ReduceSumSquareOp,
}

_SOFTMAX: dict[str, type[reductions.AxisSoftmaxOp]] = {
    "Softmax": reductions.SoftmaxOp,
    "LogSoftmax": reductions.LogSoftmaxOp,
}

_ARG: dict[str, type[selection.ArgReduceOp]] = {
    "ArgMax": selection.ArgMaxOp,
    "ArgMin": selection.ArgMinOp,
}


@converts(*_REDUCE)
def reduce_op(node: Node) -> SSAValue:
    """`Reduce*`; the axes are an attribute in older opsets, an operand in newer ones."""
    axes = node.get_ints("axes")
    if axes is None and node.optional(1) is not None:
        axes = node.ints(1)
    if not axes and not node.get_flag("noop_with_empty_axes"):
        axes = tuple(range(len(node.shape())))
    return node.emit(_REDUCE[node.op_type](node[0], axes or (), node.get_flag("keepdims", True)))


@converts(*_SOFTMAX)
def softmax(node: Node) -> SSAValue:
    """`Softmax` along one axis; before opset 13 over all dimensions from the axis on."""
    make, shape = _SOFTMAX[node.op_type], node.shape()
    old = node.version < 13
    axis = normalize_axis(node.get_int("axis", 1 if old else -1), max(len(shape), 1))
    if not old or axis == len(shape) - 1:
        return node.emit(make(node[0], axis))
    flat = node.reshape(node[0], flattened(shape, axis))
    return node.reshape(node.emit(make(flat, 1)), shape)


@converts("Hardmax")
def hardmax(node: Node) -> SSAValue:
    """`Hardmax` is left to the host; before opset 13 with its dimensions joined, as `Softmax`."""
    if node.version >= 13:
        raise OnHost("no op of its own")
    shape = node.shape()
    axis = normalize_axis(node.get_int("axis", 1), max(len(shape), 1))
    flat = node.reshape(node[0], flattened(shape, axis))
    attrs = DictionaryAttr({"axis": int_attr(1)})
    found = node.emit(HostCallOp("ai.onnx::Hardmax", 13, [flat], [flat.type], attrs))
    return node.reshape(found, shape)


def flattened(shape: Shape, axis: int) -> Shape:
    """Returns the two dimensions that `shape` has with those before and from `axis` on joined."""
    return known_product(shape[:axis]), known_product(shape[axis:])


@converts(*_ARG)
def arg_reduce(node: Node) -> SSAValue:
    """`ArgMax` and `ArgMin`."""
    return node.emit(
        _ARG[node.op_type](
            node[0],
            node.get_int("axis", 0),
            node.get_flag("keepdims", True),
            node.get_flag("select_last_index"),
        )
    )


@converts("CumSum")
def cumsum(node: Node) -> SSAValue:
    """`CumSum` along a constant axis."""
    axes = node.ints(1)
    if len(axes) != 1:
        node.fail(f"expected 'axis' of one number, got {len(axes)}")
    exclusive, reverse = node.get_flag("exclusive"), node.get_flag("reverse")
    return node.emit(selection.CumsumOp(node[0], axes[0], exclusive, reverse))


@converts("TopK")
def top_k(node: Node) -> list[SSAValue]:
    """`TopK` of a constant number; before opset 10 that is an attribute."""
    counts = (node.get_int("k"),) if node.version < 10 else node.ints(1)
    if len(counts) != 1:
        node.fail(f"expected 'K' of one number, got {len(counts)}")
    axis = normalize_axis(node.get_int("axis", -1), len(node.shape()))
    size = node.shape()[axis]
    if isinstance(size, int) and counts[0] > size:
        raise OnHost("K is greater than the dimension")
    return node.emit_all(
        selection.TopKOp(
            node[0],
            counts[0],
            axis,
            node.get_flag("largest", True),
            node.get_flag("sorted", True),
        )
    )
