"""What a tile of a kernel needs on the chip, by level of memory.

The rules, for one core:

- a value that a product reads lies in L1 in its own type; of those a kernel computes, all columns
  of a tile, in half of L1 at most: the other half passes operands through in blocks;
- any other value that a product gives lies in L0C in f32, where it is summed up, as a whole tile;
- any other value lies in UB, numbers of floats in f32, as vector units compute them;
- operands of products and of index maps pass through in blocks, as do results that no loop cuts,
  and what streams (`streams.py`);
- keys and values that projections of the kernel give lie in L2, while tiles of queries read them;
- scores and weights of an attention are computed for a block of keys at a time, in the type it
  accumulates in: scores in L0C, weights in L1.

What is only another shape of a value has the bytes of that value. Values are there from the op that
makes or first reads them to the last that reads them; results until all of a tile is computed,
since they may be written over operands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from ge_dialect.ge_exec.tiling import SHARED_TIER

SUM_BYTES = 4
"""Bytes of a number while it is computed: f32, or i32 of integers."""

GRANULE = 64
"""In bytes: every tile begins at a multiple. Source: CANN 8.5, transfers of L0C; L1 and UB: 32."""


@dataclass(frozen=True, slots=True)
class Window:
    """Tiles of a value that overlap along a loop: of `t` steps they have `t * stride + grow`, of
    `size` at most."""

    stride: int
    grow: int
    size: int

    def steps(self, steps: int, extent: int) -> int:
        """Returns the most steps that a tile has; all where the loop has one turn."""
        return self.size if steps >= extent else min(self.size, steps * self.stride + self.grow)

    def again(self, trips: int) -> float:
        """Returns the part of the value that tiles read once more, where they overlap."""
        return max(0, trips - 1) * max(0, self.grow) / max(1, self.size)


@dataclass(slots=True)
class Held:
    """A value that lies on the chip while a tile is computed.

    Attributes:
        name: As the tiling names it.
        tier: Where it lies.
        width: Bytes of an element there.
        dims: The loops that cut each dimension, outermost first, with their strides; loops are
            numbers of pieces.
        base: Elements that no loop cuts.
        loops: Numbers of the loops that cut it.
        life: Numbers of the first and last op that need it.
        kept: Whether a whole tile has to be there at a time: of operands of products and results
            blocks are enough.
        owner: The index of the value whose bytes it has; its own otherwise.
        is_operand, is_result: Whether it comes from or goes to HBM.
        is_table: Whether only those of its elements are read that an index map wants.
        is_shared: Whether what lies in L2 is computed from it; then inner loops read parts of it.
        windows: The loops along which tiles overlap.
        halos: Elements of each dimension that tiles have before and after; None where they do not
            overlap.
    """

    name: str
    tier: str
    width: int
    dims: list[tuple[tuple[int, int], ...]]
    base: int
    loops: tuple[int, ...]
    life: tuple[int, int]
    kept: bool
    owner: int
    is_operand: bool = False
    is_result: bool = False
    is_table: bool = False
    is_shared: bool = False
    windows: dict[int, Window] = field(default_factory=dict[int, Window])
    halos: list[tuple[int, int] | None] = field(default_factory=list[tuple[int, int] | None])

    def tile_bytes(self, tiles: Sequence[int], extents: Sequence[int]) -> int:
        """Returns the bytes of a tile, given the steps of a tile along each loop, and of all."""
        size = self.width * self.base
        windows = self.windows
        for loop in self.loops:
            if windows and (window := windows.get(loop)) is not None:
                size *= window.steps(tiles[loop], extents[loop])
            else:
                size *= tiles[loop]
        return -(-size // GRANULE) * GRANULE


@dataclass
class WorkingSet:
    """A kernel as the choice of tiles sees it; not changed once it has been asked something.

    Attributes:
        extents: Of the loops, outermost first.
        inner: The loops over keys among them.
        before: For each loop, those that have to be cut into single steps before it may be cut.
        held: The values, in the order of `value_names`, then two an attention.
        hbm_bytes: Of each value as it lies in HBM, 0 of those that do not.
    """

    extents: list[int] = field(default_factory=list[int])
    inner: set[int] = field(default_factory=set[int])
    before: list[set[int]] = field(default_factory=list[set[int]])
    held: list[Held] = field(default_factory=list[Held])
    hbm_bytes: list[int] = field(default_factory=list[int])

    def peaks(self, tiles: Sequence[int]) -> dict[str, int]:
        """Returns the most bytes that are needed of each tier at a time, blocks left out."""
        return self.peaks_of(self.kept_bytes(tiles))

    def kept_bytes(self, tiles: Sequence[int]) -> dict[int, int]:
        """Returns the bytes of the tiles that are there whole, by the number of the value."""
        extents = self.extents
        return {index: self.held[index].tile_bytes(tiles, extents) for index in self._kept}

    def peaks_of(self, sizes: Mapping[int, int]) -> dict[str, int]:
        """Returns the most bytes of each tier at a time, given those of the tiles in it."""
        found: dict[str, int] = {}
        for tier, changes in self._changes.items():
            load = highest = 0
            for begins, index in changes:
                if not begins:
                    load -= sizes[index]
                elif (load := load + sizes[index]) > highest:
                    highest = load
            found[tier] = highest
        return found

    def recut(self, sizes: Mapping[int, int], tiles: Sequence[int], loop: int) -> dict[int, int]:
        """Returns `kept_bytes` after the tiles along one loop have changed.

        Args:
            sizes: Before.
            tiles: Steps of a tile along each loop.
            loop: The one that has changed.
        """
        found, held, extents = {**sizes}, self.held, self.extents
        for index in self._kept:
            if loop in held[index].loops:
                found[index] = held[index].tile_bytes(tiles, extents)
        return found

    @cached_property
    def _kept(self) -> Sequence[int]:
        """The values that own the bytes of a whole tile."""
        return [i for i, one in enumerate(self.held) if one.kept and one.owner == i]

    @cached_property
    def _changes(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """The values of each tier, as they begin and as they end; at one time, ends come first."""
        changes: dict[str, list[tuple[int, int, int]]] = {}
        for index in self._kept:
            first, last = (one := self.held[index]).life
            changes.setdefault(one.tier, []).extend(((first, 1, index), (last + 1, 0, index)))
        return {
            tier: [(begins, index) for _, begins, index in sorted(found)]
            for tier, found in changes.items()
        }

    def moved(self, tiles: Sequence[int]) -> int:
        """Returns the bytes that all tiles together read and write, outside of the chip."""
        found = 0
        trips = self._all_trips(tiles)
        for one, size, loops in self._in_hbm:
            turns = size
            for loop in loops:
                turns *= trips[loop]
            found += turns
            if one.windows:
                found += self._overlap(one, size, tiles)
        for size, loops in self._held_sizes:
            turns = size
            for loop in loops:
                turns *= trips[loop]
            found += turns
        return found

    @cached_property
    def steps(self) -> int:
        """How many steps a tile takes: one an op."""
        return max([one.life[1] for one in self.held], default=-1) + 1

    @cached_property
    def _in_hbm(self) -> Sequence[tuple[Held, int, Sequence[int]]]:
        """The values that come from or go to HBM, their bytes, and the loops that repeat them."""
        pairs = zip(self.held, self.hbm_bytes, strict=True)
        return [(one, size, self.repeating(one)) for one, size in pairs if size]

    @cached_property
    def _shared(self) -> Sequence[Held]:
        """The values in L2."""
        return [one for one in self.held if one.tier == SHARED_TIER]

    @cached_property
    def _held_sizes(self) -> Sequence[tuple[int, Sequence[int]]]:
        """The bytes of the values in L2, and the loops which do not cut them and read them."""
        outer = [loop for loop in range(len(self.extents)) if loop not in self.inner]
        return [
            (
                one.width * one.base * prod(self.extents[loop] for loop in one.loops),
                [loop for loop in outer if loop not in one.loops],
            )
            for one in self._shared
        ]

    def _overlap(self, one: Held, size: int, tiles: Sequence[int], l2_bytes: int = 0) -> int:
        """The bytes of an operand that two tiles beside each other read, where `l2_bytes` do not
        keep them until then."""
        if not one.windows or not one.is_operand:
            return 0
        parts = 1.0
        for loop, window in one.windows.items():
            if self._touched(loop, tiles) > l2_bytes:
                parts *= 1 + window.again(self.trips(loop, tiles))
        return int(size * (parts - 1))

    def reread(self, tiles: Sequence[int], l2_bytes: int) -> int:
        """Returns the bytes that are read from HBM again because of the tiles.

        What is read again is still in L2 where all that was touched since fits there: the
        distance of a reuse is the bytes touched in one turn of the loop that repeats it.

        Source: Mattson et al., "Evaluation techniques for storage hierarchies" (1970).
        """
        found = 0
        for one, size, loops in self._in_hbm:
            times = 1
            for loop in loops:
                if self._touched(loop, tiles) > l2_bytes:
                    times *= self.trips(loop, tiles)
            found += size * (times - 1) + times * self._overlap(one, size, tiles, l2_bytes)
        return found

    def _touched(self, loop: int, tiles: Sequence[int]) -> int:
        """The bytes of HBM that one turn of a loop touches."""
        found = 0
        trips = self._all_trips(tiles)
        for one, size, _ in self._in_hbm:
            turns = 1
            for other in one.loops:
                if other <= loop:
                    turns *= trips[other]
            found += size // turns
        return found

    def repeating(self, one: Held) -> list[int]:
        """Returns the loops each of whose tiles reads the same bytes of a value anew.

        A tile that stays on the chip is not read again while only inner loops go on.
        """
        if not one.is_operand or one.is_table:
            return []
        if one.is_shared:
            held = {loop for other in self._shared for loop in other.loops}
            return sorted(held - {*one.loops})
        last = max(one.loops, default=-1) if one.kept else len(self.extents)
        return [
            loop
            for loop in range(len(self.extents))
            if loop not in one.loops and loop not in self.inner and loop < last
        ]

    def keeping(self, whole: Collection[int]) -> WorkingSet:
        """Returns the kernel where some values have room for a whole tile, given by number."""
        held = [
            replace(one, kept=True) if i in whole and not one.kept else one
            for i, one in enumerate(self.held)
        ]
        return replace(self, held=held)

    def ordered(self, tiles: Sequence[int], l2_bytes: int) -> tuple[WorkingSet, list[int]]:
        """Returns the kernel and its tiles with that loop outermost that reads least again."""
        best, chosen = self.reread(tiles, l2_bytes), (self, list(tiles))
        if self._shared:
            return chosen  # what is held is computed in the outer loops
        for first in range(1, len(tiles)):
            if not best:
                break
            if first in self.inner or self.trips(first, tiles) == 1:
                continue
            order = [first, *(loop for loop in range(len(tiles)) if loop != first)]
            moved, steps = self._reordered(order), [tiles[loop] for loop in order]
            if (found := moved.reread(steps, l2_bytes)) < best:
                best, chosen = found, (moved, steps)
        return chosen

    def _reordered(self, order: Sequence[int]) -> WorkingSet:
        place = {loop: index for index, loop in enumerate(order)}
        held = [
            replace(
                one,
                dims=[tuple((place[loop], stride) for loop, stride in dim) for dim in one.dims],
                loops=tuple(place[loop] for loop in one.loops),
                windows={place[loop]: window for loop, window in one.windows.items()},
            )
            for one in self.held
        ]
        return WorkingSet(
            [self.extents[loop] for loop in order],
            {place[loop] for loop in self.inner},
            [{place[other] for other in self.before[loop]} for loop in order],
            held,
            self.hbm_bytes,
        )

    def _all_trips(self, tiles: Sequence[int]) -> list[int]:
        return [-(-extent // steps) for extent, steps in zip(self.extents, tiles, strict=True)]

    def trips(self, loop: int, tiles: Sequence[int]) -> int:
        """Returns how many tiles there are along a loop."""
        return -(-self.extents[loop] // tiles[loop])
