"""Operators whose results have as many elements as the data say."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds


@builds("NonZero")
def non_zero(g: Grower, op_type: str) -> None:
    """Of a vector at least."""
    g.emit(op_type, [g.operand(g.types(op_type), (1, 3))])


@builds("Compress")
def compress(g: Grower, op_type: str) -> None:
    """Along an axis, or of all elements in a row."""
    value = g.operand(g.types(op_type), (1, 3), empty=False)
    axis = g.maybe(g.axis(value.rank))
    size = value.array.size if axis is None else value.shape[axis]
    rng = np.random.default_rng(g.int(0, 99))
    condition = g.given(rng.integers(0, 2, g.int(1, size)).astype(np.bool_))
    g.emit(op_type, [value, condition], axis=axis)


@builds("Unique")
def unique(g: Grower, op_type: str) -> None:
    """Sorted, along an axis or of all elements, with where they were."""
    value = g.operand(g.types(op_type), (1, 2), empty=False, finite=True)
    attributes: dict[str, Any] = {"axis": g.maybe(g.axis(value.rank)), "sorted": g.maybe(1)}
    g.emit(op_type, [value], g.one_of((1, 4)), **attributes)
