"""Convolutions and pooling, with every attribute of their windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.random_onnx.evaluate import Rejected
from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import DType, Shape, Value

_AUTO = ("SAME_UPPER", "SAME_LOWER", "VALID")


def image(
    g: Grower, dtypes: Sequence[DType], channels: int = 0, rank: tuple[int, int] = (3, 5)
) -> Value:
    """Returns `[N, C, D1, ..., Dn]` with one to three spatial dimensions."""

    def fits(value: Value) -> bool:
        return channels == 0 or value.shape[1] == channels

    value = g.operand(dtypes, rank, empty=False, finite=True, test=fits)
    if channels and value.shape[1] != channels:
        value = g.fresh(value.dtype, (value.shape[0], channels, *value.shape[2:]), "normal")
    return value


def window(g: Grower, sizes: Shape, kernel: Sequence[int], *, dilated: bool = True) -> Any:
    """Returns strides, pads, dilations and `auto_pad` for which there is a result."""
    rank = len(sizes)
    dilations = [g.int(1, 2) if dilated and g.flag() else 1 for _ in sizes]
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    attributes: dict[str, Any] = {"strides": g.maybe([g.int(1, 3) for _ in sizes])}
    if any(d != 1 for d in dilations) or (dilated and g.flag()):
        attributes["dilations"] = dilations
    mode = g.one_of((None, None, None, "NOTSET", *_AUTO))
    pads = [0] * (2 * rank)
    if mode in (None, "NOTSET") and g.flag():
        pads = [g.int(0, k - 1) for k in (*kernel, *kernel)]
        attributes["pads"] = pads
    if mode is not None:
        attributes["auto_pad"] = mode
    for i, (size, extent) in enumerate(zip(sizes, extents, strict=True)):
        if not str(mode).startswith("SAME") and size + pads[i] + pads[rank + i] < extent:
            raise Rejected("the window is larger than the image")
    return attributes


def _kernel(g: Grower, sizes: Shape) -> list[int]:
    return [g.int(1, min(size, 3)) for size in sizes]


@builds("Conv")
def conv(g: Grower, op_type: str) -> None:
    """With groups, depthwise among them, and with or without bias."""
    value = image(g, g.floats(op_type))
    channels, sizes = value.shape[1], value.shape[2:]
    group = g.one_of([n for n in range(1, channels + 1) if channels % n == 0])
    out = group * g.int(1, 2)
    kernel = _kernel(g, sizes)
    filter_ = g.fresh(value.dtype, (out, channels // group, *kernel), "normal")
    bias = g.maybe(g.fresh(value.dtype, (out,), "normal"))
    attributes = window(g, sizes, kernel)
    attributes["group"] = group if group > 1 or g.flag() else None
    attributes["kernel_shape"] = g.maybe(kernel)
    g.emit(op_type, [value, filter_, bias], **attributes)


@builds("ConvInteger")
def conv_integer(g: Grower, op_type: str) -> None:
    """With zero points of both sides."""
    shape = (1, g.int(1, 2), *(g.int(2, 5) for _ in range(2)))
    value = g.fresh(g.dtype(g.types(op_type)), shape)
    kernel = _kernel(g, shape[2:])
    filter_ = g.fresh(g.dtype(g.types(op_type, 1)), (g.int(1, 3), shape[1], *kernel))
    zeros = [g.maybe(g.fresh(v.dtype, (), "normal")) for v in (value, filter_)]
    g.emit(op_type, [value, filter_, *zeros], **window(g, shape[2:], kernel))


@builds("ConvTranspose")
def conv_transpose(g: Grower, op_type: str) -> None:
    """With pads, an output shape, or `auto_pad`."""
    value = image(g, g.floats(op_type))
    channels, sizes = value.shape[1], value.shape[2:]
    rank = len(sizes)
    kernel = [g.int(1, 3) for _ in sizes]
    group = g.one_of((1, channels))
    out = 1 if group > 1 else g.int(1, 2)
    filter_ = g.fresh(value.dtype, (channels, out, *kernel), "normal")
    bias = None if group > 1 else g.maybe(g.fresh(value.dtype, (out,), "normal"))
    strides = [g.int(1, 2) for _ in sizes]
    attributes: dict[str, Any] = {"group": group if group > 1 else None}
    attributes["strides"] = strides if max(strides) > 1 or g.flag() else None
    match g.int(0, 3):
        case 0:
            attributes["pads"] = [g.int(0, (k - 1) // 2) for k in (*kernel, *kernel)]
        case 1:
            grown = [(n - 1) * s + k for n, s, k in zip(sizes, strides, kernel, strict=True)]
            attributes["output_shape"] = [
                max(n - g.int(0, 1), size) for n, size in zip(grown, sizes, strict=True)
            ]
            attributes["auto_pad"] = g.one_of(_AUTO[:2])
        case 2:
            attributes["auto_pad"] = g.one_of(_AUTO)
            strides = [min(s, k) for s, k in zip(strides, kernel, strict=True)]
            attributes["strides"] = strides
        case _:
            attributes["dilations"] = [g.int(1, 2) for _ in range(rank)]
            attributes["output_padding"] = [g.int(0, s - 1) for s in strides]
    g.emit(op_type, [value, filter_, bias], **attributes)


def refuse_disputed(sizes: Shape, kernel: Sequence[int], attributes: dict[str, Any]) -> None:
    """Takes out of the attributes of a pooling what the reference has otherwise.

    Raises:
        Rejected: A window starts in the padding, or reaches far beyond it.
    """
    rank = len(sizes)
    strides = attributes["strides"] or [1] * rank
    if attributes.get("auto_pad", "NOTSET") != "NOTSET":
        attributes["ceil_mode"] = None
        attributes.pop("dilations", None)
        attributes["strides"] = [min(s, k) for s, k in zip(strides, kernel, strict=True)]
        return
    pads = attributes.get("pads", [0] * (2 * rank))
    dilations = attributes.get("dilations", [1] * rank)
    for i, size in enumerate(sizes if attributes["ceil_mode"] else ()):
        rest = size + pads[i] + pads[rank + i] - (kernel[i] - 1) * dilations[i] - 1
        steps = -(-rest // strides[i])
        if steps * strides[i] >= size + pads[i] or steps * strides[i] - rest > 1:
            raise Rejected("a window starts in the padding, or reaches far beyond it")


def _refuse_padded(attributes: dict[str, Any]) -> bool:
    """Takes padding out of a maximum with a stride of 1, and SAME_LOWER; whether there is none."""
    if attributes.get("auto_pad") == "SAME_LOWER":
        attributes["auto_pad"] = "SAME_UPPER"
    steps = [*(attributes["strides"] or [1]), *attributes.get("dilations", [1])]
    if max(steps) == 1:
        attributes.pop("pads", None)
        attributes["auto_pad"] = None
    return max(steps) == 1


@builds("MaxPool", "AveragePool", "LpPool")
def pool(g: Grower, op_type: str) -> None:
    """With the positions of the greatest, with and without padding in the mean."""
    value = image(g, g.floats(op_type))
    sizes, since = value.shape[2:], g.version(op_type)
    kernel = _kernel(g, sizes)
    dilated = op_type == "MaxPool" or since >= (19 if op_type == "AveragePool" else 18)
    attributes = window(g, sizes, kernel, dilated=dilated)
    attributes["ceil_mode"] = None if op_type == "LpPool" else g.one_of((None, 0, 1))
    refuse_disputed(sizes, kernel, attributes)
    outputs = 1
    if op_type == "MaxPool":
        dense = _refuse_padded(attributes)
        outputs = g.int(1, 2) if value.shape[:2] == (1, 1) and not dense else 1
        attributes["storage_order"] = g.one_of((None, None, 0, 1))
    elif op_type == "AveragePool":
        attributes["count_include_pad"] = g.one_of((None, 0, 1))
    else:
        attributes["p"] = g.one_of((None, 1, 2, 3))
    g.emit(op_type, [value], outputs, kernel_shape=kernel, **attributes)


@builds("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g: Grower, op_type: str) -> None:
    """Over all spatial dimensions."""
    rank = (4, 4) if op_type == "GlobalMaxPool" else (3, 5)
    value = image(g, g.floats(op_type), rank=rank)
    p: dict[str, Any] = {"p": g.one_of((None, 1, 2, 3))} if op_type == "GlobalLpPool" else {}
    g.emit(op_type, [value], **p)
