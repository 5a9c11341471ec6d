"""A block as groups of ops, each to become one kernel: who reads what, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.ge.access import operand_at, operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.greatest import num_elements
from ge_dialect.ge.picking import parts_of
from ge_dialect.ge.structure import FusionOp, yield_of
from ge_dialect.ge.types import is_tensor
from ge_dialect.passes.fusion.auto.signatures import Signatures
from ge_dialect.passes.fusion.build import is_scalar_constant
from ge_dialect.passes.fusion.tiling import Role, role_of

ASSUMED_DIM = 1024
"""What a dimension that is not a number counts as, where bytes are compared."""

MAX_VISITED = 512
"""How many groups a search for a cycle looks at, at most."""


@dataclass(slots=True, eq=False)
class Group:
    """Ops of one block that are, or are to be, one kernel.

    Attributes:
        number: Unique, in the order of the block.
        members: Ops of the block, by their positions in it.
        leaves: The same with kernels replaced by what is in them, and without constants.
        order: Where it stands among the groups; distinct.
        position: Of its last member.
        open: Whether it may grow.
        hard: How many ops of it compute a result from many elements.
        products: How many of these are products or windows.
        reads: Bytes that it reads of each value from outside.
        writes: Values that it makes and that are read outside.
        views: Views that members read through.
        earlier, later: The op with an effect before and behind this one, where it has an effect.
        version: Counts how often it grew.
        signature: Equal for groups of the same structure.
    """

    number: int
    members: dict[int, Operation]
    leaves: dict[int, GEOp]
    order: int
    position: int
    open: bool
    hard: int = 0
    products: int = 0
    reads: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    writes: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    views: dict[int, GEOp] = field(default_factory=dict[int, GEOp])
    earlier: Group | None = None
    later: Group | None = None
    version: int = 0
    signature: int = 0

    @property
    def traffic(self) -> int:
        """Bytes that the kernel moves."""
        return sum(self.reads.values()) + sum(bytes_of(value) for value in self.writes)


def bytes_of(value: SSAValue) -> int:
    """Returns the bytes of a value; dimensions that are not numbers count as `ASSUMED_DIM`."""
    from ge_dialect.ge.dtypes import dtype_of
    from ge_dialect.ge.greatest import value_shape

    if not is_tensor(type_ := value.type):
        return 0
    size = dtype_of(type_.element_type).storage_bytes
    for dim in value_shape(value):
        size *= dim if isinstance(dim, int) else ASSUMED_DIM
    return size


@dataclass
class Groups:
    """The groups of a block.

    Attributes:
        block: The block.
        growing: Names of rules whose kernels may grow; those of others stay as they are.
        again: Ops that each reader does for itself; they belong to no group.
        signatures: Numbers of structures.
        groups: By number.
        owner: The group that makes a value.
        users: The groups that read a value.
        outside: Values that the terminator or a foreign op reads.
        root: The value whose bytes a view has.
        copied: Where the results of `again` are made.
        alias: What arguments and results of kernels stand for, outside or inside of one.
        stands_for: The same, as far as it leads.
        sizes: Bytes of values.
        positions: Where values are made.
    """

    block: Block
    growing: Collection[str]
    again: Collection[Operation] = ()
    signatures: Signatures = field(default_factory=Signatures)
    groups: dict[int, Group] = field(default_factory=dict[int, Group])
    owner: dict[SSAValue, Group] = field(default_factory=dict[SSAValue, Group])
    users: dict[SSAValue, dict[int, None]] = field(default_factory=dict[SSAValue, dict[int, None]])
    outside: set[SSAValue] = field(default_factory=set[SSAValue])
    root: dict[SSAValue, tuple[SSAValue, int]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, int]]
    )
    views: dict[int, GEOp] = field(default_factory=dict[int, GEOp])
    copied: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    alias: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    stands_for: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    sizes: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    positions: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    effects: Group | None = None

    def __post_init__(self) -> None:
        position, again = 0, set(self.again)
        for op in self.block.ops:
            position += 1
            if isinstance(op, ConstantOp):
                continue
            if op is self.block.last_op and not isinstance(op, GEOp):
                self._finish(op)
            elif isinstance(op, GEOp) and op.view_of() == 0 and len(op.results) == 1:
                shown = operand_at(op, 0)
                self.root[op.results[0]] = (self.base(shown), position)
                self.views[position] = op
            elif op in again:
                self.copied[op.results[0]] = position
            else:
                position = self._add(op, position)

    def copies(self, group: Group) -> list[GEOp]:
        """Returns the ops that a group does although others do them as well."""
        views = group.views.values() if self.copied else ()
        return [op for op in views if op.results[0] in self.copied]

    def size(self, value: SSAValue) -> int:
        """Returns the bytes of a value."""
        if (size := self.sizes.get(value)) is None:
            size = self.sizes[value] = bytes_of(value)
        return size

    def _finish(self, op: Operation) -> None:
        for value in op.operands:
            self.outside.add(self.base(value))

    def base(self, value: SSAValue) -> SSAValue:
        """Returns the value whose bytes `value` has."""
        found = self.root.get(value)
        return value if found is None else found[0]

    def is_constant(self, value: SSAValue) -> bool:
        """Whether a value is a weight."""
        return isinstance(value.owner, ConstantOp)

    def _add(self, op: Operation, position: int) -> int:
        leaves, last = self._leaves(op, position)
        number = position
        group = Group(
            number, {position: op}, leaves, position, position, may_grow(op, self.growing)
        )
        roles = [role_of(type(leaf)) for leaf in leaves.values()]
        group.hard = sum(role.is_hard for role in roles)
        group.products = roles.count(Role.CONTRACT)
        self.groups[number] = group
        if not is_side_effect_free(op):
            group.earlier = self.effects
            if self.effects is not None:
                self.effects.later = group
            self.effects = group
            group.open = False
        for index, value in enumerate(_reads(op)):
            self._read(group, op, index, value)
        for result in op.results:
            self.owner[result] = group
            self.positions[result] = len(self.positions)
            group.writes[result] = None
        if group.open:
            seen = (*group.views.values(), *leaves.values())
            group.signature = self.signatures.of_ops(seen, self.alias, group.reads, op.results)
        return last

    def _leaves(self, op: Operation, position: int) -> tuple[dict[int, GEOp], int]:
        if not isinstance(op, FusionOp):
            return ({position: op} if isinstance(op, GEOp) else {}), position
        leaves: dict[int, GEOp] = {}
        for argument, value in zip(op.body.block.args, op.arguments, strict=True):
            self._name(argument, value)
        for inner in op.body.block.ops:
            if isinstance(inner, GEOp) and not isinstance(inner, ConstantOp):
                position += 1
                leaves[position] = inner
        for result, value in zip(op.results, yield_of(op.body).arguments, strict=True):
            self._name(result, value)
        return leaves, position

    def _name(self, value: SSAValue, other: SSAValue) -> None:
        self.alias[value] = other
        self.stands_for[value] = self.stands_for.get(other, other)

    def _read(self, group: Group, op: Operation, index: int, value: SSAValue) -> None:
        while (found := self.root.get(value)) is not None:
            view = self.views[found[1]]
            group.views[found[1]] = view
            value = operand_at(view, 0)
        if is_scalar_constant(value):
            return
        if (place := self.copied.get(value)) is not None:
            source = value.owner
            assert isinstance(source, GEOp)
            group.views[place] = source
            for inner, operand in enumerate(source.operands):
                self._read(group, source, inner, operand)
            return
        picked = None if op.regions and not isinstance(op, FusionOp) else parts_of(op, index)
        size = whole = self.size(value)
        if picked is not None:
            size = min(whole, group.reads.get(value, 0) + sum(map(bytes_of, picked)))
        group.reads[value] = size
        self.users.setdefault(value, {})[group.number] = None

    def before(self, group: Group) -> Iterable[Group]:
        """Yields the groups that a group reads from, or has to wait for."""
        for value in group.reads:
            if (owner := self.owner.get(value)) is not None and owner is not group:
                yield owner
        if group.earlier is not None:
            yield group.earlier

    def behind(self, group: Group) -> Iterable[Group]:
        """Yields the groups that read from a group, or have to wait for it."""
        for value in group.writes:
            for number in self.users.get(value, ()):
                if number != group.number:
                    yield self.groups[number]
        if group.later is not None:
            yield group.later

    def between(self, first: Group, last: Group) -> tuple[list[Group], list[Group]] | None:
        """Returns what has to come before, and what after, a kernel of two groups.

        Only groups that stand between the two are looked at. None where a way from one to the
        other leads through a third, or where there are too many.
        """
        late: dict[Group, None] = {}
        waiting = [g for g in self.behind(first) if g is not last and g.order < last.order]
        while waiting:
            group = waiting.pop()
            if group in late:
                continue
            late[group] = None
            if len(late) > MAX_VISITED:
                return None
            for other in self.behind(group):
                if other is last:
                    return None
                if other.order < last.order:
                    waiting.append(other)
        early: dict[Group, None] = {}
        waiting = [g for g in self.before(last) if g is not first and g.order > first.order]
        while waiting and late:
            group = waiting.pop()
            if group in early:
                continue
            early[group] = None
            if len(early) > MAX_VISITED or group in late:
                return None
            waiting += [g for g in self.before(group) if g.order > first.order]
        return list(early), list(late)

    def merge(self, first: Group, last: Group, between: tuple[list[Group], list[Group]]) -> Group:
        """Makes one group of two; `last` is it.

        Args:
            first: Of smaller order.
            last: Of larger order.
            between: As `between` gave it.
        """
        early, late = between
        wires = self.signatures.of_pair(first, last)
        if late:
            moved = [*sorted(early, key=_order), last, *sorted(late, key=_order)]
            places = sorted(group.order for group in (*moved, first))
            for group, place in zip(moved, places[1:], strict=True):
                group.order = place
        last.members |= first.members
        last.leaves |= first.leaves
        last.views |= first.views
        last.hard += first.hard
        last.products += first.products
        last.position = max(first.position, last.position)
        last.version += 1
        kept = self._merge_values(first, last)
        last.signature = self.signatures.number((wires, kept))
        del self.groups[first.number]
        return last

    def _merge_values(self, first: Group, last: Group) -> tuple[bool, ...]:
        """Joins what two groups read and write; returns which values are still written."""
        for value, size in first.reads.items():
            last.reads[value] = min(self.size(value), last.reads.get(value, 0) + size)
            users = self.users[value]
            del users[first.number]
            users[last.number] = None
        for value in first.writes:
            self.owner[value] = last
            last.writes[value] = None
        kept: list[bool] = []
        for value in [*last.writes]:
            kept.append(True)
            users = self.users.get(value, {})
            last.reads.pop(value, None)
            users.pop(last.number, None)
            if not users and value not in self.outside:
                del last.writes[value]
                kept[-1] = False
        return tuple(kept)


def may_grow(op: Operation, growing: Collection[str]) -> bool:
    """Whether an op may become part of a larger kernel.

    Args:
        op: Of a kernel, the rules it comes from count.
        growing: As in `Groups`.
    """
    if isinstance(op, FusionOp):
        rules = [] if op.rule is None else op.rule.data.split("+")
        if any(rule not in growing for rule in rules):
            return False
        return all(
            role_of(type(inner)) is not Role.CLOSED
            for inner in op.body.block.ops
            if isinstance(inner, GEOp) and not isinstance(inner, ConstantOp)
        )
    if not isinstance(op, GEOp) or op.regions or isinstance(op, DropoutOp):
        return False
    return role_of(type(op)) is not Role.CLOSED and all(is_tensor(r.type) for r in op.results)


def _order(group: Group) -> int:
    return group.order


def _reads(op: Operation) -> Sequence[SSAValue]:
    """Returns what an op reads, and what the ops in its regions do."""
    if not op.regions or isinstance(op, FusionOp):
        return operands_of(op)
    return [value for inner in op.walk() for value in inner.operands]


def ops_of(group: Group) -> list[GEOp]:
    """Returns the ops of a group, those of kernels and views included, producers first."""
    ops = group.leaves | group.views
    return [ops[place] for place in sorted(ops)]


def elements_of(group: Group) -> int:
    """Returns the elements of the largest value that a group reads or writes."""
    values = (*group.reads, *group.writes)
    return max((num_elements(value.type) or 0 for value in values), default=0)
