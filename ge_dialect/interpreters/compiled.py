"""Blocks as lists of steps: the registered semantics, with all look-ups done once.

The interpreter of xDSL asks anew for every op what it is, where its operands are and how they are
grouped. A runtime that executes the same kernel many times asks once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class Program:
    """The steps of a block, thread-safe.

    Attributes:
        arguments: Slots of the arguments of the block.
        outputs: Slots of what it yields.
        constants: Slots and values.
        steps: In order.
        size: How many slots there are.
        slots: Of each value.
    """

    arguments: tuple[int, ...]
    outputs: tuple[int, ...]
    constants: tuple[tuple[int, Any], ...]
    steps: tuple[_Step, ...]
    size: int
    slots: Mapping[SSAValue, int]

    def run(
        self,
        arguments: Values,
        places: Sequence[Any] | None = None,
        instead: Mapping[Operation, Semantics] | None = None,
        known: dict[int, Any] | None = None,
    ) -> Values:
        """Returns what the block yields.

        Args:
            arguments: One an argument of the block.
            places: By slot, the array that a result is to be put into, or a function that passes it
                on, or None.
            instead: What computes some ops, in place of their semantics.
            known: By slot, values that are there already, or None; afterwards all of them.
        """
        values: list[Any] = [None] * self.size
        known = {} if known is None else known
        for slot, value in known.items():
            values[slot] = value
        for slot, value in self.constants:
            values[slot] = value
        for slot, value in zip(self.arguments, arguments, strict=True):
            values[slot] = contiguous(value)
        with np.errstate(all="ignore"):
            for step in self.steps:
                function = step.function
                if instead is not None and function is not _unchanged:
                    function = instead.get(step.op, function)
                found = function(step.op, *_gather(values, step.groups))
                results = found if isinstance(found, tuple) else (found,)
                for slot, value in zip(step.results, results, strict=True):
                    place = None if places is None else places[slot]
                    values[slot] = contiguous(value) if place is None else _put(place, value)
        for slot in known:
            known[slot] = values[slot]
        return tuple(values[slot] for slot in self.outputs)

    def loading(self, slots: Collection[int]) -> Program:
        """Returns the program with steps that put arguments to their places, each right before the
        first step that reads it.

        Args:
            slots: Of arguments.
        """
        waiting = set(slots)
        steps: list[_Step] = []
        for step in self.steps:
            for slot in sorted(waiting.intersection(_slots(step.groups))):
                steps.append(_Step(_unchanged, step.op, (slot,), (slot,)))
                waiting.discard(slot)
            steps.append(step)
        return replace(self, steps=tuple(steps))

    def beside(self, known: Collection[int], wanted: Collection[int]) -> Program:
        """Returns the program without the steps that only lead to what is known.

        Args:
            known: Slots that have values.
            wanted: Slots that are to have some, beside the outputs.
        """
        needed = {*self.outputs, *wanted} - {*known}
        steps: list[_Step] = []
        for step in reversed(self.steps):
            if needed.isdisjoint(step.results):
                continue
            steps.append(step)
            needed.update(slot for slot in _slots(step.groups) if slot not in known)
        return replace(self, steps=tuple(reversed(steps)))


def _slots(groups: tuple[Group, ...]) -> list[int]:
    """Returns the slots that a step reads."""
    found: list[int] = []
    for group in groups:
        found += (group,) if isinstance(group, int) else group or ()
    return found


def _unchanged(op: Operation, value: Any) -> Any:
    return value


def _put(place: Any, value: Any) -> Any:
    """Copies a result to its place, of the same shape and type, and returns that.

    Raises:
        ValueError: It is of another.
    """
    array = np.asarray(value)
    if callable(place):
        return place(array)
    if array.shape != place.shape or array.dtype != place.dtype:
        raise ValueError(
            f"expected a tile of {place.dtype}{list(place.shape)},"
            f" got {array.dtype}{list(array.shape)}"
        )
    np.copyto(place, array)
    return place


def compile_block(block: Block) -> Run | None:
    """Returns what runs a block, thread-safe; None where it holds ops whose meaning is a region.

    Args:
        block: Without references to values outside it; ends with `ge.yield`.
    """
    program = compile_program(block)
    return None if program is None else program.run


def compile_program(block: Block) -> Program | None:
    """Returns the steps of a block; as `compile_block`."""
    builder = _Builder()
    arguments = tuple(builder.slot(arg) for arg in block.args)
    outputs = builder.add(block)
    if outputs is None:
        return None
    return Program(
        arguments,
        outputs,
        tuple(builder.constants),
        tuple(builder.steps),
        builder.size,
        builder.slots,
    )


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
        self.slots: dict[SSAValue, int] = {}

    def slot(self, value: SSAValue) -> int:
        """Returns a new slot, that of a value."""
        self.slots[value] = self.size
        self.size += 1
        return self.slots[value]

    def add(self, block: Block) -> tuple[int, ...] | None:
        """Adds the ops of a block; returns the slots of what it yields, None where it cannot."""
        for op in block.ops:
            if isinstance(op, YieldOp):
                return tuple(self.slots[value] for value in op.arguments)
            if isinstance(op, ConstantOp):
                array = array_of(op.value, tensor_of(op.result))
                self.constants.append((self.slot(op.result), array))
            elif not (self._inline(op) if isinstance(op, FusionOp) else self._step(op)):
                return None
        return None

    def _inline(self, op: FusionOp) -> bool:
        for arg, value in zip(op.body.block.args, op.arguments, strict=True):
            self.slots[arg] = self.slots[value]
        if (yielded := self.add(op.body.block)) is None:
            return False
        self.slots.update(zip(op.results, yielded, strict=True))
        return True

    def _step(self, op: Operation) -> bool:
        function = find_semantics(op)
        if function is None or op.regions:
            return False
        operands = [self.slots[value] for value in op.operands]
        groups = tuple(group_arguments(op, operands))
        self.steps.append(_Step(function, op, groups, tuple(map(self.slot, op.results))))
        return True
