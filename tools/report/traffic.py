"""HBM traffic, counted the same everywhere.

Traffic is the bytes of each HBM operand read and each HBM result written by each task, weights
included, views nothing. Source: the definition in the machine model.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.types import byte_size
from ge_dialect.ge_exec import PlanOp
from ge_dialect.ge_exec.memory import buffer_bytes
from ge_dialect.ge_exec.tasks import reads, writes


def graph_ops(module: ModuleOp) -> Iterator[GEOp]:
    """Yields the ops of a graph that are not constants; what is inside a kernel is not counted."""
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and not function.is_declaration:
            for op in function.body.block.ops:
                if isinstance(op, GEOp) and not isinstance(op, ConstantOp):
                    yield op


def count_ops(module: ModuleOp) -> int:
    """Returns the number of ops of a graph, constants left out."""
    return sum(1 for _ in graph_ops(module))


def graph_traffic(module: ModuleOp) -> int:
    """Returns the bytes that a graph moves where every op is a kernel; unknown sizes count 0."""
    return sum(
        byte_size(value.type) or 0
        for op in graph_ops(module)
        if op.view_of() is None
        for value in (*op.operands, *op.results)
    )


def plan_traffic(plan: PlanOp) -> int:
    """Returns the bytes that the tasks of a plan move."""
    return sum(
        buffer_bytes(value.type) for task in plan.tasks() for value in (*reads(task), *writes(task))
    )


def compulsory_traffic(plan: PlanOp) -> int:
    """Returns the bytes that no plan can avoid: weights and inputs read, outputs written, once."""
    placed = sum(op.size for op in (*plan.weights, *plan.inputs))
    return placed + sum(buffer_bytes(op.buffer.type) for op in plan.outputs)
