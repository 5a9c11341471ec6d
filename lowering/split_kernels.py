"""Kernels taken apart again: each op of a body becomes a kernel and a launch of its own."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.base import GEOp, int_attr
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge_exec import (
    BufferOp,
    CopyOp,
    KernelOp,
    LaunchOp,
    PlanOp,
    StreamOp,
    ViewOp,
    WeightOp,
)
from ge_dialect.ge_exec.memory import base_of, buffer_type
from ge_dialect.lowering.bufferizer import weight_attr
from ge_dialect.lowering.kernels import KernelTable, block_of


def split_launches(
    module: ModuleOp, plans: Sequence[PlanOp], kernels: Sequence[KernelOp]
) -> list[KernelOp]:
    """Replaces the launches of some kernels by launches of their ops, and erases those kernels.

    Args:
        module: That holds all of them.
        plans: Before memory is planned and events are inserted.
        kernels: Static, without regions.

    Returns:
        The kernels that are new.
    """
    chosen = {kernel.sym_name.data: kernel for kernel in kernels}
    before = {op for op in module.body.block.ops if isinstance(op, KernelOp)}
    table = KernelTable(kernels[0], {op.sym_name.data for op in before} | _other_names(module))
    for plan in plans:
        launches = [
            task
            for task in plan.all_tasks()
            if isinstance(task, LaunchOp) and task.kernel.string_value() in chosen
        ]
        for launch in launches:
            _Splitter(plan, launch, table).split(chosen[launch.kernel.string_value()])
        if launches:
            _number(plan)
    new = [op for op in module.body.block.ops if isinstance(op, KernelOp) and op not in before]
    for kernel in kernels:
        kernel.detach()
        kernel.erase()
    return new


def _other_names(module: ModuleOp) -> set[str]:
    return {op.sym_name.data for op in module.body.block.ops if isinstance(op, PlanOp)}


def _number(plan: PlanOp) -> None:
    """Numbers the tasks of a plan in the order of its blocks."""
    number = 0
    for stream in plan.streams:
        for op in stream.walk():
            if "id" in op.properties and op is not stream:
                op.properties["id"] = int_attr(number)
                number += 1


class _Splitter:
    """Takes one launch apart."""

    def __init__(self, plan: PlanOp, launch: LaunchOp, table: KernelTable):
        self.plan = plan
        self.launch = launch
        self.table = table
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.anchor: Operation = next(op for op in plan.body.block.ops if isinstance(op, StreamOp))

    def split(self, kernel: KernelOp) -> None:
        block = kernel.body.block
        assert block.last_op is not None
        self.buffers.update(zip(block.args, self.launch.inputs, strict=True))
        results = list(zip(block.last_op.operands, self.launch.outputs, strict=True))
        sources = {base_of(value)[0] for value in self.launch.inputs}
        for value, target in results:
            if base_of(target)[0] not in sources and isinstance(value.owner, GEOp):
                self.buffers.setdefault(value, target)
        for op in block.ops:
            if isinstance(op, GEOp) and not isinstance(op, ConstantOp):
                self._lower(op)
        for value, target in results:
            if (source := self._buffer(value)) is not target:
                self._task(CopyOp(0, source, target))
        self.launch.detach()
        self.launch.erase()

    def _lower(self, op: GEOp) -> None:
        view = op.view_of()
        if view is not None and op.results[0] not in self.buffers:
            source = self._buffer(op.operands[view])
            found = ViewOp(source, buffer_type(tensor_of(op.results[0])))
            found.location = op.location
            block_of(self.anchor).insert_op_before(found, self.anchor)
            self.buffers[op.results[0]] = found.result
            return
        symbol, values = self.table.kernel_of(op)
        sources = [self._buffer(value) for value in values]
        targets = [self.buffers.get(result) or self._new(result) for result in op.results]
        self._task(LaunchOp(0, symbol, sources, targets), op)

    def _buffer(self, value: SSAValue) -> SSAValue:
        """Returns where a value lies; a constant becomes a weight of the plan."""
        if (found := self.buffers.get(value)) is None:
            constant = value.owner
            assert isinstance(constant, ConstantOp)
            weight = WeightOp(weight_attr(constant), buffer_type(tensor_of(value)))
            block = block_of(self.anchor)
            assert block.first_op is not None
            block.insert_op_before(weight, block.first_op)
            found = self.buffers[value] = weight.result
        return found

    def _new(self, value: SSAValue) -> SSAValue:
        buffer = BufferOp(buffer_type(tensor_of(value)))
        block_of(self.anchor).insert_op_before(buffer, self.anchor)
        self.buffers[value] = buffer.result
        return buffer.result

    def _task(self, task: LaunchOp | CopyOp, op: GEOp | None = None) -> None:
        task.location = self.launch.location if op is None or not op.location else op.location
        block_of(self.launch).insert_op_before(task, self.launch)
