"""Blocks as lists of steps: the registered semantics, with all look-ups done once.

The interpreter of xDSL asks anew for every op what it is, where its operands are and how they are
grouped. A runtime that executes the same kernel many times asks once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.ge.constants import ConstantOp, array_of
from ge_dialect.ge.structure import FusionOp, YieldOp
from ge_dialect.ge.types import tensor_of
from ge_dialect.interpreters.registry import (
    Semantics,
    contiguous,
    find_semantics,
    group_arguments,
)

Values: TypeAlias = tuple[Any, ...]
Run: TypeAlias = Callable[[Values], Values]
Group: TypeAlias = int | tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class _Step:
    """One op: `function(op, arguments)`, whose results go to slots of their own.

    `groups` are slots, or tuples of slots, one an operand definition; None for an absent one.
    """

    function: Semantics
    op: Operation
    groups: tuple[Group, ...]
    results: tuple[int, ...]


def compile_block(block: Block) -> Run | None:
    """Returns what runs a block, thread-safe; None where it holds ops whose meaning is a region.

    Args:
        block: Without references to values outside it; ends with `ge.yield`.
    """
    builder = _Builder()
    slots = [builder.slot(arg) for arg in block.args]
    outputs = builder.add(block)
    if outputs is None:
        return None
    constants, steps, size = builder.constants, tuple(builder.steps), builder.size

    def run(arguments: Values) -> Values:
        values: list[Any] = [None] * size
        for slot, value in constants:
            values[slot] = value
        for slot, value in zip(slots, arguments, strict=True):
            values[slot] = contiguous(value)
        with np.errstate(all="ignore"):
            for step in steps:
                found = step.function(step.op, *_gather(values, step.groups))
                if isinstance(found, tuple):
                    for slot, value in zip(step.results, found, strict=True):
                        values[slot] = contiguous(value)
                else:
                    values[step.results[0]] = contiguous(found)
        return tuple(values[slot] for slot in outputs)

    return run


def _gather(values: list[Any], groups: tuple[Group, ...]) -> list[Any]:
    return [
        values[group]
        if isinstance(group, int)
        else None
        if group is None
        else tuple(values[slot] for slot in group)
        for group in groups
    ]


class _Builder:
    """Collects the steps of a block and of the fusions in it."""

    def __init__(self) -> None:
        self.size = 0
        self.constants: list[tuple[int, Any]] = []
        self.steps: list[_Step] = []
        self._slots: dict[SSAValue, int] = {}

    def slot(self, value: SSAValue) -> int:
        """Returns a new slot, that of a value."""
        self._slots[value] = self.size
        self.size += 1
        return self._slots[value]

    def add(self, block: Block) -> tuple[int, ...] | None:
        """Adds the ops of a block; returns the slots of what it yields, None where it cannot."""
        for op in block.ops:
            if isinstance(op, YieldOp):
                return tuple(self._slots[value] for value in op.arguments)
            if isinstance(op, ConstantOp):
                array = array_of(op.value, tensor_of(op.result))
                self.constants.append((self.slot(op.result), array))
            elif not (self._inline(op) if isinstance(op, FusionOp) else self._step(op)):
                return None
        return None

    def _inline(self, op: FusionOp) -> bool:
        for arg, value in zip(op.body.block.args, op.arguments, strict=True):
            self._slots[arg] = self._slots[value]
        if (yielded := self.add(op.body.block)) is None:
            return False
        self._slots.update(zip(op.results, yielded, strict=True))
        return True

    def _step(self, op: Operation) -> bool:
        function = find_semantics(op)
        if function is None or op.regions:
            return False
        operands = [self._slots[value] for value in op.operands]
        groups = tuple(group_arguments(op, operands))
        self.steps.append(_Step(function, op, groups, tuple(map(self.slot, op.results))))
        return True
