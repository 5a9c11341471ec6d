"""From the body of a kernel to what its tiles need: the rules of `working_set.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import prod

from xdsl.ir import Block, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import dtype_of, is_float
from ge_dialect.ge.in_place import in_place_pairs_of
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge.windows import aligned_axes
from ge_dialect.ge_exec.tiling import SCORES, SHARED_TIER, WEIGHTS, value_names
from ge_dialect.passes.fusion.tiling import Role, role_of
from ge_dialect.passes.tiles.pieces import EXACT, Piece, PieceTable, fix, leaves
from ge_dialect.passes.tiles.relations import relate
from ge_dialect.passes.tiles.streams import Streams, streams_of
from ge_dialect.passes.tiles.windows import Followers
from ge_dialect.passes.tiles.working_set import SUM_BYTES, Held, Window, WorkingSet


@dataclass(slots=True)
class _Value:
    """What is known of a value whatever streams.

    Attributes:
        name: As the tiling names it.
        owner: The value whose bytes it has; its own otherwise.
        tier, width, life, is_operand, is_result, is_table: As of `Held`.
        owner_number: The number of the owner.
        storage_width: Bytes of an element where it is stored.
        in_blocks: Whether blocks of it are enough, since it is an operand of that kind.
        reads: The steps that read these bytes.
        hbm_bytes: As of `WorkingSet`.
    """

    name: str
    owner: SSAValue
    owner_number: int
    tier: str
    width: int
    storage_width: int
    life: tuple[int, int]
    is_operand: bool
    is_result: bool
    is_table: bool
    in_blocks: bool
    reads: Sequence[int]
    hbm_bytes: int


class KernelBody:
    """A kernel's body, as its working sets see it: those have all of this in common.

    Raises:
        ValueError: A shape is not static.
    """

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

    @cached_property
    def values(self) -> Mapping[SSAValue, _Value]:
        """The values of the body in order, constants left out."""
        names = value_names(self.block)
        numbers = {value: index for index, value in enumerate(names.values())}
        reads: dict[SSAValue, list[int]] = {}
        made: dict[SSAValue, int] = {}
        owners: dict[SSAValue, SSAValue] = {}
        for step, op in enumerate(self.ops):
            for operand in operands_of(op):
                reads.setdefault(operand, []).append(step)
            for result in op.results:
                made[result] = step
                if (view := op.view_of()) is not None and op.operands[view] in numbers:
                    owners[result] = owners.get(op.operands[view], op.operands[view])
        groups: dict[SSAValue, list[SSAValue]] = {}
        for value in numbers:
            groups.setdefault(owners.get(value, value), []).append(value)
        found: dict[SSAValue, _Value] = {}
        for name, value in names.items():
            owner = owners.get(value, value)
            steps = [step for member in groups[owner] for step in reads.get(member, ())]
            is_result = any(member in self.results for member in groups[owner])
            found[value] = self._value(
                name, value, owner, numbers[owner], steps, made.get(owner), is_result
            )
        return found

    def _value(
        self,
        name: str,
        value: SSAValue,
        owner: SSAValue,
        number: int,
        steps: Sequence[int],
        made: int | None,
        is_result: bool,
    ) -> _Value:
        """Returns what is known of a value.

        Args:
            name: Of the value.
            value: Of the body.
            owner: Whose bytes it has.
            number: Of the owner.
            steps: That read these bytes.
            made: The step that makes them; None for an operand.
            is_result: Whether they leave the kernel.
        """
        roles = [self.roles[step] for step in steps]
        used_by_product = Role.CONTRACT in roles
        by_product = made is not None and self.roles[made] is Role.CONTRACT
        tier = "l1" if used_by_product else "l0c" if by_product else "ub"
        type_ = tensor_of(value)
        storage_width = width = dtype_of(type_.element_type).storage_bytes
        if tier == "l0c" or (tier == "ub" and is_float(type_.element_type)):
            width = max(width, SUM_BYTES)
        first = min(steps, default=0) if made is None else min([*steps, made])
        is_table = made is None and bool(roles) and roles.count(Role.MOVE) == len(roles)
        in_hbm = value is owner if made is None else value in self.results
        return _Value(
            name,
            owner,
            number,
            tier,
            width,
            storage_width,
            (first, len(self.ops) - 1 if is_result else max([*steps, first])),
            is_operand=made is None,
            is_result=is_result,
            is_table=is_table,
            in_blocks=is_table or used_by_product,
            reads=steps,
            hbm_bytes=prod(type_.get_shape()) * storage_width if in_hbm else 0,
        )


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

    def __init__(self, body: KernelBody, streams: Streams):
        self.body, self.ops, self.results = body, body.ops, body.results
        self.streams, self.table = streams, PieceTable(loose=streams.loose)
        self.loops: dict[Piece, int] = {}
        self.runs: dict[SSAValue, Sequence[Sequence[Piece]]] = {}
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
        self.runs = {
            value: [leaves(dim) for dim in dims] for value, dims in self.table.of_value.items()
        }
        runs = list(dict.fromkeys(map(tuple, chain(*self.runs.values()))))
        self.followers = Followers(self.table, self.ops, self.results)
        self._fix_twins()
        while True:
            self._drop(runs, common)
            before = self._outside(runs)
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
        for runs in self.runs.values():
            seen: set[Piece] = set()
            for piece in chain(*runs):
                leader = self.followers.leader(piece)
                if leader in seen:
                    leader.fixed = piece.fixed = True
                seen.add(leader)

    def _drop(self, runs: Sequence[Sequence[Piece]], common: Sequence[Piece]) -> None:
        """Fixes what leads to no loop."""
        self.followers.agree(common)
        kept = {piece for piece in common if not piece.fixed}
        for piece in set(chain(*runs)):
            if self.followers.leader(piece) not in kept:
                piece.fixed = True

    def _outside(self, runs: Sequence[Sequence[Piece]]) -> dict[Piece, set[Piece]]:
        """Returns the pieces outside of others in some dimension; fixes what is inside of fixed
        ones."""
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

    def _add(self, value: SSAValue, one: _Value) -> None:
        tier, width, life = one.tier, one.width, one.life
        if one.owner in self.streams.held:  # there for turns in which it is not computed as well
            tier, width, life = SHARED_TIER, one.storage_width, (0, len(self.ops) - 1)
        elif self.streams.passing and not one.is_result:
            life = (life[0], max([life[1], *(self.last[step] for step in one.reads)]))
        passing, cuts = one.owner in self.streams.passing, self._cuts(value)
        kept = not one.in_blocks if one.is_operand else bool(one.reads or cuts.loops)
        self.set.held.append(
            Held(
                one.name,
                tier,
                width,
                cuts.dims,
                cuts.base,
                tuple(cuts.loops),
                life,
                kept and not passing,
                one.owner_number,
                one.is_operand,
                one.is_result,
                one.is_table,
                bool(self.streams.held) and one.is_operand and passing,
                cuts.windows,
                cuts.halos,
            )
        )
        self.set.hbm_bytes.append(one.hbm_bytes)

    def _cuts(self, value: SSAValue) -> Cuts:
        found = Cuts()
        if (runs := self.runs.get(value)) is None:
            runs = [leaves(dim) for dim in self.table.dims(value)]
        for run in runs:
            terms: list[tuple[int, int]] = []
            halo: tuple[int, int] | None = None
            stride = 1
            for piece in reversed(run):
                leader = self.followers.leader(piece)
                if (loop := self.loops.get(leader)) is None:
                    found.base *= piece.size
                else:
                    reach = self.followers.reach(value, piece)
                    if reach != EXACT or piece.size != leader.size:
                        halo = reach.before * stride, reach.after * stride
                        found.windows[loop] = Window(reach.stride, reach.grow, piece.size)
                    terms.append((loop, stride * reach.stride))
                    found.loops.append(loop)
                stride *= piece.size
            terms.reverse()
            found.dims.append(tuple(terms))
            found.halos.append(halo)
        if 0 in tensor_of(value).get_shape():
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
