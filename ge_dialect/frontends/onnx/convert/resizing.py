"""`Resize`, its ancestor `Upsample`, and `GridSample`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.movement import typed_like
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.grid_sample import GridSampleOp
from ge_dialect.ge.resize import ResizeOp
from ge_dialect.ge.types import MaybeDim, TensorT, normalize_axes, num_elements, static_shape

_ItemT = TypeVar("_ItemT")

# What `Upsample` calls `linear` by the number of dimensions.
_LINEAR = ("bilinear", "trilinear")
_OF_PLANES = {"bilinear": "linear", "bicubic": "cubic"}
"""Modes of `GridSample` as version 16 calls them."""


@converts("Upsample")
def upsample(node: Node) -> SSAValue:
    """`Upsample`, which opset 10 replaced."""
    return _asymmetric(node)


@converts("Resize")
def resize(node: Node) -> SSAValue:
    """`Resize`: of opset 10 with scales only, from 11 on as `ge.resize`."""
    if node.version < 11:
        return _asymmetric(node)
    if node.get_flag("antialias"):
        raise OnHost("antialiasing", _open_types(node))
    if node.get_string("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise OnHost("a kept aspect ratio", _open_types(node))
    scales, sizes = _extents(node)
    coordinates = node.get_string("coordinate_transformation_mode", "half_pixel")
    return node.emit(
        ResizeOp(
            node[0],
            sizes=sizes,
            scales=scales,
            mode=node.get_string("mode", "nearest"),
            coordinate_transformation_mode=coordinates,
            nearest_mode=node.get_string("nearest_mode", "round_prefer_floor"),
            cubic_coeff_a=node.get_float("cubic_coeff_a", -0.75),
            exclude_outside=node.get_flag("exclude_outside"),
            extrapolation_value=node.get_float("extrapolation_value", 0.0),
            roi=_roi(node) if coordinates == "tf_crop_and_resize" else None,
        )
    )


@converts("GridSample")
def grid_sample(node: Node) -> SSAValue:
    """`GridSample`."""
    mode = node.get_string("mode", "linear")
    return node.emit(
        GridSampleOp(
            node[0],
            node[1],
            mode=_OF_PLANES.get(mode, mode),
            padding_mode=node.get_string("padding_mode", "zeros"),
            align_corners=node.get_flag("align_corners"),
        )
    )


def _asymmetric(node: Node) -> SSAValue:
    """The sampling of the first versions: from the corner, rounded down."""
    mode = node.get_string("mode", "nearest")
    return node.emit(
        ResizeOp(
            node[0],
            scales=_floats(node, 1),
            mode="linear" if mode in _LINEAR else mode,
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
    )


def _extents(node: Node) -> tuple[list[float] | None, list[int] | None]:
    """Returns scales or sizes, of all dimensions."""
    shape = node.shape()
    if _given(node, 3) is not None:
        everywhere = _spread(node, _sizes(node), shape)
        numbers = [size for size in everywhere if isinstance(size, int)]
        if len(numbers) != len(everywhere):
            raise OnHost("the sizes are not constant", typed_like(node, everywhere))
        return None, numbers
    if _given(node, 2) is None:
        node.fail("expected scales or sizes, got neither")
    return _spread(node, _floats(node, 2), [1.0] * len(shape)), None


def _open_types(node: Node) -> list[TensorT] | None:
    """Returns the type of a result whose sizes are not known; None where ONNX can tell it."""
    if _given(node, 3) is None or static_shape(node[3].type) is not None:
        return None
    return typed_like(node, _spread(node, _sizes(node), node.shape()))


def _sizes(node: Node) -> Sequence[MaybeDim]:
    """Returns the sizes that are wanted, as far as they are known."""
    if static_shape(node[3].type) is not None:
        return node.dims(3)
    # Not even their count is known, but it is one for each place.
    axes = node.get_ints("axes")
    return [None] * (len(node.shape()) if axes is None else len(axes))


def _given(node: Node, slot: int) -> SSAValue | None:
    """Returns an operand, or None where it is absent or an empty tensor, which says the same."""
    value = node.optional(slot)
    return None if value is None or num_elements(value.type) == 0 else value


def _floats(node: Node, slot: int) -> Sequence[float]:
    if node.op_type == "Upsample" and node.version < 9:
        return node.get_floats("scales") or ()
    return node.floats(slot)


def _spread(node: Node, given: Sequence[_ItemT], whole: Sequence[_ItemT]) -> list[_ItemT]:
    """Returns `whole` with the numbers of `axes`, or all of them, replaced by those given."""
    axes = node.get_ints("axes")
    places = range(len(whole)) if axes is None else normalize_axes(axes, len(whole))
    if len(places) != len(given):
        node.fail(f"expected scales or sizes of {len(places)} numbers, got {len(given)}")
    result = list(whole)
    for place, number in zip(places, given, strict=True):
        result[place] = number
    return result


def _roi(node: Node) -> list[float]:
    """Returns the region of all dimensions: begins, then ends."""
    given, rank = node.floats(1), len(node.shape())
    if len(given) % 2:
        node.fail(f"expected a region of two numbers for each dimension, got {len(given)}")
    half = len(given) // 2
    begins = _spread(node, given[:half], [0.0] * rank)
    return [*begins, *_spread(node, given[half:], [1.0] * rank)]
