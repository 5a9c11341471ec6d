"""The `ge_exec` dialect: a plan, as kernels, arenas, buffers and streams of tasks."""

from __future__ import annotations

from xdsl.ir import Dialect

from ge_dialect.ge.access import quicken
from ge_dialect.ge_exec.arenas import ArenaOp, ArenaType
from ge_dialect.ge_exec.control import BranchOp, LoopOp
from ge_dialect.ge_exec.kernels import KernelOp, kernels_by_name
from ge_dialect.ge_exec.memory import (
    BufferOp,
    InputOp,
    ObjectOp,
    ObjectType,
    OutputOp,
    ViewOp,
    WeightOp,
)
from ge_dialect.ge_exec.plan import PlanOp, StreamOp
from ge_dialect.ge_exec.tasks import CopyOp, LaunchOp, RecordOp, StoreOp, WaitOp
from ge_dialect.ge_exec.tiling import TilingAttr

GE_EXEC = Dialect(
    "ge_exec",
    [
        KernelOp,
        PlanOp,
        ArenaOp,
        InputOp,
        WeightOp,
        BufferOp,
        ObjectOp,
        ViewOp,
        OutputOp,
        StreamOp,
        LaunchOp,
        CopyOp,
        StoreOp,
        BranchOp,
        LoopOp,
        RecordOp,
        WaitOp,
    ],
    [ArenaType, ObjectType, TilingAttr],
)
quicken(GE_EXEC.operations)

__all__ = [
    "GE_EXEC",
    "ArenaOp",
    "ArenaType",
    "BranchOp",
    "BufferOp",
    "CopyOp",
    "InputOp",
    "KernelOp",
    "LaunchOp",
    "LoopOp",
    "ObjectOp",
    "ObjectType",
    "OutputOp",
    "PlanOp",
    "RecordOp",
    "StoreOp",
    "StreamOp",
    "TilingAttr",
    "ViewOp",
    "WaitOp",
    "WeightOp",
    "kernels_by_name",
]
