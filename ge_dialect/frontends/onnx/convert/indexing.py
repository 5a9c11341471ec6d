"""Operators that address elements by indices."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.delegate import apply, length_of, positions
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import indexing, scatter
from ge_dialect.ge.attributes import StringType
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.dtypes import is_integer
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.types import MaybeDim, element_type_of


def _refuse_strings(node: Node) -> None:
    if isinstance(node.element_type(), StringType):
        raise OnHost("strings")


@converts("Gather")
def gather(node: Node) -> SSAValue:
    """`Gather`."""
    _refuse_strings(node)
    return node.emit(indexing.GatherOp(node[0], node[1], node.get_int("axis", 0)))


@converts("GatherElements")
def gather_elements(node: Node) -> SSAValue:
    """`GatherElements`."""
    _refuse_strings(node)
    return node.emit(indexing.GatherElementsOp(node[0], node[1], node.get_int("axis", 0)))


@converts("GatherND")
def gather_nd(node: Node) -> SSAValue:
    """`GatherND` with rows of a known length."""
    _refuse_strings(node)
    _refuse_unknown_rows(node)
    return node.emit(indexing.GatherNdOp(node[0], node[1], node.get_int("batch_dims", 0)))


@converts("ScatterND")
def scatter_nd(node: Node) -> SSAValue:
    """`ScatterND` with rows of a known length."""
    _refuse_strings(node)
    _refuse_unknown_rows(node)
    reduction = node.get_string("reduction", "none")
    return node.emit(scatter.ScatterNdOp(node[0], node[1], node[2], reduction))


def _refuse_unknown_rows(node: Node) -> None:
    if not node.shape(1) or not isinstance(node.shape(1)[-1], int):
        raise OnHost("how many dimensions a row of indices addresses is not known")


@converts("ScatterElements", "Scatter")
def scatter_elements(node: Node) -> SSAValue:
    """`ScatterElements`, which opset 9 calls `Scatter`."""
    _refuse_strings(node)
    axis, reduction = node.get_int("axis", 0), node.get_string("reduction", "none")
    return node.emit(scatter.ScatterElementsOp(node[0], node[1], node[2], axis, reduction))


@converts("TensorScatter")
def tensor_scatter(node: Node) -> SSAValue:
    """`TensorScatter`: rows of keys or values go into a cache, from a place of each batch on."""
    _refuse_strings(node)
    past, update, rank = node[0], node[1], len(node.shape())
    axis = node.get_int("axis", -2)
    axis += rank if axis < 0 else 0
    if len(node.shape(1)) != rank or not 0 < axis < rank:
        node.fail(f"expected an update of rank {rank} and an axis behind the batch, got {axis}")
    places = node.reshape(positions(node, update, axis), _along(axis, rank, node.shape(1)[axis]))
    if (first := node.optional(2)) is not None:
        places = apply(node, "Add", node.reshape(first, _along(0, rank, node.shape()[0])), places)
    if (mode := node.get_string("mode", "linear")) == "circular":
        places = apply(node, "Mod", places, length_of(node, past, axis))
    elif mode != "linear":
        node.fail(f"expected mode 'linear' or 'circular', got '{mode}'")
    index = apply(node, "Expand", places, apply(node, "Shape", update))
    return node.emit(scatter.ScatterElementsOp(past, index, update, axis, "none"))


def _along(axis: int, rank: int, size: MaybeDim) -> tuple[MaybeDim, ...]:
    """Returns a shape of 1, but for one dimension."""
    return tuple(size if one == axis else 1 for one in range(rank))


@converts("OneHot")
def one_hot(node: Node) -> SSAValue:
    """`OneHot` of a constant depth; indices of other types are made i64."""
    depth = constant_scalar(node[1])
    if depth is None or depth < 1:
        raise OnHost("the depth is not constant")
    indices = node[0]
    if not is_integer(element_type_of(indices)):
        indices = node.emit(CastOp(indices, i64))
    return node.emit(indexing.OneHotOp(indices, node[2], int(depth), node.get_int("axis", -1)))
