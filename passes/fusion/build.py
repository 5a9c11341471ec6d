"""Builds `ge.fusion` out of matched ops: the body is the ops themselves, so the meaning stays."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.structure import FusionOp, YieldOp
from ge_dialect.ge.types import num_elements
from ge_dialect.locations import fuse


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
