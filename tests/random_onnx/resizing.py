"""`Resize` and `GridSample`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import F32, Value

_COORDINATES: tuple[str, ...] = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@builds("Resize")
def resize(g: Grower, op_type: str) -> None:
    """All modes and coordinates; from opset 18 on of some axes."""
    value = g.operand(
        g.floats(op_type), (2, 4), empty=False, finite=True, test=lambda v: v.array.size <= 100
    )
    mode = g.one_of((None, "nearest", "linear", "cubic"))
    axes = None
    places = list(range(value.rank))
    if g.version(op_type) >= 18 and g.flag():
        axes = places = [axis % value.rank for axis in g.axes(value.rank, 1)]
    kept = [axis for axis in places if axis < value.rank - 2]
    scales, sizes = _extents(g, value, places, kept)
    coordinates = list(_COORDINATES)
    if g.version(op_type) >= 19:
        coordinates.append("half_pixel_symmetric")
    attributes: dict[str, Any] = {
        "mode": mode,
        "axes": axes,
        "coordinate_transformation_mode": g.one_of((None, *coordinates)),
    }
    if mode in (None, "nearest"):
        attributes["nearest_mode"] = g.one_of((None, *_ROUNDINGS))
    if mode == "cubic":
        attributes["cubic_coeff_a"] = g.one_of((None, -0.5))
        attributes["exclude_outside"] = g.one_of((None, 0, 1))
    g.emit(op_type, [value, None, scales, sizes], **attributes)


def _extents(
    g: Grower, value: Value, places: list[int], kept: list[int]
) -> tuple[Value | None, Value | None]:
    """Returns scales or sizes; leading dimensions stay, as everywhere but in toys."""
    if g.flag():
        factors = [1.0 if a in kept else g.one_of((0.5, 1.0, 1.5, 2.0, 0.8)) for a in places]
        factors = [
            factor if int(value.shape[a] * factor) else 1.0
            for a, factor in zip(places, factors, strict=True)
        ]
        return g.given(np.array(factors, F32), fixed=True), None
    return None, g.ints([value.shape[a] if a in kept else g.int(1, 6) for a in places])


@builds("GridSample")
def grid_sample(g: Grower, op_type: str) -> None:
    """All modes and paddings, but for what the reference has wrong: cubic at the border,
    reflection within one element, and version 16's names."""
    value = g.operand(
        g.floats(op_type),
        (4, 4),
        empty=False,
        finite=True,
        test=lambda v: v.array.size <= 100,
    )
    mode = "nearest" if g.version(op_type) < 20 else g.one_of((None, "nearest", "linear", "cubic"))
    paddings = ["zeros"]
    if mode != "cubic":
        paddings.append("border")
    if min(value.shape[2:]) > 1:
        paddings.append("reflection")
    shape = (value.shape[0], g.int(1, 3), g.int(1, 3), 2)
    places = [g.int(-24, 24) / 17 for _ in range(int(np.prod(shape)))]
    grid = g.given(np.array(places, F32).reshape(shape))
    g.emit(
        op_type,
        [value, grid],
        mode=mode,
        padding_mode=g.one_of((None, *paddings)),
        align_corners=g.one_of((None, 0, 1)),
    )
