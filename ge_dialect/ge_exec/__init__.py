"""The `ge_exec` dialect: a plan, as kernels, arenas, buffers and streams of tasks."""

from __future__ import annotations

from xdsl.ir import Dialect

from ge_dialect.ge_exec.kernels import KernelOp, kernels_by_name
from ge_dialect.ge_exec.memory import (
    ArenaOp,
    ArenaType,
    BufferOp,
    InputOp,
    OutputOp,
    ViewOp,
    WeightOp,
)
from ge_dialect.ge_exec.plan import PlanOp, StreamOp
from ge_dialect.ge_exec.tasks import CopyOp, LaunchOp, RecordOp, WaitOp

GE_EXEC = Dialect(
    "ge_exec",
    [
        KernelOp,
        PlanOp,
        ArenaOp,
        InputOp,
        WeightOp,
        BufferOp,
        ViewOp,
        OutputOp,
        StreamOp,
        LaunchOp,
        CopyOp,
        RecordOp,
        WaitOp,
    ],
    [ArenaType],
)

__all__ = [
    "GE_EXEC",
    "ArenaOp",
    "ArenaType",
    "BufferOp",
    "CopyOp",
    "InputOp",
    "KernelOp",
    "LaunchOp",
    "OutputOp",
    "PlanOp",
    "RecordOp",
    "StreamOp",
    "ViewOp",
    "WaitOp",
    "WeightOp",
    "kernels_by_name",
]
