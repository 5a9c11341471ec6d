"""How large the result of a movement is along one dimension, which need not be a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.types import MaybeDim, Shape, show_shape
from ge_dialect.symbols import (
    Dim,
    DimLimitError,
    assumed,
    ceil_div,
    floor_div,
    maximum,
    minimum,
    product,
    simplify,
)

OPEN_END = 2**31 - 1
"""From here on an index means "up to the end": exporters write the greatest i32 or i64."""
_MAX_DENOMINATOR = 1024


def bounded(compute: Callable[[], MaybeDim]) -> MaybeDim:
    """Returns what `compute` returns, or None where that is too large to name."""
    try:
        return compute()
    except DimLimitError:
        return None


def sum_dims(dims: Sequence[MaybeDim]) -> MaybeDim:
    """Returns the sum of `dims`, None where one is unknown."""
    total: Dim = 0
    try:
        for dim in dims:
            if dim is None:
                return None
            total = total + dim
    except DimLimitError:
        return None
    return total


def known_product(shape: Sequence[MaybeDim]) -> Dim | None:
    """Returns the product of `shape`, None where a dimension is unknown."""
    known = [dim for dim in shape if dim is not None]
    if len(known) != len(shape):
        return None
    return bounded(lambda: product(known))


def solve_dim(have: Shape, want: Shape) -> Shape:
    """Returns `want` with its one unknown dimension made what gives it the elements of `have`.

    Unchanged where `have` is not known, or where `want` has no unknown dimension or several.

    Raises:
        VerifyException: The known dimensions of `want` do not divide the element count.
    """
    if want.count(None) != 1 or (count := known_product(have)) is None:
        return want
    place = want.index(None)
    rest = known_product(want[:place] + want[place + 1 :])
    if rest is None or rest == 0:
        return want
    if isinstance(count, int) and isinstance(rest, int) and count % rest:
        raise VerifyException(f"expected 'result' of {count} elements, got {show_shape(want)}")
    return (*want[:place], bounded(lambda: floor_div(count, rest)), *want[place + 1 :])


def slice_size(size: MaybeDim, start: int, end: int, step: int) -> MaybeDim:
    """Returns how many elements `[start:end:step]` takes of a dimension, as ONNX `Slice` counts.

    Args:
        size: Of the dimension.
        start: Negative ones count from the back; clamped.
        end: Exclusive; as `start`.
        step: Not 0.
    """
    if size is None or size == 0:
        return size
    return bounded(lambda: simplify(_sliced(size, start, end, step), assumed()))


def _sliced(size: Dim, start: int, end: int, step: int) -> Dim:
    return _forward(size, start, end, step) if step > 0 else _backward(size, start, end, step)


def _forward(size: Dim, start: int, end: int, step: int) -> Dim:
    if start <= -OPEN_END:
        start = 0
    last = _clamp_from_front(size, end)
    if start == 0:
        return ceil_div(last, step)
    if start < 0 and end >= OPEN_END:
        return ceil_div(minimum(size, -start), step)
    first = start if start > 0 else maximum(size + start, 0)
    return ceil_div(maximum(last - first, 0), step)


def _clamp_from_front(size: Dim, index: int) -> Dim:
    if index >= OPEN_END:
        return size
    return minimum(size, index) if index >= 0 else maximum(size + index, 0)


def _backward(size: Dim, start: int, end: int, step: int) -> Dim:
    last: Dim = -1 if end <= -OPEN_END else _clamp_to_last(size, end, -1)
    if start == -1 or start >= OPEN_END:
        return ceil_div(size if last == -1 else maximum(size - 1 - last, 0), -step)
    first = _clamp_to_last(size, start, 0)
    # A start clamped to 0 would take one element of an empty dimension.
    return minimum(ceil_div(maximum(first - last, 0), -step), size)


def _clamp_to_last(size: Dim, index: int, low: int) -> Dim:
    return minimum(index, size - 1) if index >= 0 else maximum(size + index, low)


def scaled_size(size: MaybeDim, scale: float) -> MaybeDim:
    """Returns `floor(size * scale)`, None for an expression times a scale that is no plain ratio.

    Args:
        size: Of the dimension.
        scale: Positive, exactly as f32 holds it.
    """
    if size is None or isinstance(size, int):
        return None if size is None else int(size * scale)
    ratio = Fraction(scale)
    if ratio.denominator > _MAX_DENOMINATOR:
        return None
    return bounded(lambda: floor_div(size * ratio.numerator, ratio.denominator))
