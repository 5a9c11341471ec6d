"""From the body of a kernel to what its tiles need: the rules of `working_set.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod

from xdsl.ir import Block, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import dtype_of, is_float
from ge_dialect.ge.in_place import in_place_pairs_of
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge.windows import aligned_axes
from ge_dialect.ge_exec.tiling import SCORES, WEIGHTS, value_names
from ge_dialect.passes.fusion.tiling import Role, role_of
from ge_dialect.passes.tiles.pieces import Piece, PieceTable, Reach, fix, leaves
from ge_dialect.passes.tiles.relations import relate
from ge_dialect.passes.tiles.streams import Streams, streams_of
from ge_dialect.passes.tiles.windows import Followers
from ge_dialect.passes.tiles.working_set import SUM_BYTES, Held, Window, WorkingSet


def working_set(block: Block) -> WorkingSet:
    """Returns what a kernel's body needs on the chip, for tiles of any size.

    Linear in the dimensions of the values of the body.

    Raises:
        ValueError: A shape is not static.
    """
    return _Builder(block).build(Streams())


def streaming_set(block: Block) -> WorkingSet | None:
    """Returns the same where what may stream does (`streams.py`); None where nothing may."""
    builder = _Builder(block)
    streams = streams_of(builder.ops, builder.results)
    return None if streams is None else builder.build(streams)


@dataclass
class Cuts:
    """How a value is cut.

    Attributes:
        dims, halos, loops, windows, base: As of `Held`.
    """

    dims: list[tuple[tuple[int, int], ...]] = field(
        default_factory=list[tuple[tuple[int, int], ...]]
    )
    halos: list[tuple[int, int] | None] = field(default_factory=list[tuple[int, int] | None])
    loops: list[int] = field(default_factory=list[int])
    windows: dict[int, Window] = field(default_factory=dict[int, Window])
    base: int = 1


class _Builder:
    """Collects the values of a body, and the pieces of their dimensions."""

    def __init__(self, block: Block):
        self.block = block
        self.ops = [
            op for op in block.ops if isinstance(op, GEOp) and not isinstance(op, ConstantOp)
        ]
        self.roles = [role_of(type(op)) for op in self.ops]
        last = block.last_op
        assert last is not None
        self.results: Sequence[SSAValue] = tuple(last.operands)
        self.in_place = in_place_pairs_of(block)
        self.loops: dict[Piece, int] = {}
        self.set = WorkingSet()

    def build(self, streams: Streams) -> WorkingSet:
        self.streams, self.table = streams, PieceTable(loose=streams.loose)
        late = {op for op, _ in self.streams.loose}  # when it is known what is whole
        for op in sorted(self.ops, key=lambda op: op in late):
            for index, operand in enumerate(op.operands):
                if isinstance(operand.owner, ConstantOp):
                    parts = {axis for axis, _ in aligned_axes(op, index)}
                    for axis, dim in enumerate(self.table.dims(operand)):
                        fix(dim if axis not in parts else ())
            relate(self.table, op)
        self._settle()
        self._hold()
        return self.set

    def _settle(self) -> None:
        """Finds the loops: what may be cut, is part of all results, and what that depends on."""
        for i, j in self.in_place:
            self.table.same(self.block.args[i], self.results[j])
        everything = [dim for dims in self.table.of_value.values() for dim in dims]
        common = self._of_results()
        self.followers = Followers(self.table, self.ops, self.results)
        self._fix_twins()
        while True:
            self._drop(everything, common)
            before = self._outside(everything)
            if not self.followers.agree(common) and not self.followers.measure():
                break
        held = [leaves(chain(*self.table.dims(value))) for value in self.streams.held]
        for piece in (*chain(*held), *common):  # what is held is computed in outer loops
            if not piece.fixed and piece not in self.loops and piece in common:
                self.loops[piece] = len(self.loops)
                self.set.extents.append(piece.size)
        for piece in self.loops:
            self.set.before.append({self.loops[other] for other in before.get(piece, ())})

    def _fix_twins(self) -> None:
        """Fixes what two dimensions of a value share, as of a product of a tensor with itself: one
        loop would take its diagonal only."""
        for dims in self.table.of_value.values():
            seen: set[Piece] = set()
            for piece in leaves(chain(*dims)):
                leader = self.followers.leader(piece)
                if leader in seen:
                    leader.fixed = piece.fixed = True
                seen.add(leader)

    def _drop(self, everything: Sequence[Sequence[Piece]], common: Sequence[Piece]) -> None:
        """Fixes what leads to no loop."""
        self.followers.agree(common)
        kept = {piece for piece in common if not piece.fixed}
        for dim in everything:
            fix(piece for piece in leaves(dim) if self.followers.leader(piece) not in kept)

    def _outside(self, everything: Sequence[Sequence[Piece]]) -> dict[Piece, set[Piece]]:
        """Returns the pieces outside of others in some dimension; fixes what is inside of fixed
        ones."""
        before: dict[Piece, set[Piece]] = {}
        changed = True
        while changed:
            changed = False
            for dim in everything:
                found = leaves(dim)
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
        for _, j in self.in_place:
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
        self.last = self._last_steps(reads, owners)
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

    def _last_steps(
        self, reads: Mapping[SSAValue, list[int]], owners: Mapping[SSAValue, SSAValue]
    ) -> list[int]:
        """Returns for each op the last one for which it computes: blocks that pass are computed
        while what they lead to is."""
        last = list(range(len(self.ops)))
        for step in reversed(last):
            for result in self.ops[step].results:
                if owners.get(result, result) in self.streams.passing:
                    last[step] = max([last[step], *(last[one] for one in reads.get(result, ()))])
        return last

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
        roles = {self.roles[step] for step in steps}
        used_by_product = Role.CONTRACT in roles
        is_operand, is_result = owner not in made, any(one in self.results for one in group)
        by_product = not is_operand and self.roles[made[owner]] is Role.CONTRACT
        tier = "l1" if used_by_product else "l0c" if by_product else "ub"
        passing = owner in self.streams.passing
        if owner in self.streams.held:
            tier = "l2"
        element = tensor_of(value).element_type
        width = dtype_of(element).storage_bytes
        if tier == "l0c" or (tier == "ub" and is_float(element)):
            width = max(width, SUM_BYTES)
        first = min([*steps, made[owner]] if not is_operand else steps, default=0)
        end = max([first, *(self.last[step] for step in steps)])
        life = (first, len(self.ops) - 1 if is_result else end)
        if tier == "l2":
            life = (0, len(self.ops) - 1)  # for turns in which it is not computed
        cuts = self._cuts(value)
        is_table = False
        if is_operand:
            is_table = roles == {Role.MOVE}
            kept = not is_table and not used_by_product and not passing
        else:
            kept = (bool(steps) or bool(cuts.loops)) and not passing
        own = prod(tensor_of(value).get_shape()) * dtype_of(element).storage_bytes
        loops = tuple(cuts.loops)
        held = Held(name, tier, width, cuts.dims, cuts.base, loops, life, kept, number)
        held.windows, held.halos = cuts.windows, cuts.halos
        held.is_operand, held.is_result, held.is_table = is_operand, is_result, is_table
        held.is_shared = bool(self.streams.held) and is_operand and passing
        self.set.held.append(held)
        in_hbm = value is owner if is_operand else value in self.results
        self.set.hbm_bytes.append(own if in_hbm else 0)

    def _cuts(self, value: SSAValue) -> Cuts:
        found = Cuts()
        for dim in self.table.dims(value):
            terms: list[tuple[int, int]] = []
            halo: tuple[int, int] | None = None
            stride = 1
            for piece in reversed(leaves(dim)):
                leader = self.followers.leader(piece)
                if (loop := self.loops.get(leader)) is None:
                    found.base *= piece.size
                else:
                    reach = self.followers.reach(value, piece)
                    if reach != Reach() or piece.size != leader.size:
                        halo = reach.before * stride, reach.after * stride
                        found.windows[loop] = Window(reach.stride, reach.grow, piece.size)
                    terms.append((loop, stride * reach.stride))
                    found.loops.append(loop)
                stride *= piece.size
            found.dims.append(tuple(reversed(terms)))
            found.halos.append(halo)
        if any(dim == 0 for dim in tensor_of(value).get_shape()):
            found.base = 0
        return found

    def _add_attention(self, name: str, op: FlashAttentionOp, step: int) -> None:
        """Adds the scores and weights of an attention, cut along its keys."""
        keys = tensor_of(op.k).get_shape()[2]
        loop = len(self.set.extents)
        self.set.extents.append(max(keys, 1))
        self.set.inner.add(loop)
        self.set.before.append(set())
        cuts = self._cuts(op.q)
        dims, loops = cuts.dims, cuts.loops
        base = prod(
            piece.size
            for dim in self.table.dims(op.q)[:3]
            for piece in leaves(dim)
            if piece not in self.loops
        )
        width = dtype_of(op.accumulate).storage_bytes
        for inner, tier in ((SCORES, "l0c"), (WEIGHTS, "l1")):
            cut = [*dims[:3], ((loop, 1),)]
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
