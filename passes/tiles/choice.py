"""Which tiles a kernel is cut into: those that read least again, then the fewest.

Starting from one tile, the loop that costs the least to halve is halved until a tile fits. Loops
over keys, which cost nothing, go first, down to `MIN_KEYS`. A step looks at each loop once, so that
a kernel takes time in proportion to its values, times its loops, times the bits of their extents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ge_dialect.ge_exec.tiling import SHARED_TIER, TIERS
from ge_dialect.passes.tiles.working_set import WorkingSet

if TYPE_CHECKING:
    from ge_dialect.targets import Target

MIN_KEYS = 128
"""Keys of a block of an attention, as long as rows can be had for them."""

L1_SHARE, BLOCK_SHARE = 2, 8
"""One part in so many of L1, and of another level where there are any, is for blocks of what only
passes through."""


@dataclass(frozen=True)
class Excess:
    """Why no tile fits.

    Attributes:
        tier: The level of memory.
        needed: Bytes there of the smallest tile.
        available: Bytes there, of one core.
        name: The largest value there.
    """

    tier: str
    needed: int
    available: int
    name: str

    def __str__(self) -> str:
        return (
            f"its smallest tile needs {self.needed} bytes of {self.tier.upper()}, where"
            f" {self.available} are; the largest value is '{self.name}'"
        )


def tier_sizes(target: Target) -> dict[str, int]:
    """Returns the bytes of the levels of memory of one core, by name: of L2 its share of one half,
    since the other half is for what streams by."""
    sizes = {name: target.tiers[name].size for name in TIERS}
    return sizes | {SHARED_TIER: target.l2.size // 2 // target.cube_cores}


def room(kernel: WorkingSet, sizes: Mapping[str, int]) -> dict[str, int]:
    """Returns the bytes of each level that whole tiles of a kernel may take."""
    passing = {one.tier for one in kernel.held if not one.kept}
    found = dict(sizes)
    for tier in passing | {"l1"}:
        found[tier] -= sizes[tier] // (L1_SHARE if tier == "l1" else BLOCK_SHARE)
    return found


def choose_tiles(kernel: WorkingSet, sizes: Mapping[str, int]) -> list[int] | Excess:
    """Returns the steps of a tile along each loop, or why none fits.

    Args:
        kernel: What is to be cut.
        sizes: Bytes of each tier, as `room` gives them.
    """
    best = _trial(kernel, list(kernel.extents), sizes)
    if best.over and (excess := smallest_excess(kernel, sizes)) is not None:
        return excess
    while best.over:
        found = _best_step(kernel, best, sizes, best.over, MIN_KEYS)
        if found is None:
            # The highest load may be of several values, of which no loop cuts all.
            found = _best_step(kernel, best, sizes, best.over + 1, 1)
        if found is None:
            return _excess(kernel, best.tiles, sizes)
        best = found
    return best.tiles


def smallest_excess(kernel: WorkingSet, sizes: Mapping[str, int]) -> Excess | None:
    """Returns why not even tiles of one step fit; None where they do."""
    tiles = [1] * len(kernel.extents)
    return _excess(kernel, tiles, sizes) if _trial(kernel, tiles, sizes).over else None


class _Trial(NamedTuple):
    """Tiles that are tried.

    Attributes:
        tiles: Steps along each loop.
        kept: Bytes of the tiles that are there whole, by the number of the value.
        over: Bytes that they have too many.
    """

    tiles: list[int]
    kept: Mapping[int, int]
    over: int


def _trial(kernel: WorkingSet, tiles: list[int], sizes: Mapping[str, int]) -> _Trial:
    kept = kernel.kept_bytes(tiles)
    return _Trial(tiles, kept, _too_many(kernel.peaks_of(kept), sizes))


def _too_many(peaks: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    over = 0
    for tier, peak in peaks.items():
        if (more := peak - sizes[tier]) > 0:
            over += more
    return over


def _best_step(
    kernel: WorkingSet, before: _Trial, sizes: Mapping[str, int], over: int, floor: int
) -> _Trial | None:
    """Halves the loop that costs least and brings the tile nearer to fitting than `over`."""
    best: tuple[int, int] | None = None
    chosen: _Trial | None = None
    for loop, steps in enumerate(before.tiles):
        least = floor if loop in kernel.inner else 1
        if steps <= least:
            continue
        if (outside := kernel.before[loop]) and any(before.tiles[one] > 1 for one in outside):
            continue
        tiles = [*before.tiles]
        tiles[loop] = max(least, -(-steps // 2))
        kept = kernel.recut(before.kept, tiles, loop)
        if (left := _too_many(kernel.peaks_of(kept), sizes)) >= over:
            continue
        cost = (kernel.moved(tiles), left)
        if best is None or cost < best:
            best, chosen = cost, _Trial(tiles, kept, left)
    return chosen


def _excess(kernel: WorkingSet, tiles: Sequence[int], sizes: Mapping[str, int]) -> Excess:
    peaks = kernel.peaks(tiles)
    tier = max(peaks, key=lambda name: peaks[name] - sizes[name])
    there = [one for one in kernel.held if one.tier == tier and one.kept]
    largest = max(there, key=lambda one: one.tile_bytes(tiles, kernel.extents))
    return Excess(tier, peaks[tier], sizes[tier], largest.name)
