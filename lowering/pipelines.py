"""The pipeline of this layer: from fused `ge` to a verified plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.passes import ModulePass

from ge_dialect.passes.pipelines import PipelinePass


@dataclass(frozen=True)
class LowerPipeline(PipelinePass):
    """Target, kernels, streams, memory, events, in GE's order; the result is verified.

    Options:
    - `streams`: at most this many streams. Default 1.
    - `target`: name of a chip, or path of a TOML file. Default: the target of the module, else
      Ascend910B1.
    - `memory-limit`: bytes of the work arena. Default: what the weights leave of the target's HBM.
    - `reuse`: whether buffers may take the bytes of dead ones. Default true.
    - `zero-copy`: whether pieces and joined values may be views. Default true.
    - `policy`: what the order of ops is for, as in `ge-schedule`. Default balanced.
    """

    name = "ge-lower"

    streams: int = 1
    target: str | None = None
    memory_limit: int | None = None
    reuse: bool = True
    zero_copy: bool = True
    policy: str = "balanced"

    def passes(self) -> Sequence[ModulePass]:
        from ge_dialect.lowering.assign_streams import AssignStreamsPass
        from ge_dialect.lowering.bufferize import BufferizePass
        from ge_dialect.lowering.insert_events import InsertEventsPass
        from ge_dialect.lowering.memory.plan_memory import PlanMemoryPass
        from ge_dialect.lowering.set_target import SetTargetPass
        from ge_dialect.lowering.tile_kernels import TileKernelsPass
        from ge_dialect.lowering.verify_plan import VerifyPlanPass
        from ge_dialect.passes.schedule.schedule import SchedulePass
        from ge_dialect.passes.zero_copy.zero_copy import ZeroCopyPass

        zero_copy = (ZeroCopyPass(),) if self.zero_copy else ()
        return (
            SetTargetPass(self.target),
            *zero_copy,
            SchedulePass(self.policy),
            BufferizePass(in_place_shared=self.streams == 1),
            TileKernelsPass(),
            AssignStreamsPass(self.streams),
            PlanMemoryPass(self.memory_limit, self.reuse),
            InsertEventsPass(),
            VerifyPlanPass(),
        )
