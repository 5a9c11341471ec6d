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
    - `no-reuse`: nodes and op types whose results share bytes with nothing, as in `ge-plan-memory`;
      where there are some, nothing is computed in place.
    - `alignment`: of addresses, in bytes. Default: that of the target.
    - `zero-copy`: whether pieces and joined values may be views. Default true.
    - `policy`: whether memory or time comes first, as in `ge-schedule` and `ge-plan-memory`.
      Default: the attribute `ge.memory_policy` of the module, else balanced.
    - `l2-limit`: bytes of the L2 in which buffers may stay, as in `ge-plan-l2`. Default 0: a cache
      decides for itself.
    - `stream-labels`: `NODE=LABEL` each, as `labels` of `ge-assign-streams`. Default none.
    """

    name = "ge-lower"

    streams: int = 1
    target: str | None = None
    memory_limit: int | None = None
    reuse: bool = True
    no_reuse: tuple[str, ...] = ()
    alignment: int | None = None
    zero_copy: bool = True
    policy: str | None = None
    l2_limit: int | None = 0
    stream_labels: tuple[str, ...] = ()

    def passes(self) -> Sequence[ModulePass]:
        from ge_dialect.lowering.assign_streams import AssignStreamsPass
        from ge_dialect.lowering.bufferize import BufferizePass
        from ge_dialect.lowering.insert_events import InsertEventsPass
        from ge_dialect.lowering.memory.plan_l2 import PlanL2Pass
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
            BufferizePass(not self.no_reuse, in_place_shared=self.streams == 1),
            TileKernelsPass(),
            AssignStreamsPass(self.streams, labels=self.stream_labels),
            PlanMemoryPass(
                self.memory_limit,
                self.reuse,
                policy=self.policy,
                no_reuse=self.no_reuse,
                alignment=self.alignment,
            ),
            PlanL2Pass(self.l2_limit),
            InsertEventsPass(),
            VerifyPlanPass(),
        )
