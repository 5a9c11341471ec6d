"""The summary as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ge_dialect.tools.report.prediction import prediction_lines

MAX_MISSES = 5
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def render(summary: Mapping[str, Any]) -> str:
    """Returns a short text: what changed, what was fused, memory, streams, prediction."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(s: Mapping[str, Any]) -> Iterator[str]:
    yield f"{s['model']} for {s['target']}: {s['nodes_before']} -> {s['nodes_after']} nodes"
    active = [f"{p['name']} {p['rewrites']}" for p in s["passes"] if p["rewrites"]]
    yield f"  passes    {', '.join(active) or 'nothing to do'}"
    fused = [f"{f['kernel']} x{f['count']}" for f in s["fusions"]]
    yield f"  fused     {', '.join(fused) or 'nothing'}"
    yield from _misses(s["missed"])
    if s["host_calls"]:
        yield f"  host      {', '.join(s['host_calls'])}"
    hbm = s["memory"]["hbm"]
    optimal = " (optimal)" if hbm["peak"] == hbm["lower_bound"] else ""
    yield (
        f"  memory    work {size(hbm['peak'])} of at least {size(hbm['lower_bound'])}{optimal},"
        f" weights {size(hbm['weights'])}, reuse x{hbm['reuse_factor']:.2f}"
    )
    if (l2 := s["memory"].get("l2")) is not None:
        yield (
            f"            {l2['buffers']} buffers stay in {size(l2['peak'])} of the L2,"
            f" {size(l2['saved_bytes'])} of traffic saved"
        )
    chip = s["memory"]["l1"]
    if chip["kernels"]:
        yield (
            f"  on chip   L1 {size(chip['peak'])} of {size(chip['size'])} by {chip['kernel']},"
            f" UB {size(chip['ub_peak'])}, L0C {size(chip['l0c_peak'])}; {chip['tiles']} tiles"
        )
    traffic = s["traffic"]
    yield (
        f"  traffic   {size(traffic['hbm_bytes'])} predicted,"
        f" {ratio(traffic['hbm_bytes'], traffic['compulsory_bytes'])} the minimum,"
        f" {ratio(traffic['hbm_bytes'], traffic['unfused_bytes'])} unfused"
    )
    yield (
        f"  plan      {s['tasks']} tasks, {s['kernels']} kernels, {s['streams']} streams,"
        f" {s['events']} events"
    )
    yield from prediction_lines(s)
    yield f"  compiled  in {s['compile_seconds']:.2f} s"


def host_lines(summary: Mapping[str, Any]) -> str:
    """Returns a line for each op type that runs on the host: how often, and its first nodes."""
    return "".join(
        f"host: {call['op']} x{call['count']}{_nodes(call['nodes'], call['count'])}\n"
        for call in summary["host_nodes"]
    )


def _nodes(names: list[str], count: int) -> str:
    if not names:
        return ""
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return f" at {', '.join(names)}{more}"


def _misses(missed: list[Mapping[str, Any]]) -> Iterator[str]:
    fusions = [m for m in missed if m["pass"] == "ge-fuse-rules"]
    for miss in fusions[:MAX_MISSES]:
        where = f" at {miss['node']}" if miss["node"] else ""
        found = f" (found {miss['found']}, wanted {miss['wanted']})" if miss["wanted"] else ""
        yield f"  missed    {miss['rule']}{where}: {miss['message']}{found}"
        if miss["hint"]:
            yield f"            fix: {miss['hint']}"
    if len(fusions) > MAX_MISSES:
        yield f"  missed    {len(fusions) - MAX_MISSES} more, in --summary"


def size(count: int) -> str:
    """Returns bytes as a person reads them; exact below 1024."""
    value = float(count)
    for unit in UNITS:
        if value < 1024 or unit == UNITS[-1]:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError("the last unit returns")


def ratio(a: int, b: int) -> str:
    """Returns `a / b` as `1.23x`."""
    return f"{a / b:.2f}x" if b else "-"
