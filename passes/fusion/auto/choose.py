"""Which groups become one kernel: the pair that saves most bytes first, as long as it is legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ge_dialect import remarks
from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import Engine, GEOp
from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.types import is_tensor
from ge_dialect.passes.fusion.auto.groups import Group, Groups, elements_of, ops_of
from ge_dialect.passes.fusion.auto.peak import Profile
from ge_dialect.passes.fusion.footprint import Fit, fit, fit_in_tiles
from ge_dialect.passes.fusion.tiling import Role, role_of
from ge_dialect.remarks import ReasonClass

if TYPE_CHECKING:
    from ge_dialect.targets import Target

_US = 1e6
_SIBLINGS = 4
"""Neighbouring readers of one value that are tried together."""


@dataclass(frozen=True)
class Refusal:
    """Why two groups stay two kernels.

    Attributes:
        reason, message, found, wanted: As in a remark.
        weighs: Whether sizes decide, and not what ops there are.
    """

    reason: ReasonClass
    message: str
    found: str = ""
    wanted: str = ""
    weighs: bool = False


@dataclass(slots=True)
class _Pair:
    first: Group
    last: Group
    versions: tuple[int, int]
    saved: int


@dataclass
class Chooser:
    """Joins groups of one block.

    Attributes:
        groups: The groups; changed.
        target: The machine.
        max_ops, max_products: Of one kernel.
        strict: First and last positions between which no value may be live longer than before,
            wherever the peak is.
        spare: Bytes that stay free below the peak, since the order of joined kernels is another.
        fits: How pairs of groups of known structures are tiled as one.
        refused: What was legal to look at and refused, where somebody listens.
        joined: How many times two groups became one.
    """

    groups: Groups
    target: Target
    max_ops: int
    max_products: int
    strict: Sequence[tuple[int, int]] = ()
    spare: int = 0
    fits: dict[tuple[int, ...], Fit] = field(default_factory=dict[tuple[int, ...], Fit])
    refused: list[tuple[Group, Group, Refusal, int]] = field(
        default_factory=list[tuple[Group, Group, Refusal, int]]
    )
    joined: int = 0

    def __post_init__(self) -> None:
        self.profile = Profile(self.groups, self.target.hbm.alignment)
        self.profile.peak -= self.spare
        self.listening = remarks.listening()
        self.queue: list[tuple[int, int, int, int, int, _Pair]] = []
        self.count = 0
        self.chunks: dict[int, int] = {}
        self.computing: dict[int, float] = {}
        self.readers: dict[tuple[int, int], dict[SSAValue, Role]] = {}
        self.elements: dict[tuple[int, int], int] = {}

    def run(self) -> None:
        """Joins pairs until none is left that is legal and saves bytes."""
        for group in list(self.groups.groups.values()):
            for value in group.reads:
                self._consider_value(value, group)
        while self.queue:
            pair = heappop(self.queue)[-1]
            if self._is_stale(pair):
                continue
            between = self.groups.between(pair.first, pair.last)
            if between is None or (between[1] and self._is_strict(pair.first, pair.last)):
                self._refuse(pair, Refusal(ReasonClass.ORDER, "a value goes out and comes back"))
            elif (refusal := self._refusal(pair)) is not None:
                self._refuse(pair, refusal)
            else:
                self._join(pair, between)

    def _is_stale(self, pair: _Pair) -> bool:
        alive = self.groups.groups
        return (
            alive.get(pair.first.number) is not pair.first
            or alive.get(pair.last.number) is not pair.last
            or pair.versions != (pair.first.version, pair.last.version)
        )

    def _join(self, pair: _Pair, between: tuple[list[Group], list[Group]]) -> None:
        self.profile.join(pair.first, pair.last)
        group = self.groups.merge(pair.first, pair.last, between)
        self.joined += 1
        for value in (*group.reads, *group.writes):
            self._consider_value(value, group)

    def _consider_value(self, value: SSAValue, group: Group) -> None:
        """Looks at the pairs of a group with who makes a value, and with who else reads it."""
        if not group.open:
            return
        owner = self.groups.owner.get(value)
        users = self.groups.users.get(value, {})
        if owner is group:
            for number in users:
                self._consider(group, self.groups.groups[number])
            return
        if owner is not None:
            self._consider(owner, group)
        for other in self._neighbours(value, users, group):
            self._consider_siblings(value, group, other)

    def _neighbours(self, value: SSAValue, users: dict[int, None], group: Group) -> list[Group]:
        if len(users) < 2 or self.groups.is_constant(value):
            return []
        others = [self.groups.groups[number] for number in users if number != group.number]
        if len(others) > 1:
            others.sort(key=lambda other: (abs(other.order - group.order), other.order))
        return others[:_SIBLINGS]

    def _consider_siblings(self, value: SSAValue, one: Group, other: Group) -> None:
        if one.products or other.products:
            if self._first_reads(one).get(value) is not Role.CONTRACT:
                return
            if self._first_reads(other).get(value) is not Role.CONTRACT:
                return
        elif self._elements(one) != self._elements(other):
            return
        self._consider(one, other) if one.order < other.order else self._consider(other, one)

    def _first_reads(self, group: Group) -> dict[SSAValue, Role]:
        """Returns what ops of a group read as their first operand, views and the arguments of
        kernels included, with the role of the first op that does."""
        key = (group.number, group.version)
        if (found := self.readers.get(key)) is None:
            found = self.readers[key] = {}
            for op in group.leaves.values():
                operand = next(iter(operands_of(op)), None)
                while operand is not None:
                    found.setdefault(operand, role_of(type(op)))
                    operand = _behind(operand, self.groups)
        return found

    def _elements(self, group: Group) -> int:
        key = (group.number, group.version)
        if (found := self.elements.get(key)) is None:
            found = self.elements[key] = elements_of(group)
        return found

    def _consider(self, first: Group, last: Group) -> None:
        if first is last or not (first.open and last.open):
            return
        if first.order > last.order:
            first, last = last, first
        saved = self._saved(first, last)
        if saved <= 0:
            return
        pair = _Pair(first, last, (first.version, last.version), saved)
        # Of equal savings, what follows a product is better than what has to be done before it.
        prologue = int(not first.hard and last.hard > 0)
        self.count += 1
        place = (prologue, last.position, first.position, self.count)
        heappush(self.queue, (-saved, *place, pair))

    def _saved(self, first: Group, last: Group) -> int:
        groups, saved = self.groups, 0
        for value, size in last.reads.items():
            if value in first.writes:
                saved += size
                users = groups.users[value]
                inner = all(number in (first.number, last.number) for number in users)
                if inner and value not in groups.outside:
                    saved += groups.size(value)
            elif (other := first.reads.get(value)) is not None:
                saved += size + other - min(groups.size(value), size + other)
        return saved

    def _refusal(self, pair: _Pair) -> Refusal | None:
        """Returns why a pair may not be one kernel."""
        first, last = pair.first, pair.last
        for what, limit, count in (
            ("ops", self.max_ops, len(first.leaves) + len(last.leaves)),
            ("products", self.max_products, first.products + last.products),
        ):
            if count > limit:
                found, wanted = f"{count} {what}", f"at most {limit} {what}"
                return Refusal(ReasonClass.COST, "the kernel would be too large", found, wanted)
        fitted = self._fit(first, last)
        if (short := fitted.shortage) is not None:
            return Refusal(ReasonClass.COST, str(short), short.found, short.wanted, True)
        if fitted.read_again:
            more = fitted.read_again - self._read_again(first) - self._read_again(last)
            if more >= pair.saved:
                message = "tiles would read operands from HBM again"
                found, wanted = f"{more} bytes more", f"at most {pair.saved - 1} bytes"
                return Refusal(ReasonClass.COST, message, found, wanted, True)
        if (excess := self.profile.excess(first, last, self._is_strict(first, last))) > 0:
            message = "inputs would be live longer"
            found = f"{excess} bytes more at the peak"
            return Refusal(ReasonClass.COST, message, found, "none", True)
        return self._slower(pair, fitted)

    def _is_strict(self, first: Group, last: Group) -> bool:
        low, high = sorted((first.position, last.position))
        return any(start <= high and low <= end for start, end in self.strict)

    def _read_again(self, group: Group) -> int:
        """Returns the bytes that tiles of one group read more than once."""
        return fit(ops_of(group), self.target, self.groups.stands_for).read_again

    def _fit(self, first: Group, last: Group) -> Fit:
        written = _written(first, last, self.groups)
        kept = (value in written for value in (*first.writes, *last.writes))
        key = (*self.groups.signatures.of_pair(first, last), *kept)
        if (found := self.fits.get(key)) is None:
            found = self.fits[key] = self.fit_now(first, last)
        return found

    def fit_now(self, first: Group, last: Group) -> Fit:
        """Returns how two groups would be tiled as one, at the sizes that count now."""
        ops = first.leaves | last.leaves | first.views | last.views
        ordered = [ops[place] for place in sorted(ops)]
        written = _written(first, last, self.groups)
        return fit_in_tiles(ordered, self.target, self.groups.stands_for, written)

    def _slower(self, pair: _Pair, found: Fit) -> Refusal | None:
        """Few tiles keep few cores busy: fewer bytes do not pay for that always."""
        first, last = pair.first, pair.last
        if not found.chunks or found.chunks >= self._cores():
            return None
        apart = self._us(first, self._known(first), 0) + self._us(last, self._known(last), 0)
        both = self._us(first, found.chunks, 0) + self._us(last, found.chunks, 0)
        both -= self._fixed() + pair.saved / self.target.hbm.bandwidth * _US
        if both <= apart:
            self.chunks[last.number] = found.chunks
            return None
        message = f"{found.chunks} tiles keep {found.chunks} of {self._cores()} cores busy"
        return Refusal(
            ReasonClass.COST, message, f"{both:.1f} us predicted", f"at most {apart:.1f} us", True
        )

    def _known(self, group: Group) -> int:
        return self.chunks.get(group.number, 0)

    def _cores(self) -> int:
        return self.target.cube_cores

    def _fixed(self) -> float:
        return self.target.overhead.launch_us + self.target.overhead.kernel_floor_us

    def _us(self, group: Group, chunks: int, saved: int) -> float:
        """Predicted us of a kernel that `chunks` cores share, all of them where 0."""
        cores = self._cores()
        busy = min(cores, chunks) if chunks else cores
        data = group.traffic - saved
        through_core = self.target.l2.bandwidth / cores * busy
        moving = data / min(self.target.hbm.bandwidth, through_core) * _US
        return self._fixed() + max(moving, self._compute_us(group) * cores / busy)

    def _compute_us(self, group: Group) -> float:
        if (known := self.computing.get(group.signature)) is not None:
            return known
        found = {Engine.CUBE: 0.0, Engine.VECTOR: 0.0}
        for op in group.leaves.values():
            if op.ENGINE in found:
                found[op.ENGINE] += op.flops() / self._rate(op) * _US
        self.computing[group.signature] = max(found.values())
        return self.computing[group.signature]

    def _rate(self, op: GEOp) -> float:
        type_ = op.operands[0].type if op.operands else op.results[0].type
        dtype = dtype_of(type_.element_type).name if is_tensor(type_) else "f32"
        name = "attention" if isinstance(op, FlashAttentionOp) else "cube"
        reached = self.target.efficiency[name] if op.ENGINE is Engine.CUBE else 1.0
        return self.target.peak(str(op.ENGINE), dtype) * reached

    def _refuse(self, pair: _Pair, refusal: Refusal) -> None:
        if self.listening:
            self.refused.append((pair.first, pair.last, refusal, pair.saved))


def _written(first: Group, last: Group, groups: Groups) -> list[SSAValue]:
    """Returns what two groups would write as one: what others read of their values."""
    own = {first.number, last.number}
    return [
        value
        for value in (*first.writes, *last.writes)
        if value in groups.outside or not groups.users.get(value, {}).keys() <= own
    ]


def _behind(value: SSAValue, groups: Groups) -> SSAValue | None:
    """Returns what a view shows, or an argument of a kernel stands for."""
    found = groups.root.get(value)
    return groups.alias.get(value) if found is None else found[0]
