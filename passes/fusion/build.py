"""Builds `ge.fusion` out of matched ops: the body is the ops themselves, so the meaning stays."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.structure import FusionOp, YieldOp
from ge_dialect.ge.types import num_elements
from ge_dialect.locations import fuse
from ge_dialect.passes.fusion.match import Match
from ge_dialect.passes.fusion.replacement import replace_match
from ge_dialect.passes.fusion.rule import FusionRule


def fuse_match(rule: FusionRule, match: Match) -> FusionOp:
    """Replaces the ops of a match by the rule's kernel.

    Args:
        rule: Its replacement, if it has one, makes the body.
        match: Must be whole (`ok`).
    """
    root, ops = match.ops[0], match.producers_first
    for reader in reversed(readers_between(match) or []):
        _move_behind(reader, root)
    results = [*root.results, *match.escapes]
    if rule.replacement is not None:
        ops, results = replace_match(rule, match)
    return fuse_ops(rule.kernel, rule.name, ops, results, ops[-1])


def readers_between(match: Match) -> list[Operation] | None:
    """Returns the ops before the root that depend on an escaping value, in order.

    They have to stand behind the kernel, which is where the root is. None where the kernel itself
    depends on one of them, or one has an effect, whose order must stay. Linear in
    the ops between the first escaping op and the root.
    """
    if not match.escapes:
        return []
    inside, root = set[Operation](match.ops), match.ops[0]
    late: set[SSAValue] = set(match.escapes)
    readers: list[Operation] = []
    for op in _ops_before(root, [value.owner for value in match.escapes]):
        if op not in inside and any(value in late for value in _reads(op)):
            readers.append(op)
            late.update(op.results)
    late.difference_update(match.escapes)
    back = any(value in late for op in inside for value in _reads(op))
    movable = all(is_side_effect_free(reader) for reader in readers)
    return readers if movable and not back else None


def _ops_before(root: Operation, until: Sequence[Operation | Block]) -> list[Operation]:
    """Returns the ops before `root` in its block, back to the first of `until`, in order."""
    waiting = set(until)
    found: list[Operation] = []
    op = root.prev_op
    while op is not None and waiting:
        waiting.discard(op)
        found.append(op)
        op = op.prev_op
    return found[::-1]


def _reads(op: Operation) -> list[SSAValue]:
    """Returns what an op and the ops in its regions read."""
    if not op.regions:
        return list(op.operands)
    return [value for inner in op.walk() for value in inner.operands]


def _move_behind(op: Operation, anchor: Operation) -> None:
    block = anchor.parent
    assert block is not None
    op.detach()
    block.insert_op_after(op, anchor)


def fuse_ops(
    kernel: str, rule: str, ops: Sequence[GEOp], results: Sequence[SSAValue], anchor: Operation
) -> FusionOp:
    """Replaces `ops` by one kernel that yields `results`, placed before `anchor`.

    Args:
        kernel: Name of the kernel.
        rule: Name of the rule, kept for logs.
        ops: Ops of one block, producers first.
        results: Values of `ops` that are used elsewhere.
        anchor: Every operand of `ops` from outside is defined before it.
    """
    outside = list(dict.fromkeys(_inputs(ops)))
    inputs = [value for value in outside if not is_scalar_constant(value)]
    block = Block(arg_types=[value.type for value in inputs])
    mapping: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for value in outside:
        if value not in mapping and isinstance(constant := value.owner, ConstantOp):
            clone = constant.clone()
            block.add_op(clone)
            mapping[value] = clone.result
    for op in ops:
        clone = op.clone(mapping)
        block.add_op(clone)
    block.add_op(YieldOp(*[mapping[result] for result in results]))
    fusion = FusionOp(kernel, inputs, Region(block), rule)
    fusion.location = fuse(op.location for op in ops)
    parent = anchor.parent
    assert parent is not None
    parent.insert_op_before(fusion, anchor)
    for old, new in zip(results, fusion.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in reversed(ops):
        op.detach()
        op.erase()
    return fusion


def is_scalar_constant(value: SSAValue) -> bool:
    """Whether a value is a constant of one element: it belongs to the kernel, not to its inputs."""
    return isinstance(value.owner, ConstantOp) and num_elements(value.type) == 1


def _inputs(ops: Sequence[GEOp]) -> list[SSAValue]:
    inside = {result for op in ops for result in op.results}
    return [operand for op in ops for operand in op.operands if operand not in inside]


def hoist_constants(values: Sequence[SSAValue], before: Operation) -> None:
    """Moves the constants among `values` in front of an op of the same block."""
    for value in values:
        if isinstance(constant := value.owner, ConstantOp) and constant.parent is before.parent:
            constant.detach()
            block = before.parent
            assert block is not None
            block.insert_op_before(constant, before)
