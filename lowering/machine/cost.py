"""What one kernel costs on a target: a roofline with the overheads of a launch.

Two numbers: an estimate, calibrated on published kernels and good for ranking (13 to 26 % median
error for a kernel), and a lower bound out of nothing but the data sheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ge_dialect.targets.target import Target

_US = 1e6


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel does.

    Attributes:
        operations: By engine and element type, as `("cube", "f16")`. For the cube flops, two a
            multiply-add; for the vector unit operations on one element, an expensive function
            counting as many as `Target.vector_cycles` says.
        read_bytes: Of all operands, from HBM.
        written_bytes: Of all results, to HBM.
        is_attention: Whether the cube works at the pace of fused attention.
    """

    operations: Mapping[tuple[str, str], float]
    read_bytes: int
    written_bytes: int
    is_attention: bool = False

    @property
    def bytes(self) -> int:
        """Bytes that cross the boundary of the kernel."""
        return self.read_bytes + self.written_bytes


@dataclass(frozen=True, slots=True)
class KernelCost:
    """The predicted cost of a kernel that has the machine to itself.

    Attributes:
        us: Predicted time in a plan, launch included.
        launch_us: The part of it before the kernel does anything.
        exposed_us: The part of it in which computing and moving do not overlap.
        demands: us of each resource at its full rate: `hbm`; `cube` and `vector`, or `core`
            where the two share their cores.
        bound_us: What no kernel on this target can go below, without the launch.
        limited_by: `compute`, `hbm` or `launch`, whichever is the longest.
    """

    us: float
    launch_us: float
    exposed_us: float
    demands: Mapping[str, float]
    bound_us: float
    limited_by: str

    @property
    def device_us(self) -> float:
        """Predicted time on the device: what a profiler shows for the kernel."""
        return self.us - self.launch_us

    @property
    def label(self) -> str:
        """How to speak of the number."""
        return "predicted"


def kernel_cost(work: Work, target: Target) -> KernelCost:
    """Returns the predicted cost of a kernel.

    With `c` the time to compute and `m` the time to move, each at the fraction of the peak that
    kernels reach, a kernel takes `launch + floor + max(c, m) + (1 - overlap) * min(c, m)`. Cube
    and vector units work side by side in one kernel.

    The bound is `floor + max(c, bytes / L2 bandwidth, (bytes - L2 size) / HBM bandwidth)` at full
    peak: what fits in L2 may still be there.

    Raises:
        ValueError: An engine is neither `cube` nor `vector`.

    Source: XLA's GPU performance model for the overlap term; the bound held for 99.5 % of 26,997
    published kernels of a first-generation Ascend 910.
    """
    reached = target.efficiency
    cube_reached = reached["attention" if work.is_attention else "cube"]
    peak_us = _engine_us(work, target)
    engine_us = {
        engine: us / cube_reached if engine == "cube" else us for engine, us in peak_us.items()
    }
    compute = max(engine_us.values(), default=0.0)
    hbm = work.bytes / (target.hbm.bandwidth * reached["hbm"]) * _US
    exposed = (1 - reached["overlap"]) * min(compute, hbm)
    launch = target.overhead.launch_us + target.overhead.kernel_floor_us
    parts = {"compute": compute, "hbm": hbm, "launch": launch}
    return KernelCost(
        us=launch + max(compute, hbm) + exposed,
        launch_us=target.overhead.launch_us,
        exposed_us=target.overhead.kernel_floor_us + exposed,
        demands=_demands(engine_us, hbm, target),
        bound_us=_bound_us(work, max(peak_us.values(), default=0.0), target),
        limited_by=max(parts, key=lambda name: parts[name]),
    )


def copy_cost(size: int, target: Target) -> KernelCost:
    """Returns the predicted cost of copying `size` bytes within HBM."""
    return kernel_cost(Work({}, size, size), target)


def repeated_cost(costs: Sequence[KernelCost], times: int) -> KernelCost:
    """Returns the predicted cost of kernels that run one after the other, several times."""
    demands: dict[str, float] = {}
    for cost in costs:
        for name, us in cost.demands.items():
            demands[name] = demands.get(name, 0.0) + us * times
    longest = max(costs, key=lambda cost: cost.us, default=None)
    return KernelCost(
        us=times * sum(cost.us for cost in costs),
        launch_us=times * sum(cost.launch_us for cost in costs),
        exposed_us=times * sum(cost.exposed_us for cost in costs),
        demands=MappingProxyType(dict(sorted(demands.items()))),
        bound_us=times * sum(cost.bound_us for cost in costs),
        limited_by="launch" if longest is None else longest.limited_by,
    )


def _engine_us(work: Work, target: Target) -> dict[str, float]:
    """us of each engine at its peak."""
    found: dict[str, float] = {}
    for (engine, dtype), count in work.operations.items():
        found[engine] = found.get(engine, 0.0) + count / target.peak(engine, dtype) * _US
    return found


def _demands(engine_us: Mapping[str, float], hbm: float, target: Target) -> Mapping[str, float]:
    if target.split_cores:
        shared = dict(engine_us)
    else:  # kernels share whole cores, whichever unit of a core they keep busy
        shared = {"core": max(engine_us.values(), default=0.0)}
    found = {**shared, "hbm": hbm}
    return MappingProxyType({name: us for name, us in sorted(found.items()) if us > 0})


def _bound_us(work: Work, compute: float, target: Target) -> float:
    l2 = target.l2
    through_l2 = work.bytes / max(l2.bandwidth, l2.write_bandwidth) * _US
    beyond_l2 = max(0, work.bytes - l2.size) / target.hbm.bandwidth * _US
    return target.overhead.kernel_floor_us + max(compute, through_l2, beyond_l2)
