"""The memory log that users of GE look for: a line for each value, tagged `[IMAS]`.

Source: the keys and their order are those of GE's own log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ge_dialect.lowering.memory.memory_map import Region, memory_map
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools.report.summary import memory

if TYPE_CHECKING:
    from ge_dialect.tools.api import CompiledPlan

_MEMORY_TYPES = {"hbm": 2, "l1": 1 << 16, "l2": 1 << 17}
"""GE's number of each kind of memory."""


def memory_lines(plan: CompiledPlan) -> str:
    """Returns the lines of a plan, weights left out, and one with its totals.

    Sizes and offsets are in bytes, life times in moments of the memory map.
    """
    planned = plan_of(plan.module)
    found = memory_map(planned)
    alignment = plan.options.memory_alignment or target_of(plan.module).hbm.alignment
    regions = [region for region in found.regions if region.kind != "weight"]
    lines = [_line(plan.name, region, alignment) for region in regions]
    hbm = memory(planned)["hbm"]
    lost = hbm["peak"] / hbm["lower_bound"] - 1 if hbm["lower_bound"] else 0.0
    lines.append(
        f"[IMAS]{plan.name} memory size[{hbm['peak']}] theoretical minimum"
        f"[{hbm['lower_bound']}] fragmentation[{lost:.2%}]\n"
    )
    return "".join(lines)


def _line(model: str, region: Region, alignment: int) -> str:
    size = -(-region.size // alignment) * alignment
    stream = 0 if region.stream is None else region.stream
    reference = int(region.kind in ("input", "output"))
    return (
        f"[IMAS]Set {model} name[{region.nodes or region.name}]"
        f" optype[{region.op_type or 'Data'}] output[0] offset to [{region.offset}]"
        f" stream_id[{stream}] memtype[{_MEMORY_TYPES[region.tier]}] size[{size}]"
        f" realsize[{region.size}] noalignsize[{region.size}]"
        f" life time begin[{region.begin}] life time end[{region.end - 1}]"
        f" child[0:0:0:{reference}] isref[0] batch[]\n"
    )
