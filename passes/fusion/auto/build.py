"""Makes kernels out of chosen groups, and puts the ops of the block into an order that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.structure import FusionOp, YieldOp, yield_of
from ge_dialect.locations import fuse
from ge_dialect.passes.fusion.auto.groups import Group, Groups
from ge_dialect.passes.fusion.build import is_scalar_constant
from ge_dialect.passes.fusion.tiling import Role, role_of

_NAMES = 6
"""How many ops a kernel is named after."""


def kernel_name(group: Group) -> str:
    """Returns a name such as `FusedAddMulRelu`: after the ops that compute, in order.

    A kernel in the kernel counts by its name. Where there are too many, hard ops stay.
    """
    parts: list[str] = []
    names: list[str] = []
    for key in sorted(group.members):
        op = group.members[key]
        assert isinstance(op, GEOp)
        name = op.ge_op_type().removeprefix("Fused").removesuffix("Fusion")
        role = Role.CONTRACT if isinstance(op, FusionOp) else role_of(type(op))
        if role is not Role.MOVE:
            names.append(name)
        parts.append(name if role.is_hard else "")
    if not names:
        names = ["Move"]
    if len(names) > _NAMES and any(parts):
        names = [part for part in parts if part]
    kept = [name for i, name in enumerate(names) if not i or names[i - 1] != name][:_NAMES]
    return "Fused" + "".join(kept)


def rule_names(group: Group) -> str | None:
    """Returns the rules whose kernels are part of a group, joined; None where there are none."""
    found = [op.rule.data for op in group.members.values() if isinstance(op, FusionOp) and op.rule]
    return "+".join(dict.fromkeys(found)) or None


def build_kernel(group: Group, groups: Groups) -> FusionOp:
    """Replaces the members of a group by one kernel, where the last one is."""
    body = _Body(group, groups)
    keys = sorted(group.members)
    anchor = group.members[keys[-1]]
    location = fuse(group.members[key].location for key in keys)
    name, rule = kernel_name(group), rule_names(group)
    block = anchor.parent
    assert block is not None
    marker = anchor.next_op
    for key in keys:
        body.take(group.members[key])
    results = sorted(group.writes, key=lambda value: groups.positions[value])
    inner = [body.values.get(value, value) for value in results]
    body.block.add_op(YieldOp(*inner))
    fusion = FusionOp(name, list(body.inputs), Region(body.block), rule)
    fusion.location = location
    if marker is None:
        block.add_op(fusion)
    else:
        block.insert_op_before(fusion, marker)
    for value, result in zip(results, fusion.results, strict=True):
        result.name_hint = value.name_hint
        for use in list(value.uses):
            if use.operation.parent is not body.block:
                use.operation.operands[use.index] = result
    _erase_rest(group, body)
    return fusion


def _erase_rest(group: Group, body: _Body) -> None:
    """Erases what nothing reads any more, now that copies stand inside."""
    for op in body.emptied:
        op.operands = ()
    for key in sorted(group.views, reverse=True):
        view = group.views[key]
        if view.parent is not None and view.results[0].first_use is None:
            view.detach()
            view.erase()
    for op in reversed(body.emptied):
        op.detach()
        op.erase()
    for op in body.spare:
        op.erase()


@dataclass
class _Body:
    """The body of a kernel under construction.

    Attributes:
        group, groups: What it is made of.
        block: The body.
        values: What stands in the body for a value from outside, or of a kernel that is opened.
        inputs: Values from outside that the kernel reads, in order.
        emptied: Kernels whose ops moved here.
        constants: The one constant of each value and type.
        spare: Further constants of the same, whose readers are on their way here.
    """

    group: Group
    groups: Groups
    block: Block = field(default_factory=Block)
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    inputs: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    emptied: list[FusionOp] = field(default_factory=list[FusionOp])
    constants: dict[tuple[Attribute, Attribute], SSAValue] = field(
        default_factory=dict[tuple[Attribute, Attribute], SSAValue]
    )
    spare: list[Operation] = field(default_factory=list[Operation])

    def take(self, op: Operation) -> None:
        """Moves an op into the body; of a kernel, what is in it."""
        if not isinstance(op, FusionOp):
            self._move(op)
            return
        for argument, value in zip(op.body.block.args, op.arguments, strict=True):
            self.values[argument] = self._inside(value)
        inner = yield_of(op.body)
        for part in list(op.body.block.ops):
            if part is not inner:
                self._move(part)
        for result, value in zip(op.results, inner.arguments, strict=True):
            self.values[result] = self._inside(value)
        self.emptied.append(op)

    def _move(self, op: Operation) -> None:
        op.detach()
        if isinstance(op, ConstantOp) and (known := self._known(op)) is not op.result:
            self.values[op.result] = known
            self.spare.append(op)
            return
        for index, operand in enumerate(operands_of(op)):
            if (value := self._inside(operand)) is not operand:
                op.operands[index] = value
        self.block.add_op(op)

    def _cloned(self, op: ConstantOp) -> SSAValue:
        clone = op.clone()
        if (known := self._known(clone)) is clone.result:
            self.block.add_op(clone)
        return known

    def _known(self, op: ConstantOp) -> SSAValue:
        """Returns the constant of the body that is equal to one; itself where it is the first."""
        return self.constants.setdefault((op.value, op.result.type), op.result)

    def _inside(self, value: SSAValue) -> SSAValue:
        if (found := self.values.get(value)) is not None:
            return found
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent is self.block:
            return value
        if isinstance(owner, ConstantOp) and is_scalar_constant(value):
            self.values[value] = self._cloned(owner)
        elif value in self.groups.root or value in self.groups.copied:
            assert isinstance(owner, Operation)
            clone = owner.clone({operand: self._inside(operand) for operand in owner.operands})
            self.block.add_op(clone)
            self.values[value] = clone.results[0]
        else:
            self.inputs[value] = None
            argument = self.block.insert_arg(value.type, len(self.block.args))
            argument.name_hint = None
            self.values[value] = argument
        return self.values[value]


def put_in_order(block: Block, groups: Groups, built: dict[int, Operation]) -> None:
    """Orders the ops of a block by the order of the groups; views and constants before readers.

    Args:
        block: The block.
        groups: Its groups.
        built: The kernel of each group that is one.
    """
    order: dict[Operation, tuple[int, int]] = {}
    for group in groups.groups.values():
        if (kernel := built.get(group.number)) is not None:
            order[kernel] = (group.order, 0)
        else:
            order.update({op: (group.order, key) for key, op in group.members.items()})
    ops = list(block.ops)
    for op in ops:
        op.detach()
    emitted: dict[Operation, None] = {}
    present = set(ops)
    queue = sorted((op for op in ops if op in order), key=lambda op: order[op])
    for op in (*queue, *ops[len(ops) - (ops[-1] not in order) :]):
        _emit(op, present, emitted)
    for op in emitted:
        block.add_op(op)
    for op in reversed(ops):
        if op not in emitted:  # a view or constant that is part of kernels now
            op.erase()


def _emit(op: Operation, present: set[Operation], emitted: dict[Operation, None]) -> None:
    """Appends an op to `emitted`, behind the ops of the block that it reads."""
    if op in emitted:
        return
    for value in _reads(op):
        if isinstance(owner := value.owner, Operation) and owner in present:
            _emit(owner, present, emitted)
    emitted[op] = None


def _reads(op: Operation) -> Sequence[SSAValue]:
    if not op.regions or isinstance(op, FusionOp):
        return operands_of(op)
    return [value for inner in op.walk() for value in inner.operands]
