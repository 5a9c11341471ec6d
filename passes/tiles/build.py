"""From the body of a kernel to what its tiles need: the rules of `working_set.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import prod
from typing import NamedTuple, TypeAlias

from xdsl.ir import SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge.windows import aligned_axes
from ge_dialect.ge_exec.tiling import SCORES, SHARED_TIER, WEIGHTS
from ge_dialect.passes.tiles.body import BodyValue, KernelBody
from ge_dialect.passes.tiles.pieces import EXACT, Piece, PieceTable, fix, leaves
from ge_dialect.passes.tiles.relations import relate
from ge_dialect.passes.tiles.streams import Streams, streams_of
from ge_dialect.passes.tiles.windows import Followers
from ge_dialect.passes.tiles.working_set import Held, Window, WorkingSet


def working_set(body: KernelBody) -> WorkingSet:
    """Returns what a kernel's body needs on the chip, for tiles of any size.

    Linear in the dimensions of the values of the body.

    Raises:
        ValueError: A shape is not static.
    """
    return _Builder(body, Streams()).build()


def streaming_set(body: KernelBody) -> WorkingSet | None:
    """Returns the same where what may stream does (`streams.py`); None where nothing may."""
    streams = streams_of(body.ops, body.results)
    return None if streams is None else _Builder(body, streams).build()


Runs: TypeAlias = tuple[tuple[Piece, ...], ...]
"""What each dimension of a value consists of."""


class Cut(NamedTuple):
    """How a dimension is cut.

    Attributes:
        terms, halo: As of `dims` and `halos` of `Held`.
        loops: Those of the terms, the innermost first.
        windows: Along which of them tiles overlap.
        base: Elements that no loop cuts.
    """

    terms: tuple[tuple[int, int], ...]
    halo: tuple[int, int] | None
    loops: tuple[int, ...]
    windows: Mapping[int, Window]
    base: int


class _Builder:
    """Collects the values of a body, and the pieces of their dimensions."""

    def __init__(self, body: KernelBody, streams: Streams):
        self.body, self.ops, self.results = body, body.ops, body.results
        self.streams, self.table = streams, PieceTable(loose=streams.loose)
        self.loops: dict[Piece, int] = {}
        self.runs: dict[SSAValue, Runs] = {}
        self.cuts: dict[tuple[Piece, ...], Cut] = {}
        self.set = WorkingSet()

    def build(self) -> WorkingSet:
        late = {op for op, _ in self.streams.loose}  # when it is known what is whole
        for op in sorted(self.ops, key=lambda op: op in late):
            for index, operand in enumerate(operands_of(op)):
                if isinstance(operand.owner, ConstantOp):
                    parts = {axis for axis, _ in aligned_axes(op, index)}
                    for axis, dim in enumerate(self.table.dims(operand)):
                        fix(dim if axis not in parts else ())
            relate(self.table, op)
        self._settle()
        self._find_last()
        self._hold()
        return self.set

    def _settle(self) -> None:
        """Finds the loops: what may be cut, is part of all results, and what that depends on."""
        for i, j in self.body.in_place:
            self.table.same(self.body.block.args[i], self.results[j])
        common = self._of_results()
        # From here on pieces are fixed, but neither joined nor divided: many dimensions are alike.
        known: dict[int, Runs] = {}
        for value, dims in self.table.of_value.items():
            if (found := known.get(id(dims))) is None:
                found = known[id(dims)] = tuple([tuple(leaves(dim)) for dim in dims])
            self.runs[value] = found
        _fix_twins(known.values())
        runs = list(dict.fromkeys(chain.from_iterable(known.values())))
        pieces = list(dict.fromkeys(chain.from_iterable(runs)))
        nested = [run for run in runs if len(run) > 1]
        self.followers = Followers(self.table, self.ops, self.results)
        while True:
            self._drop(pieces, common)
            before = self._outside(nested)
            if not self.followers.agree(common) and not self.followers.measure():
                break
        held = [leaves(chain(*self.table.dims(value))) for value in self.streams.held]
        for piece in (*chain(*held), *common):  # what is held is computed in outer loops
            if not piece.fixed and piece not in self.loops and piece in common:
                self.loops[piece] = len(self.loops)
                self.set.extents.append(piece.size)
        for piece in self.loops:
            self.set.before.append({self.loops[other] for other in before.get(piece, ())})

    def _drop(self, pieces: Sequence[Piece], common: Sequence[Piece]) -> None:
        """Fixes what leads to no loop."""
        self.followers.agree(common)
        kept = {piece for piece in common if not piece.fixed}
        for piece in pieces:
            if self.followers.leader(piece) not in kept:
                piece.fixed = True

    def _outside(self, runs: Sequence[Sequence[Piece]]) -> dict[Piece, set[Piece]]:
        """Returns the pieces outside of others in some dimension; fixes what is inside of fixed
        ones.

        Args:
            runs: Of dimensions of several pieces.
        """
        before: dict[Piece, set[Piece]] = {}
        changed = True
        while changed:
            changed = False
            for found in runs:
                for place, piece in enumerate(found):
                    outside = found[:place]
                    leader = self.followers.leader(piece)
                    before.setdefault(leader, set()).update(map(self.followers.leader, outside))
                    if not piece.fixed and any(other.fixed for other in outside):
                        piece.fixed = changed = True
        return before

    def _of_results(self) -> list[Piece]:
        """Returns the pieces that may become loops: those of results, of the first one first.

        Results that are computed side by side, such as Q, K and V, are cut along with each other.
        A result that some loop does not cut is computed again in every turn and written in the
        first, so that it must not be written over an operand.
        """
        for value in self.results[1:]:
            self.table.pair(self.results[0], value)
        outputs = [leaves(chain(*self.table.dims(value))) for value in self.results]
        found = list(dict.fromkeys(piece for output in outputs for piece in output))
        for _, j in self.body.in_place:
            found = [piece for piece in found if piece in outputs[j]]
        return found

    def _find_last(self) -> None:
        """Finds for each op the last one for which it computes: blocks that pass are computed
        while what they lead to is."""
        self.last = list(range(len(self.ops)))
        for step in reversed(self.last) if self.streams.passing else ():
            for result in self.ops[step].results:
                one = self.body.values[result]
                if one.owner in self.streams.passing:
                    self.last[step] = max([self.last[step], *(self.last[i] for i in one.reads)])

    def _hold(self) -> None:
        for value, one in self.body.values.items():
            self._add(value, one)
        for step, op in enumerate(self.ops):
            if isinstance(op, FlashAttentionOp):
                self._add_attention(self.body.values[op.result].name, op, step)

    def _add(self, value: SSAValue, one: BodyValue) -> None:
        tier, width, life = one.tier, one.width, one.life
        if one.owner in self.streams.held:  # there for turns in which it is not computed as well
            tier, width, life = SHARED_TIER, one.storage_width, (0, len(self.ops) - 1)
        elif self.streams.passing and not one.is_result:
            life = (life[0], max([life[1], *(self.last[step] for step in one.reads)]))
        passing, cuts = one.owner in self.streams.passing, self._cuts(value)
        loops = tuple([loop for cut in cuts for loop in cut.loops])
        kept = not one.in_blocks if one.is_operand else bool(one.reads or loops)
        self.set.held.append(
            Held(
                one.name,
                tier,
                width,
                [cut.terms for cut in cuts],
                0 if one.is_empty else prod([cut.base for cut in cuts]),
                loops,
                life,
                kept and not passing,
                one.owner_number,
                one.is_operand,
                one.is_result,
                one.is_table,
                bool(self.streams.held) and one.is_operand and passing,
                dict(chain(*[cut.windows.items() for cut in cuts])) if self.table.slides else {},
                [cut.halo for cut in cuts],
            )
        )
        self.set.hbm_bytes.append(one.hbm_bytes)

    def _cuts(self, value: SSAValue) -> list[Cut]:
        """Returns how each dimension of a value is cut."""
        if (runs := self.runs.get(value)) is None:
            runs = tuple([tuple(leaves(dim)) for dim in self.table.dims(value)])
        if self.followers.reaches:
            return [self._cut(value, run) for run in runs]
        found: list[Cut] = []  # no window reaches beyond a tile: what it consists of says it all
        for run in runs:
            if (cut := self.cuts.get(run)) is None:
                cut = self.cuts[run] = self._cut(value, run)
            found.append(cut)
        return found

    def _cut(self, value: SSAValue, run: tuple[Piece, ...]) -> Cut:
        terms: list[tuple[int, int]] = []
        halo: tuple[int, int] | None = None
        windows: dict[int, Window] = {}
        stride = base = 1
        for piece in reversed(run):
            leader = self.followers.leader(piece)
            if (loop := self.loops.get(leader)) is None:
                base *= piece.size
            else:
                reach = self.followers.reach(value, piece)
                if reach != EXACT or piece.size != leader.size:
                    halo = reach.before * stride, reach.after * stride
                    windows[loop] = Window(reach.stride, reach.grow, piece.size)
                terms.append((loop, stride * reach.stride))
            stride *= piece.size
        loops = tuple([loop for loop, _ in terms])
        return Cut(tuple(reversed(terms)), halo, loops, windows, base)

    def _add_attention(self, name: str, op: FlashAttentionOp, step: int) -> None:
        """Adds the scores and weights of an attention, cut along its keys."""
        keys = tensor_of(op.k).get_shape()[2]
        loop = len(self.set.extents)
        self.set.extents.append(max(keys, 1))
        self.set.inner.add(loop)
        self.set.before.append(set())
        cuts = self._cuts(op.q)
        loops = [loop for cut in cuts for loop in cut.loops]
        base = prod(
            piece.size
            for dim in self.table.dims(op.q)[:3]
            for piece in leaves(dim)
            if piece not in self.loops
        )
        width = dtype_of(op.accumulate).storage_bytes
        for inner, tier in ((SCORES, "l0c"), (WEIGHTS, "l1")):
            cut = [*[cut.terms for cut in cuts[:3]], ((loop, 1),)]
            number = len(self.set.held)
            self.set.held.append(
                Held(
                    f"{name}.{inner}",
                    tier,
                    width,
                    cut,
                    base,
                    (*loops, loop),
                    (step, step),
                    True,
                    number,
                )
            )
            self.set.hbm_bytes.append(0)


def _fix_twins(values: Iterable[Runs]) -> None:
    """Fixes what two dimensions of a value share, as of a product of a tensor with itself: one
    loop would take its diagonal only."""
    for runs in values:
        pieces = list(chain.from_iterable(runs))
        if len(set(pieces)) < len(pieces):
            for piece, times in Counter(pieces).items():
                piece.fixed |= times > 1
