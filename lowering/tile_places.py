"""Where the tiles of a kernel's values lie: a plan for each level of memory of a core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block

from ge_dialect.ge_exec.tiling import SHARED_TIER, TIERS, TileBuffer, TileLoop, Tiling
from ge_dialect.lowering.memory.api import Interval, plan_buffers
from ge_dialect.lowering.memory.at_once import stacked
from ge_dialect.passes.tiles.choice import Excess, choose_tiles, room
from ge_dialect.passes.tiles.known import sets_of
from ge_dialect.passes.tiles.working_set import GRANULE, Held, WorkingSet

_ATTEMPTS = 8


@dataclass(frozen=True)
class _Place:
    offset: int
    size: int
    copies: int


@dataclass(frozen=True)
class _Choice:
    """A tiling, and the bytes that its tiles read and write outside of the chip."""

    tiling: Tiling
    moved: int


def plan_kernel(block: Block, sizes: Mapping[str, int], l2_bytes: int) -> Tiling | Excess:
    """Returns the tiling of a kernel, or why none fits.

    What may stream does so where whole tiles do not fit, or would move more.

    Args:
        block: The body of the kernel, static.
        sizes: Bytes of the levels of memory of one core, and of its share of L2.
        l2_bytes: Of L2, where what is read again may still be.
    """
    sets = sets_of(block)
    tiles = _tile(sets.working, sizes, l2_bytes)
    if isinstance(tiles, _Choice) and tiles.tiling.tiles == 1:
        return tiles.tiling
    streaming = sets.streaming
    other = tiles if streaming is None else _tile(streaming, sizes, l2_bytes)
    found = [one for one in (tiles, other) if isinstance(one, _Choice)]
    if not found:
        return min((one for one in (tiles, other) if isinstance(one, Excess)), key=_needed)
    return min(found, key=lambda one: (one.tiling.reread, one.moved)).tiling


def _needed(excess: Excess) -> int:
    return excess.needed


def _tile(kernel: WorkingSet, sizes: Mapping[str, int], l2_bytes: int) -> _Choice | Excess:
    """Returns tiles that fit; where addresses leave gaps that do not, smaller ones are tried."""
    limits = room(kernel, sizes)
    missing: dict[str, int] = {}
    for _ in range(_ATTEMPTS):
        tiles = choose_tiles(kernel, limits)
        if isinstance(tiles, Excess):
            return tiles
        found = place_tiles(kernel, tiles, sizes, l2_bytes)
        if isinstance(found, Tiling):
            return _Choice(found, kernel.moved(tiles))
        missing = found
        for tier, size in missing.items():
            limits[tier] = max(0, limits[tier] - max(size, GRANULE))
    tier, size = next(iter(missing.items()))
    return Excess(tier, sizes[tier] + size, sizes[tier], "")


def place_tiles(
    kernel: WorkingSet, tiles: Sequence[int], sizes: Mapping[str, int], l2_bytes: int
) -> Tiling | dict[str, int]:
    """Returns the tiling of given tiles, or the bytes that are missing of a tier.

    Args:
        kernel: What is tiled.
        tiles: Steps of a tile along each loop of the kernel.
        sizes: Bytes of the levels of memory of one core.
        l2_bytes: Of L2.
    """
    placed, missing = _places(kernel, tiles, sizes)
    if missing:
        return missing
    whole = {
        i
        for i, one in enumerate(kernel.held)
        if placed[one.owner].size >= one.tile_bytes(tiles, kernel.extents)
    }
    return _tiling(*kernel.keeping(whole).ordered(tiles, l2_bytes), placed, l2_bytes)


def _places(
    kernel: WorkingSet, tiles: Sequence[int], sizes: Mapping[str, int]
) -> tuple[dict[int, _Place], dict[str, int]]:
    """Returns the places of all values, and the bytes that are missing of a tier."""
    placed: dict[int, _Place] = {}
    for tier in (*TIERS, SHARED_TIER):
        found = _place(kernel, tier, tiles, sizes.get(tier, 0))
        if isinstance(found, int):
            return {}, {tier: found}
        placed |= found
    return placed, {}


def _tiling(
    kernel: WorkingSet, tiles: Sequence[int], placed: Mapping[int, _Place], l2_bytes: int
) -> Tiling:
    """Writes a choice down; loops of one turn are left out."""
    kept = [loop for loop in range(len(tiles)) if kernel.trips(loop, tiles) > 1]
    numbers = {loop: index for index, loop in enumerate(kept)}
    loops = [TileLoop(kernel.extents[i], tiles[i], i in kernel.inner) for i in kept]
    buffers: list[TileBuffer] = []
    for one in kernel.held:
        place = placed[one.owner]
        cuts = tuple(
            [
                tuple([(numbers[loop], stride) for loop, stride in dim if loop in numbers])
                for dim in one.dims
            ]
        )
        halos = [halo if cut else None for cut, halo in zip(cuts, one.halos, strict=False)]
        kept_halos = tuple(halos) if any(halos) else ()
        buffers.append(
            TileBuffer(one.name, one.tier, place.offset, place.size, place.copies, cuts, kept_halos)
        )
    return Tiling(tuple(loops), tuple(buffers), kernel.reread(tiles, l2_bytes))


def _place(
    kernel: WorkingSet, tier: str, tiles: Sequence[int], size: int
) -> dict[int, _Place] | int:
    """Returns the place of each value that owns bytes of a tier, or how many bytes are missing.

    Two tiles of what comes and goes are there at a time where there is room.
    """
    there = [i for i, one in enumerate(kernel.held) if one.tier == tier and one.owner == i]
    if not there:
        return {}
    many = any(
        kernel.trips(loop, tiles) > 1 for loop in range(len(tiles)) if loop not in kernel.inner
    )
    missing = 0
    for twice in (True, False) if many else (False,):
        sizes = _sizes(kernel, there, tiles, size, twice)
        if isinstance(sizes, int):
            missing = sizes
            continue
        copies = {i: 2 if twice and _passes(kernel.held[i]) else 1 for i in there}
        found = _addresses(kernel, there, sizes, copies, size)
        if not isinstance(found, int):
            return {i: _Place(found[i], sizes[i], copies[i]) for i in there}
        missing = found
    return missing


def _passes(one: Held) -> bool:
    return (one.is_operand or one.is_result) and one.tier != SHARED_TIER


def _sizes(
    kernel: WorkingSet, there: Sequence[int], tiles: Sequence[int], room: int, twice: bool
) -> dict[int, int] | int:
    """Returns the bytes of one copy of each value: of a tile, or of a block of one."""
    sizes = {i: kernel.held[i].tile_bytes(tiles, kernel.extents) for i in there}
    passing = [i for i in there if not kernel.held[i].kept]
    if not passing:
        return sizes
    kept = [i for i in there if kernel.held[i].kept]
    lives = [_life(kernel, i, twice) for i in kept]
    copies = [2 if twice and _passes(kernel.held[i]) else 1 for i in kept]
    left = room - _load(
        [(*life, sizes[i] * n) for i, life, n in zip(kept, lives, copies, strict=True)]
    )
    together = _load([(*_life(kernel, i, twice), 1) for i in passing])
    block = left // (together * (2 if twice else 1)) // GRANULE * GRANULE
    if block < GRANULE:
        return GRANULE * together * (2 if twice else 1) - left
    return sizes | {i: min(sizes[i], block) for i in passing}


def _life(kernel: WorkingSet, index: int, twice: bool) -> tuple[int, int]:
    """Returns the half-open life of a value in steps of a tile; of what comes or goes while
    another tile is computed, all of it."""
    one = kernel.held[index]
    if twice and _passes(one):
        return 0, kernel.steps
    return one.life[0], one.life[1] + 1


def _load(lives: Sequence[tuple[int, int, int]]) -> int:
    changes = sorted([(a, w) for a, _, w in lives] + [(b, -w) for _, b, w in lives])
    load = highest = 0
    for _, change in changes:
        load += change
        highest = max(highest, load)
    return highest


def _addresses(
    kernel: WorkingSet,
    there: Sequence[int],
    sizes: Mapping[int, int],
    copies: Mapping[int, int],
    room: int,
) -> dict[int, int] | int:
    """Returns the offset of each value, or how many bytes are missing."""
    lives = [_life(kernel, i, copies[i] == 2) for i in there]
    wanted = [sizes[i] * copies[i] for i in there]
    if max([start for start, _ in lives]) < min([end for _, end in lives]):
        padded = [-(-size // GRANULE) * GRANULE for size in wanted]
        plan = stacked(padded, [end - start for start, end in lives])
    else:
        rows = [
            Interval(*life, size, kernel.held[i].name, GRANULE)
            for i, life, size in zip(there, lives, wanted, strict=True)
        ]
        plan = plan_buffers(rows, effort=0)  # a capacity would be searched for, for seconds
    if plan.peak > room:
        return plan.peak - room
    return dict(zip(there, plan.offsets, strict=True))
