"""Branches and loops: tasks made of tasks, and what every task reads and writes.

The tasks inside run in order on the stream of the branch or loop. Everything they touch is declared
by the plan: a branch or loop allocates nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import FormattedOp, I64Attr, int_attr
from ge_dialect.ge_exec.memory import AnyStorage
from ge_dialect.ge_exec.tasks import CopyOp, LaunchOp, StoreOp


@irdl_op_definition
class BranchOp(FormattedOp):
    """Runs one of two lists of tasks, by the truth value in a buffer.

    Constraints:
    - (C1) Holds only launches, copies, stores, branches and loops.

    Example:
    ```mlir
    ge_exec.branch 2 %c : memref<i1, "hbm"> then {
      ge_exec.copy 3 %a to %r : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
    } else {
      ge_exec.copy 4 %b to %r : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
    }
    ```
    """

    name = "ge_exec.branch"

    id = prop_def(I64Attr)
    condition = operand_def(AnyStorage)
    then_tasks = region_def("single_block")
    else_tasks = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = (
        "$id $condition `:` type($condition) `then` $then_tasks `else` $else_tasks attr-dict"
    )

    def __init__(
        self,
        id: int,
        condition: SSAValue,
        then_tasks: Sequence[Operation] = (),
        else_tasks: Sequence[Operation] = (),
    ):
        super().__init__(
            operands=[condition],
            properties={"id": int_attr(id)},
            regions=[Region(Block(then_tasks)), Region(Block(else_tasks))],
        )

    def verify_(self) -> None:
        _expect_tasks(self)  # (C1)


@irdl_op_definition
class LoopOp(FormattedOp):
    """Runs a list of tasks at most `limit` times, as long as the truth value in `go_on` holds.

    Before each run the number of the iteration, from 0, is written to `iteration`, and `go_on` is
    read: the tasks write it, as all values that one iteration hands to the next. `trips` says how
    often it runs, where that is known.

    Constraints:
    - (C1) Holds only launches, copies, stores, branches and loops.

    Example:
    ```mlir
    ge_exec.loop 3 %i below %n while %c
      : memref<i64, "hbm">, memref<i64, "hbm">, memref<i1, "hbm"> {
      ge_exec.launch 4 @Relu_0 ins(%a : memref<4xf32, "hbm">) outs(%a : memref<4xf32, "hbm">)
    }
    ```
    """

    name = "ge_exec.loop"

    id = prop_def(I64Attr)
    iteration = operand_def(AnyStorage)
    limit = operand_def(AnyStorage)
    go_on = operand_def(AnyStorage)
    trips = opt_prop_def(I64Attr)
    tasks = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = (
        "$id $iteration `below` $limit `while` $go_on (`trips` $trips^)?"
        " `:` type($iteration) `,` type($limit) `,` type($go_on) $tasks attr-dict"
    )

    def __init__(
        self,
        id: int,
        iteration: SSAValue,
        limit: SSAValue,
        go_on: SSAValue,
        tasks: Sequence[Operation] = (),
        trips: int | None = None,
    ):
        super().__init__(
            operands=[iteration, limit, go_on],
            properties={"id": int_attr(id), "trips": None if trips is None else int_attr(trips)},
            regions=[Region(Block(tasks))],
        )

    @property
    def known_trips(self) -> int | None:
        """How often the loop runs, where that is known before the run."""
        return None if self.trips is None else self.trips.value.data

    def verify_(self) -> None:
        _expect_tasks(self)  # (C1)


SimpleTaskOp: TypeAlias = LaunchOp | CopyOp | StoreOp
"""Tasks without tasks inside."""

ControlOp: TypeAlias = BranchOp | LoopOp
"""Tasks made of tasks."""

TaskOp: TypeAlias = SimpleTaskOp | ControlOp
"""The ops that read and write."""


def _expect_tasks(op: ControlOp) -> None:
    for region in op.regions:
        for inner in region.block.ops:
            if not isinstance(inner, TaskOp):
                raise VerifyException(f"expected tasks in '{op.name}', got '{inner.name}'")


def task_id(op: TaskOp) -> int:
    """Returns the place of a task in the order of the plan."""
    # Not `op.id`: every stage asks, for every task.
    number: Any = op.properties["id"]
    return number.value.data


def inner_tasks(op: TaskOp) -> Iterator[TaskOp]:
    """Yields the tasks directly inside a branch or loop, region by region."""
    for region in op.regions:
        for inner in region.block.ops:
            assert isinstance(inner, TaskOp)
            yield inner


def flatten(op: TaskOp) -> Sequence[TaskOp]:
    """Returns a task and all tasks inside it, in the order of the plan."""
    if not op.regions:
        return (op,)
    return [op, *(one for inner in inner_tasks(op) for one in flatten(inner))]


def reads(op: TaskOp) -> Sequence[SSAValue]:
    """Returns what a task reads, for a branch or loop what the tasks inside read as well."""
    if isinstance(op, ControlOp):
        inside = [value for inner in inner_tasks(op) for value in reads(inner)]
        return list(dict.fromkeys([*own_reads(op), *inside]))
    return own_reads(op)


def writes(op: TaskOp) -> Sequence[SSAValue]:
    """Returns what a task writes, for a branch or loop what the tasks inside write as well."""
    if isinstance(op, ControlOp):
        inside = [value for inner in inner_tasks(op) for value in writes(inner)]
        return list(dict.fromkeys([*own_writes(op), *inside]))
    return own_writes(op)


def own_reads(op: TaskOp) -> Sequence[SSAValue]:
    """Returns what a task reads itself, without the tasks inside."""
    match op:
        case LaunchOp():
            return op.accesses()[0]
        case CopyOp():
            return (op.source,)
        case StoreOp():
            return (op.source, op.at)
        case BranchOp():
            return (op.condition,)
        case LoopOp():
            return (op.limit, op.go_on)


def own_writes(op: TaskOp) -> Sequence[SSAValue]:
    """Returns what a task writes itself, without the tasks inside."""
    match op:
        case LaunchOp():
            return op.accesses()[1]
        case CopyOp() | StoreOp():
            return (op.target,)
        case BranchOp():
            return ()
        case LoopOp():
            return (op.iteration,)
