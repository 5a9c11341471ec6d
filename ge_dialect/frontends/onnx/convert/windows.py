"""Convolutions and pooling: windows that slide over spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import convolution, integer_contractions, pooling, reductions
from ge_dialect.ge.types import MaybeDim


class _Window(TypedDict):
    strides: Sequence[int]
    pads: Sequence[int]
    dilations: Sequence[int]


def _window(node: Node, kernel: Sequence[MaybeDim]) -> _Window:
    """Returns the attributes of a window, with `auto_pad` made numbers.

    Args:
        node: Its operand 0 is `[N, C, D1, ..., Dn]`.
        kernel: The size of the window in each spatial dimension.
    """
    rank = len(kernel)
    if len(node.shape()) != rank + 2:
        node.fail(f"expected an input of rank {rank + 2}, got {len(node.shape())}")
    strides = node.get_ints("strides") or (1,) * rank
    dilations = node.get_ints("dilations") or (1,) * rank
    match node.get_string("auto_pad", "NOTSET"):
        case "NOTSET":
            pads = node.get_ints("pads") or (0,) * (2 * rank)
        case "VALID":
            pads = (0,) * (2 * rank)
        case "SAME_UPPER" | "SAME_LOWER" as mode:
            pads = _same_pads(node, kernel, strides, dilations, mode == "SAME_UPPER")
        case mode:
            node.fail(f"expected 'auto_pad' to be one of ONNX's four, got {mode!r:.40}")
    return {"strides": strides, "pads": pads, "dilations": dilations}


def _same_pads(
    node: Node,
    kernel: Sequence[MaybeDim],
    strides: Sequence[int],
    dilations: Sequence[int],
    upper: bool,
) -> tuple[int, ...]:
    """Returns the pads for which the result has `ceil(size / stride)` elements.

    Source: ONNX, `Conv`, attribute `auto_pad`.
    """
    if not len(kernel) == len(strides) == len(dilations):
        node.fail(f"expected 'strides' and 'dilations' of {len(kernel)} numbers")
    totals: list[int] = []
    for dim, extent, stride, dilation in zip(
        node.shape()[2:], kernel, strides, dilations, strict=True
    ):
        if not isinstance(extent, int) or (stride != 1 and not isinstance(dim, int)):
            raise OnHost("padding depends on an unknown dimension")
        last = (dim - 1) // stride * stride - dim if isinstance(dim, int) else -1
        totals.append(max(last + (extent - 1) * dilation + 1, 0))
    begins = [total // 2 if upper else total - total // 2 for total in totals]
    return (*begins, *(total - begin for total, begin in zip(totals, begins, strict=True)))


def _kernel_of(node: Node) -> Sequence[MaybeDim]:
    """Returns the window of a convolution: that of its filter."""
    shape = node.shape(1)[2:]
    given = node.get_ints("kernel_shape")
    return shape if given is None or None not in shape else given


@converts("Conv")
def conv(node: Node) -> SSAValue:
    """`Conv`."""
    return node.emit(
        convolution.ConvOp(
            node[0],
            node[1],
            node.optional(2),
            **_window(node, _kernel_of(node)),
            group=node.get_int("group", 1),
        )
    )


@converts("ConvInteger")
def conv_integer(node: Node) -> SSAValue:
    """`ConvInteger`."""
    return node.emit(
        integer_contractions.ConvIntegerOp(
            node[0],
            node[1],
            node.optional(2),
            node.optional(3),
            **_window(node, _kernel_of(node)),
            group=node.get_int("group", 1),
        )
    )


@converts("ConvTranspose")
def conv_transpose(node: Node) -> SSAValue:
    """`ConvTranspose`, with `output_shape` and `auto_pad` made pads."""
    kernel = _kernel_of(node)
    rank = len(kernel)
    strides = node.get_ints("strides") or (1,) * rank
    dilations = node.get_ints("dilations") or (1,) * rank
    extra = node.get_ints("output_padding") or (0,) * rank
    mode, wanted = node.get_string("auto_pad", "NOTSET"), node.get_ints("output_shape")
    if wanted is not None or mode.startswith("SAME"):
        grown = _transposed_sizes(node, kernel, strides, dilations, extra)
        pads = _shared_out(node, grown, wanted, strides, mode == "SAME_UPPER")
    else:
        pads = (mode != "VALID" and node.get_ints("pads")) or (0,) * (2 * rank)
    return node.emit(
        convolution.ConvTransposeOp(
            node[0],
            node[1],
            node.optional(2),
            strides=strides,
            pads=pads,
            dilations=dilations,
            output_padding=extra,
            group=node.get_int("group", 1),
        )
    )


def _transposed_sizes(
    node: Node,
    kernel: Sequence[MaybeDim],
    strides: Sequence[int],
    dilations: Sequence[int],
    extra: Sequence[int],
) -> list[int]:
    """Returns the spatial dimensions of a transposed convolution without padding."""
    lists = (node.shape()[2:], kernel, strides, dilations, extra)
    if len({len(numbers) for numbers in lists}) != 1:
        node.fail(f"expected {len(kernel)} numbers for each spatial attribute")
    sizes: list[int] = []
    for dim, extent, stride, dilation, added in zip(*lists, strict=True):
        if not isinstance(dim, int) or not isinstance(extent, int):
            raise OnHost("padding depends on an unknown dimension")
        sizes.append((dim - 1) * stride + (extent - 1) * dilation + 1 + added)
    return sizes


def _shared_out(
    node: Node,
    sizes: Sequence[int],
    wanted: Sequence[int] | None,
    strides: Sequence[int],
    upper: bool,
) -> tuple[int, ...]:
    """Returns the pads that take a transposed convolution from `sizes` to the wanted shape.

    Source: ONNX, `ConvTranspose`, formulas of `total_padding`.
    """
    if wanted is None:
        wanted = [
            dim * stride if isinstance(dim, int) else 0
            for dim, stride in zip(node.shape()[2:], strides, strict=True)
        ]
    targets = wanted[-len(sizes) :]  # some exporters give all dimensions
    if len(targets) != len(sizes):
        node.fail(f"expected 'output_shape' of {len(sizes)} numbers, got {len(targets)}")
    totals = [size - target for size, target in zip(sizes, targets, strict=True)]
    if min(totals, default=0) < 0:
        raise OnHost("the wanted shape needs negative padding")
    begins = [total // 2 if upper else total - total // 2 for total in totals]
    return (*begins, *(total - begin for total, begin in zip(totals, begins, strict=True)))


def _pool_kernel(node: Node) -> tuple[int, ...]:
    if (kernel := node.get_ints("kernel_shape")) is None:
        node.fail("expected an attribute 'kernel_shape', got none")
    return kernel


@converts("MaxPool")
def max_pool(node: Node) -> list[SSAValue]:
    """`MaxPool`, with its indices where somebody wants them."""
    if node.get_flag("storage_order"):
        raise OnHost("column-major indices")
    kernel, ceil_mode = _pool_kernel(node), node.get_flag("ceil_mode")
    window = _window(node, kernel)
    if node.is_used(1):
        return node.emit_all(
            pooling.MaxPoolWithIndicesOp(node[0], kernel, **window, ceil_mode=ceil_mode)
        )
    return node.emit_all(pooling.MaxPoolOp(node[0], kernel, **window, ceil_mode=ceil_mode))


@converts("AveragePool")
def average_pool(node: Node) -> SSAValue:
    """`AveragePool`."""
    kernel = _pool_kernel(node)
    return node.emit(
        pooling.AveragePoolOp(
            node[0],
            kernel,
            **_window(node, kernel),
            ceil_mode=node.get_flag("ceil_mode"),
            count_include_pad=node.get_flag("count_include_pad"),
        )
    )


@converts("LpPool")
def lp_pool(node: Node) -> SSAValue:
    """`LpPool`."""
    kernel = _pool_kernel(node)
    ceil_mode = node.get_flag("ceil_mode")
    window = _window(node, kernel)
    op = pooling.LpPoolOp(node[0], kernel, p=node.get_int("p", 2), **window, ceil_mode=ceil_mode)
    return node.emit(op)


def _spatial_axes(node: Node) -> range:
    return range(2, max(len(node.shape()), 2))


@converts("GlobalAveragePool")
def global_average_pool(node: Node) -> SSAValue:
    """`GlobalAveragePool`: the mean over all spatial dimensions."""
    return node.emit(reductions.ReduceMeanOp(node[0], _spatial_axes(node)))


@converts("GlobalMaxPool")
def global_max_pool(node: Node) -> SSAValue:
    """`GlobalMaxPool`: the greatest of all spatial dimensions."""
    return node.emit(reductions.ReduceMaxOp(node[0], _spatial_axes(node)))


@converts("GlobalLpPool")
def global_lp_pool(node: Node) -> SSAValue:
    """`GlobalLpPool`: a reduction for L1 and L2, else a window as large as the input."""
    norms = {1: reductions.ReduceL1Op, 2: reductions.ReduceL2Op}
    if (op := norms.get(power := node.get_int("p", 2))) is not None:
        return node.emit(op(node[0], _spatial_axes(node)))
    kernel = [dim for dim in node.shape()[2:] if isinstance(dim, int)]
    if len(kernel) != len(node.shape()) - 2:
        raise OnHost("a norm other than L1 and L2 of unknown dimensions")
    return node.emit(pooling.LpPoolOp(node[0], kernel, p=power))
