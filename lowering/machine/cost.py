"""What one kernel costs on a target: a roofline with the overheads of a launch.

Three layers, kept apart. The bytes are counted (`cache.py` says which of them reach HBM). The
bound knows nothing but the data sheet. The estimate is calibrated on published kernels and good for
ranking; docs/machine.md has its errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from ge_dialect.lowering.machine.tiles import Product, again_bytes, choose_tiling

if TYPE_CHECKING:
    from ge_dialect.targets.target import Target

_US = 1e6
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel does.

    Attributes:
        operations: By engine and element type, as `("cube", "f16")`. For the cube flops, two a
            multiply-add; for the vector unit operations on one element, the least there can be.
        read_bytes: Of all operands.
        written_bytes: Of all results.
        attention: The share of the cube's operations that it does at the pace of fused attention.
        cycles: Of one lane of the vector unit, by element type: what operations really take. A type
            that is not named takes a cycle for each operation.
        products: What the cube computes, where its shape is known.
    """

    operations: Mapping[tuple[str, str], float]
    read_bytes: int
    written_bytes: int
    attention: float = 0.0
    cycles: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    products: Sequence[Product] = ()

    @property
    def bytes(self) -> int:
        """Bytes that cross the boundary of the kernel."""
        return self.read_bytes + self.written_bytes


@dataclass(frozen=True, slots=True)
class KernelCost:
    """The predicted cost of a kernel.

    Attributes:
        us: Predicted time in a plan where it has the machine to itself, launch included.
        launch_us: The part of it before the kernel does anything.
        exposed_us: The part of it in which the kernel starts, fills its pipeline, or computing and
            moving do not overlap.
        demands: us of each resource at the rate that kernels reach: `hbm`, `l2`; `cube` and
            `vector`, or `core` where the two share their cores.
        bound_us: What no kernel on this target can go below, without the launch.
        limited_by: `compute`, `hbm`, `l2` or `launch`, whichever is the longest.
        hbm_bytes: That cross the boundary between L2 and HBM.
        figures: Of each resource, the figures of the target that its time rests on.
    """

    us: float
    launch_us: float
    exposed_us: float
    demands: Mapping[str, float]
    bound_us: float
    limited_by: str
    hbm_bytes: int = 0
    figures: Mapping[str, Sequence[str]] = field(
        default_factory=lambda: MappingProxyType(dict[str, Sequence[str]]())
    )

    @property
    def device_us(self) -> float:
        """Predicted time on the device: what a profiler shows for the kernel."""
        return self.us - self.launch_us

    @property
    def label(self) -> str:
        """How to speak of the number."""
        return "predicted"


def kernel_cost(work: Work, target: Target, hbm_bytes: int | None = None) -> KernelCost:
    """Returns the predicted cost of a kernel.

    With `c` the time to compute and `m` the time to move, each at the fraction of the peak that
    kernels reach, a kernel takes `launch + floor + max(c, m) + (1 - overlap) * min(c, m)`; fused
    attention fills its pipeline before. Cube and vector units work side by side in one kernel, and
    so do HBM and L2.

    The bound is `floor + max(c, bytes / L2 bandwidth, beyond L2 / HBM bandwidth)` at full peak,
    each vector operation a cycle. Operands, and results, as large as L2 may be there already, or
    stay there; the rest is beyond L2.

    Args:
        work: What it does.
        target: On which machine.
        hbm_bytes: Of its operands and results, those that L2 does not serve; None for all.

    Raises:
        ValueError: An engine is neither `cube` nor `vector`.

    Source: XLA's GPU performance model for the overlap term.
    """
    reached = target.efficiency
    engine_us = _engine_us(work, target)
    compute = max(engine_us.values(), default=0.0)
    missed = work.bytes if hbm_bytes is None else hbm_bytes
    missed += sum(again_bytes(product, target) for product in work.products)
    hbm = missed / (target.hbm.bandwidth * reached["hbm"]) * _US
    l2 = _l2_us(work, target)
    moving = max(hbm, l2)
    exposed = target.overhead.kernel_floor_us + (1 - reached["overlap"]) * min(compute, moving)
    if work.attention:
        exposed += target.overhead.attention_fill_us
    launch = target.overhead.launch_us
    parts = {"compute": compute, "hbm": hbm, "l2": l2}
    parts["launch"] = launch + target.overhead.kernel_floor_us
    return KernelCost(
        us=launch + exposed + max(compute, moving),
        launch_us=launch,
        exposed_us=exposed,
        demands=_demands(engine_us, {"hbm": hbm, "l2": l2}, target),
        bound_us=_bound_us(work, target),
        limited_by=max(parts, key=lambda name: parts[name]),
        hbm_bytes=missed,
        figures=_figures(work, engine_us, target),
    )


def copy_cost(size: int, target: Target, hbm_bytes: int | None = None) -> KernelCost:
    """Returns the predicted cost of copying `size` bytes."""
    return kernel_cost(Work({}, size, size), target, hbm_bytes)


def repeated_cost(costs: Sequence[KernelCost], times: int) -> KernelCost:
    """Returns the predicted cost of kernels that run one after the other, several times."""
    demands: dict[str, float] = {}
    for cost in costs:
        for name, us in cost.demands.items():
            demands[name] = demands.get(name, 0.0) + us * times
    longest = max(costs, key=lambda cost: cost.us, default=None)
    whole = times * sum(cost.us for cost in costs)
    return KernelCost(
        us=whole,
        launch_us=times * sum(cost.launch_us for cost in costs),
        exposed_us=times * sum(cost.exposed_us for cost in costs),
        demands=MappingProxyType(dict(sorted(demands.items()))),
        bound_us=times * sum(cost.bound_us for cost in costs),
        limited_by="launch" if longest is None else longest.limited_by,
        hbm_bytes=times * sum(cost.hbm_bytes for cost in costs),
        figures=MappingProxyType({} if longest is None else dict(longest.figures)),
    )


def resource_totals(work: Work, target: Target) -> dict[str, float]:
    """Returns us of each resource at its full peak, but for HBM: what no kernel goes below."""
    peak = _peak_us(work, target)
    if not target.split_cores:
        peak = {"core": max(peak.values(), default=0.0)}
    return peak | {"l2": _l2_peak_us(work, target)}


def _peak_us(work: Work, target: Target) -> dict[str, float]:
    """us of each engine at its peak."""
    found: dict[str, float] = {}
    for (engine, dtype), count in work.operations.items():
        found[engine] = found.get(engine, 0.0) + count / target.peak(engine, dtype) * _US
    return found


def _engine_us(work: Work, target: Target) -> dict[str, float]:
    """us of each engine as kernels use it."""
    found: dict[str, float] = {}
    for (engine, dtype), count in work.operations.items():
        if engine == "vector":
            count = max(count, work.cycles.get(dtype, 0.0))
        found[engine] = found.get(engine, 0.0) + count / target.peak(engine, dtype) * _US
    if "cube" in found:
        reached = target.efficiency
        slower = work.attention / reached["attention"] + (1 - work.attention) / reached["cube"]
        found["cube"] *= _stretch(work, target) * slower
    return found


def _stretch(work: Work, target: Target) -> float:
    """How much longer the cube takes since its cores are not all busy all the time."""
    flops = sum(product.flops for product in work.products)
    if not flops:
        return 1.0
    stretched = (choose_tiling(p, target).stretch * p.flops for p in work.products)
    return sum(stretched) / flops


def _l2_us(work: Work, target: Target) -> float:
    """us of L2 for what cores read and write; products read their operands once for each tile."""
    read = work.read_bytes
    for product in work.products:
        once = product.lhs_bytes + product.rhs_bytes
        read += max(0, choose_tiling(product, target).l2_bytes - once)
    l2, reached = target.l2, target.efficiency["l2"]
    return max(read / l2.bandwidth, work.written_bytes / l2.write_bandwidth) / reached * _US


def _demands(
    engine_us: Mapping[str, float], moving: Mapping[str, float], target: Target
) -> Mapping[str, float]:
    if target.split_cores:
        shared = dict(engine_us)
    else:  # kernels share whole cores, whichever unit of a core they keep busy
        shared = {"core": max(engine_us.values(), default=0.0)}
    found = {**shared, **moving}
    return MappingProxyType({name: us for name, us in sorted(found.items()) if us > 0})


def _figures(
    work: Work, engine_us: Mapping[str, float], target: Target
) -> Mapping[str, Sequence[str]]:
    cube = ["efficiency.attention"] if work.attention else []
    cube += ["efficiency.cube"] if work.attention < 1 else []
    cube += [f"cube_mkn.{dtype}" for engine, dtype in work.operations if engine == "cube"]
    by_engine = {"cube": tuple(cube), "vector": ("vector_cycles",)}
    found: dict[str, Sequence[str]] = {
        "hbm": ("tiers.hbm", "efficiency.hbm"),
        "l2": ("tiers.l2", "efficiency.l2"),
    }
    if target.split_cores:
        found |= {engine: by_engine[engine] for engine in engine_us}
    elif engine_us:
        found["core"] = by_engine[max(engine_us, key=lambda engine: engine_us[engine])]
    return MappingProxyType(found)


def _l2_peak_us(work: Work, target: Target) -> float:
    reading, writing = work.read_bytes / target.l2.bandwidth, 0.0
    if work.written_bytes:
        writing = work.written_bytes / target.l2.write_bandwidth
    return max(reading, writing) * _US


def _bound_us(work: Work, target: Target) -> float:
    beyond = sum(max(0, size - target.l2.size) for size in (work.read_bytes, work.written_bytes))
    parts = [*_peak_us(work, target).values(), _l2_peak_us(work, target)]
    parts.append(beyond / target.hbm.bandwidth * _US)
    return target.overhead.kernel_floor_us + max(parts)
