"""How a product is cut into tiles: what its operands cost when they are read again, and cores that
wait at the end.

One core computes a tile of the result whose accumulators fill L0C; the operands pass by once for
each row or column of tiles. Smaller tiles keep more cores busy and read more.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ge_dialect.targets.target import Target

_ACCUMULATOR_BYTES = 4
_COLUMNS = 256
"""Columns of the largest tile. Source: the tiles of public matmul kernels for the cube."""
_MAX_ROWS = 256
_GRANULE = 16
"""The cube takes rows and columns by 16."""
_KEPT = 0.75
"""Part of L2 that one operand of a product can keep while the other one streams by."""
_US = 1e6


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix product, or several of one shape, as the cube sees it.

    Attributes:
        batch: Independent products.
        rows, columns, depth: M, N and K of each.
        dtype: Of the operands.
        lhs_bytes, rhs_bytes: Of all products together, where they come from L2; 0 where a part of
            the kernel computes them on chip.
        whole_columns: Whether a core makes whole rows of the result, as fused attention does.
    """

    batch: int
    rows: int
    columns: int
    depth: int
    dtype: str
    lhs_bytes: int
    rhs_bytes: int
    whole_columns: bool = False

    @property
    def flops(self) -> float:
        """Two for each multiply-add."""
        return 2.0 * self.batch * self.rows * self.columns * self.depth


@dataclass(frozen=True, slots=True)
class Tiling:
    """A choice of tiles.

    Attributes:
        rows, columns: Of a tile.
        stretch: How much longer the cube takes than with all cores busy all the time: tiles are
            padded, and cores wait in the last wave.
        l2_bytes: That pass from L2 to the cores, read again for each row or column of tiles.
    """

    rows: int
    columns: int
    stretch: float
    l2_bytes: int


def choose_tiling(product: Product, target: Target) -> Tiling:
    """Returns the tiles with which a product is predicted to be fastest; larger ones among equals.

    Source: Williams et al., "Roofline" (2009); wave quantisation as in NVIDIA's matrix
    multiplication guide.
    """
    peak = target.peak("cube", product.dtype) * target.efficiency["cube"]
    cube_us = product.flops / peak * _US
    rate = target.l2.bandwidth * target.efficiency["l2"]
    largest = max(_GRANULE, target.tiers["l0c"].size // (_COLUMNS * _ACCUMULATOR_BYTES))
    best: tuple[float, Tiling] | None = None
    for rows in _halves(min(largest, _MAX_ROWS)):
        for columns in (product.columns,) if product.whole_columns else _halves(_COLUMNS):
            tiling = _tiling(product, target, rows, columns)
            us = max(cube_us * tiling.stretch, tiling.l2_bytes / rate * _US)
            if best is None or us < best[0]:
                best = (us, tiling)
    assert best is not None
    return best[1]


def again_bytes(product: Product, target: Target) -> int:
    """Returns the bytes that a product reads from HBM again, since L2 keeps neither operand."""
    room = _KEPT * target.l2.size
    low, high = sorted((product.lhs_bytes, product.rhs_bytes))
    passes = ceil(low / max(1, product.batch) / room)
    return max(0, passes - 1) * high


def _halves(size: int) -> list[int]:
    found = [size]
    while found[-1] > _GRANULE:
        found.append(max(_GRANULE, found[-1] // 2))
    return found


def _tiling(product: Product, target: Target, rows: int, columns: int) -> Tiling:
    down, across = ceil(product.rows / rows), ceil(product.columns / columns)
    waves = ceil(product.batch * down * across / target.cube_cores)
    # What the busiest core computes, in tiles padded to the granule, over its fair share.
    tile = _padded(min(rows, product.rows)) * _padded(min(columns, product.columns))
    fair = product.batch * product.rows * product.columns / target.cube_cores
    moved = product.lhs_bytes * across + product.rhs_bytes * down
    return Tiling(rows, columns, max(1.0, waves * tile / max(fair, 1e-9)), moved)


def _padded(size: int) -> int:
    return -(-size // _GRANULE) * _GRANULE
