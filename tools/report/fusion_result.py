"""`fusion_result.json`, with GE's keys, and with what nearly happened.

GE lists how often each rule matched and took effect, as texts. Here the rules that nearly matched
are listed as well, in a key that readers of GE's file do not look at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ge_dialect.remarks import Kind

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.rule import Rule
    from ge_dialect.remarks import Remark

FUSION_PASS = "ge-fuse-rules"
GRAPH = "session_and_graph_id_0_0"


def fusion_result(
    fired: Mapping[str, int], remarks: Sequence[Remark], rules: Iterable[Rule]
) -> dict[str, Any]:
    """Returns the content of `fusion_result.json`.

    Args:
        fired: How often each rule fired.
        remarks: Of the compilation.
        rules: All rules, for their kind.
    """
    missed = [r for r in remarks if r.kind is Kind.MISSED and r.pass_name == FUSION_PASS]
    near = Counter(remark.rule for remark in missed)
    graph: dict[str, dict[str, str]] = {}
    on_chip: dict[str, dict[str, str]] = {}
    for rule in sorted(rules, key=lambda rule: rule.name):
        effect = fired.get(rule.name, 0)
        if not (matched := effect + near[rule.name]):
            continue
        counts = {"effect_times": str(effect), "match_times": str(matched)}
        if rule.on_chip:
            on_chip[f"{rule.name}FusionPass"] = counts | {"repository_hit_times": "0"}
        else:
            graph[f"{rule.name}FusionPass"] = counts
    return {
        GRAPH: {
            "graph_fusion": graph,
            "ub_fusion": on_chip,
            "near_miss": [_near_miss(remark) for remark in missed],
        }
    }


def _near_miss(remark: Remark) -> dict[str, str | None]:
    return {
        "pass": f"{remark.rule}FusionPass",
        "anchor": remark.location or remark.op_name,
        "reason": None if remark.reason_class is None else str(remark.reason_class),
        "failed_condition": remark.message,
        "expected": remark.wanted,
        "actual": remark.found,
        "suggestion": remark.fix,
    }
