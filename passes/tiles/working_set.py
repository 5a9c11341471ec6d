"""What a tile of a kernel needs on the chip, by level of memory.

The rules, for one core:

- a value that a product reads lies in L1 in its own type; of those a kernel computes, all columns
  of a tile, in half of L1 at most: the other half passes operands through in blocks;
- any other value that a product gives lies in L0C in f32, where it is summed up, as a whole tile;
- any other value lies in UB, numbers of floats in f32, as vector units compute them;
- operands of products and of index maps pass through in blocks, and so do results that no loop cuts;
- scores and weights of an attention are computed for a block of keys at a time, in the type it
  accumulates in: scores in L0C, weights in L1.

What is only another shape of a value has the bytes of that value. Values are there from the op that
makes or first reads them to the last that reads them; results until all of a tile is computed, since
they may be written over operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.ir import Block, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import dtype_of, is_float
from ge_dialect.ge.in_place import in_place_pairs_of
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge_exec.tiling import SCORES, WEIGHTS, value_names
from ge_dialect.passes.fusion.tiling import Role, role_of
from ge_dialect.passes.tiles.pieces import Piece, PieceTable, fix, leaves
from ge_dialect.passes.tiles.relations import relate

SUM_BYTES = 4
"""Bytes of a number while it is computed: f32, or i32 of integers."""

GRANULE = 64
"""In bytes: every tile begins at a multiple. Source: transfers of L0C, CANN 8.5; of L1 and UB 32."""


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

    def tile_bytes(self, tiles: Sequence[int]) -> int:
        """Returns the bytes of a tile, given the steps of a tile along each loop."""
        size = self.width * self.base * prod(tiles[loop] for loop in self.loops)
        return -(-size // GRANULE) * GRANULE


@dataclass
class WorkingSet:
    """A kernel as the choice of tiles sees it.

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
        changes: dict[str, list[tuple[int, int]]] = {}
        for index, one in enumerate(self.held):
            if not one.kept or one.owner != index:
                continue
            size = one.tile_bytes(tiles)
            first, last = one.life
            found = changes.setdefault(one.tier, [])
            found.append((first, size))
            found.append((last + 1, -size))
        return {tier: _highest(found) for tier, found in changes.items()}

    def moved(self, tiles: Sequence[int]) -> int:
        """Returns the bytes that all tiles together read and write, outside of the chip."""
        return sum(
            size * self.repeats(one, tiles)
            for one, size in zip(self.held, self.hbm_bytes, strict=True)
            if size
        )

    def repeats(self, one: Held, tiles: Sequence[int]) -> int:
        """Returns how often the bytes of an operand are read; results are written once."""
        return prod(self.trips(loop, tiles) for loop in self.repeating(one))

    def reread(self, tiles: Sequence[int], l2_bytes: int) -> int:
        """Returns the bytes that are read from HBM again because of the tiles.

        What is read again is still in L2 where all that was touched since fits there: the
        distance of a reuse is the bytes touched in one turn of the loop that repeats it.

        Source: Mattson et al., "Evaluation techniques for storage hierarchies" (1970).
        """
        found = 0
        for one, size in zip(self.held, self.hbm_bytes, strict=True):
            times = 1
            for loop in self.repeating(one) if size else ():
                if self._touched(loop, tiles) > l2_bytes:
                    times *= self.trips(loop, tiles)
            found += size * (times - 1)
        return found

    def _touched(self, loop: int, tiles: Sequence[int]) -> int:
        """The bytes of HBM that one turn of a loop touches."""
        return sum(
            size // prod(self.trips(other, tiles) for other in one.loops if other <= loop)
            for one, size in zip(self.held, self.hbm_bytes, strict=True)
        )

    def repeating(self, one: Held) -> list[int]:
        """Returns the loops each of whose tiles reads the same bytes of a value anew.

        A tile that stays on the chip is not read again while only inner loops go on.
        """
        if not one.is_operand or one.is_table:
            return []
        last = max(one.loops, default=-1) if one.kept else len(self.extents)
        return [
            loop
            for loop in range(len(self.extents))
            if loop not in one.loops and loop not in self.inner and loop < last
        ]

    def ordered(self, tiles: Sequence[int], l2_bytes: int) -> tuple[WorkingSet, list[int]]:
        """Returns the kernel and its tiles with that loop outermost that reads least again."""
        best, chosen = self.reread(tiles, l2_bytes), (self, list(tiles))
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

    def trips(self, loop: int, tiles: Sequence[int]) -> int:
        """Returns how many tiles there are along a loop."""
        return -(-self.extents[loop] // tiles[loop])


def _highest(changes: list[tuple[int, int]]) -> int:
    load = highest = 0
    for _, change in sorted(changes):  # at one time, what ends comes first
        load += change
        highest = max(highest, load)
    return highest


def working_set(block: Block) -> WorkingSet:
    """Returns what a kernel's body needs on the chip, for tiles of any size.

    Linear in the dimensions of the values of the body.

    Raises:
        ValueError: A shape is not static.
    """
    return _Builder(block).build()


class _Builder:
    """Collects the values of a body, and the pieces of their dimensions."""

    def __init__(self, block: Block):
        self.block = block
        self.table = PieceTable()
        self.ops = [
            op for op in block.ops if isinstance(op, GEOp) and not isinstance(op, ConstantOp)
        ]
        last = block.last_op
        assert last is not None
        self.results: Sequence[SSAValue] = tuple(last.operands)
        self.loops: dict[Piece, int] = {}
        self.set = WorkingSet()

    def build(self) -> WorkingSet:
        for op in self.ops:
            for operand in op.operands:
                if isinstance(operand.owner, ConstantOp):
                    self.table.whole(operand)
            relate(self.table, op)
        self._settle()
        self._hold()
        return self.set

    def _settle(self) -> None:
        """Finds the loops: what may be cut, is part of all results, and what that depends on."""
        for i, j in in_place_pairs_of(self.block):
            self.table.same(self.block.args[i], self.results[j])
        everything = [dim for dims in self.table.of_value.values() for dim in dims]
        common = self._of_results()
        kept = {piece for piece in common if not piece.fixed}
        for dim in everything:
            fix(piece for piece in leaves(dim) if piece not in kept)
        before: dict[Piece, set[Piece]] = {}
        changed = True
        while changed:
            changed = False
            for dim in everything:
                found = leaves(dim)
                for place, piece in enumerate(found):
                    outside = found[:place]
                    before.setdefault(piece, set()).update(outside)
                    if not piece.fixed and any(other.fixed for other in outside):
                        piece.fixed = changed = True
        for piece in common:
            if not piece.fixed and piece not in self.loops:
                self.loops[piece] = len(self.loops)
                self.set.extents.append(piece.size)
        for piece in self.loops:
            self.set.before.append({self.loops[other] for other in before.get(piece, ())})

    def _of_results(self) -> list[Piece]:
        """Returns the pieces that may become loops: those of results, of the first one first.

        Results that are computed side by side, such as Q, K and V, are cut along with each other.
        A result that some loop does not cut is computed again in every turn and written in the
        first, so that it must not be written over an operand.
        """
        for value in self.results[1:]:
            self.table.pair(self.results[0], value)
        outputs = [leaves(sum(self.table.dims(value), [])) for value in self.results]
        found = list(dict.fromkeys(piece for output in outputs for piece in output))
        for _, j in in_place_pairs_of(self.block):
            found = [piece for piece in found if piece in outputs[j]]
        return found

    def _hold(self) -> None:
        names = value_names(self.block)
        numbers = {value: index for index, value in enumerate(names.values())}
        reads: dict[SSAValue, list[int]] = {}
        made: dict[SSAValue, int] = {}
        owners: dict[SSAValue, SSAValue] = {}
        for step, op in enumerate(self.ops):
            for operand in op.operands:
                reads.setdefault(operand, []).append(step)
            for result in op.results:
                made[result] = step
                if (view := op.view_of()) is not None and op.operands[view] in numbers:
                    owners[result] = owners.get(op.operands[view], op.operands[view])
        groups: dict[SSAValue, list[SSAValue]] = {}
        for value in numbers:
            groups.setdefault(owners.get(value, value), []).append(value)
        for name, value in names.items():
            owner = owners.get(value, value)
            self._add(name, value, owner, groups[owner], reads, made, numbers[owner])
        for step, op in enumerate(self.ops):
            if isinstance(op, FlashAttentionOp):
                name = next(name for name, value in names.items() if value is op.result)
                self._add_attention(name, op, step)

    def _add(
        self,
        name: str,
        value: SSAValue,
        owner: SSAValue,
        group: Sequence[SSAValue],
        reads: Mapping[SSAValue, list[int]],
        made: Mapping[SSAValue, int],
        number: int,
    ) -> None:
        steps = [step for member in group for step in reads.get(member, ())]
        used_by_product = any(
            role_of(type(self.ops[step])) is Role.CONTRACT
            for member in group
            for step in reads.get(member, ())
        )
        is_operand, is_result = owner not in made, any(one in self.results for one in group)
        by_product = not is_operand and role_of(type(self.ops[made[owner]])) is Role.CONTRACT
        tier = "l1" if used_by_product else "l0c" if by_product else "ub"
        element = tensor_of(value).element_type
        width = dtype_of(element).storage_bytes
        if tier == "l0c" or (tier == "ub" and is_float(element)):
            width = max(width, SUM_BYTES)
        first = min([*steps, made[owner]] if not is_operand else steps, default=0)
        life = (first, len(self.ops) - 1 if is_result else max([*steps, first]))
        dims, base, loops = self._cuts(value)
        is_table = False
        if is_operand:
            roles = {role_of(type(self.ops[step])) for step in steps}
            is_table = roles == {Role.MOVE}
            kept = not is_table and Role.CONTRACT not in roles
        else:
            kept = bool(steps) or bool(loops)
        own = prod(tensor_of(value).get_shape()) * dtype_of(element).storage_bytes
        held = Held(name, tier, width, dims, base, loops, life, kept, number)
        held.is_operand, held.is_result, held.is_table = is_operand, is_result, is_table
        self.set.held.append(held)
        in_hbm = value is owner if is_operand else value in self.results
        self.set.hbm_bytes.append(own if in_hbm else 0)

    def _cuts(self, value: SSAValue) -> tuple[list[tuple[tuple[int, int], ...]], int, tuple[int, ...]]:
        """Returns how the dimensions of a value are cut, the elements left, and the loops."""
        cuts: list[tuple[tuple[int, int], ...]] = []
        base, loops = 1, list[int]()
        for dim in self.table.dims(value):
            terms: list[tuple[int, int]] = []
            stride = 1
            for piece in reversed(leaves(dim)):
                if (loop := self.loops.get(piece)) is None:
                    base *= piece.size
                else:
                    terms.append((loop, stride))
                    loops.append(loop)
                stride *= piece.size
            cuts.append(tuple(reversed(terms)))
        if any(dim == 0 for dim in tensor_of(value).get_shape()):
            base = 0
        return cuts, base, tuple(loops)

    def _add_attention(self, name: str, op: FlashAttentionOp, step: int) -> None:
        """Adds the scores and weights of an attention, cut along its keys."""
        keys = tensor_of(op.k).get_shape()[2]
        loop = len(self.set.extents)
        self.set.extents.append(max(keys, 1))
        self.set.inner.add(loop)
        self.set.before.append(set())
        dims, _, loops = self._cuts(op.q)
        base = prod(
            piece.size
            for dim in self.table.dims(op.q)[:3]
            for piece in leaves(dim)
            if piece not in self.loops
        )
        width = dtype_of(op.accumulate).storage_bytes
        for inner, tier in ((SCORES, "l0c"), (WEIGHTS, "l1")):
            cuts = [*dims[:3], ((loop, 1),)]
            number = len(self.set.held)
            self.set.held.append(
                Held(f"{name}.{inner}", tier, width, cuts, base, (*loops, loop),
                     (step, step), True, number)
            )
            self.set.hbm_bytes.append(0)
