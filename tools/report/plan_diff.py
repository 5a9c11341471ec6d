"""`ge-opt --diff-plan a.om b.om`: what changed between two compilations, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ge_dialect.tools.report.plan_facts import PlanFacts
from ge_dialect.tools.report.text import size

SHOWN = 12
"""Lines of one kind, at most; the JSON form has all."""

_BYTES = ("memory", "file")
_WORDS = {
    "arena": "work arena",
    "lower_bound": "lower bound",
    "io": "inputs and outputs",
    "traffic": "HBM traffic",
    "compulsory": "compulsory traffic",
    "predicted_us": "predicted time",
}


def diff_plans(old: PlanFacts, new: PlanFacts) -> dict[str, Any]:
    """Returns what is different, as plain values: see docs/om.md for the keys."""
    found: dict[str, Any] = {
        "old": old.path,
        "new": new.path,
        "numbers": _numbers(old, new),
        "kernels": _kernels(old, new),
        "fusions": _regrouped(old, new),
        "moved_tasks": _moved(old, new),
        "weights": _weights(old, new),
    }
    found["reasons"] = list(_reasons(found))
    parts = ("numbers", "kernels", "fusions", "weights")
    found["equal"] = not any(found[part] for part in parts) and not found["moved_tasks"]
    return found


def _numbers(old: PlanFacts, new: PlanFacts) -> dict[str, dict[str, list[Any]]]:
    """Returns old and new value of what is not equal, by section and name."""
    changed: dict[str, dict[str, list[Any]]] = {}
    for section in old.numbers:
        before, after = old.numbers[section], new.numbers[section]
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) != after.get(name):
                values = [before.get(name), after.get(name)]
                changed.setdefault(section, {})[name] = values
    return changed


def _kernels(old: PlanFacts, new: PlanFacts) -> list[dict[str, Any]]:
    """Returns each kind of kernel or task whose number of launches is another."""
    before, after = (Counter(task.kernel for task in facts.tasks) for facts in (old, new))
    ops = {task.kernel: task.ops for facts in (old, new) for task in facts.tasks}
    return [
        {"kernel": name, "ops": list(ops[name]), "old": before[name], "new": after[name]}
        for name in sorted(ops)
        if before[name] != after[name]
    ]


def _regrouped(old: PlanFacts, new: PlanFacts) -> list[dict[str, Any]]:
    """Returns the kernels of either side whose nodes are spread over several of the other."""
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for kind, these, others in (("split", old, new), ("fused", new, old)):
        owner = {node: task for task in others.tasks for node in task.nodes}
        for task in these.tasks:
            parts = dict.fromkeys(owner[node] for node in task.nodes if node in owner)
            if len(parts) > 1:
                names = tuple(sorted(part.kernel for part in parts))
                found[kind, task.kernel, names].append(task.nodes[-1])
    return [
        {"kind": kind, "kernel": kernel, "parts": list(parts), "nodes": nodes}
        for (kind, kernel, parts), nodes in found.items()
    ]


def _moved(old: PlanFacts, new: PlanFacts) -> int:
    """Returns how many tasks of the same kernel and nodes run on another stream."""

    def streams(facts: PlanFacts) -> dict[tuple[str, tuple[str, ...]], int]:
        return {(task.kernel, task.nodes): task.stream for task in facts.tasks}

    before, after = streams(old), streams(new)
    return sum(before[key] != after[key] for key in before.keys() & after.keys())


def _weights(old: PlanFacts, new: PlanFacts) -> dict[str, list[dict[str, Any]]]:
    before, after = old.weights, new.weights
    sides = (
        ("removed", [name for name in before if name not in after], before),
        ("added", [name for name in after if name not in before], after),
        (
            "changed",
            [name for name in after if before.get(name, after[name]) != after[name]],
            after,
        ),
    )
    return {
        kind: [{"name": name, "bytes": weights[name][0]} for name in names]
        for kind, names, weights in sides
        if names
    }


def _reasons(diff: Mapping[str, Any]) -> Iterator[str]:
    """Yields why the numbers are others, as far as the plans tell."""
    memory, plan = diff["numbers"].get("memory", {}), diff["numbers"].get("plan", {})
    cost = diff["numbers"].get("cost", {})
    if "arena" in memory:
        yield _memory_reason(memory)
    if "traffic" in cost:
        yield from _traffic_reason(cost["traffic"], diff["fusions"])
    if "streams" in plan or diff["moved_tasks"]:
        moved = diff["moved_tasks"]
        yield f"{moved} tasks of the same kernel and nodes run on another stream"
    if "compulsory" in cost:
        yield "weights, inputs or outputs are others, so that the compulsory traffic is"


def _traffic_reason(traffic: Sequence[int], fusions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    before, after = traffic
    wanted, does = ("fused", "keep on chip") if after < before else ("split", "no longer keep")
    names = dict.fromkeys(group["kernel"] for group in fusions if group["kind"] == wanted)
    if names:
        shown = ", ".join(list(names)[:3])
        yield f"the traffic is another since kernels {does} what lies between their ops: {shown}"


def _memory_reason(memory: Mapping[str, Sequence[int]]) -> str:
    before, after = memory["arena"]
    more = "more" if after > before else "less"
    if "lower_bound" in memory:
        return f"the work arena needs {more}, since {more} is live at once (see its lower bound)"
    return f"the work arena takes {more}, though as much is live at once: it is packed otherwise"


def diff_text(diff: Mapping[str, Any]) -> str:
    """Returns the differences as a person reads them."""
    return "\n".join(_lines(diff)) + "\n"


def _lines(diff: Mapping[str, Any]) -> Iterator[str]:
    yield f"--- {diff['old']}"
    yield f"+++ {diff['new']}"
    if diff["equal"]:
        yield "no differences"
        return
    for section, values in diff["numbers"].items():
        for name, (before, after) in values.items():
            yield f"  {section:8} {_WORDS.get(name, name)}: {_change(section, name, before, after)}"
    yield from _cut(_kernel_lines(diff["kernels"]), "kernels")
    yield from _cut(_fusion_lines(diff["fusions"]), "groups of nodes")
    for kind, weights in diff["weights"].items():
        sign = {"removed": "-", "added": "+", "changed": "!"}[kind]
        lines = [f"{sign} weight  {w['name']}, {size(w['bytes'])}, {kind}" for w in weights]
        yield from _cut(lines, f"weights {kind}")
    for reason in diff["reasons"]:
        yield f"because  {reason}"


def _change(section: str, name: str, before: Any, after: Any) -> str:
    if before is None or after is None:
        return f"{_value(section, name, before)} -> {_value(section, name, after)}"
    change = f"{_value(section, name, before)} -> {_value(section, name, after)}"
    if isinstance(before, int | float) and before:
        change += f" ({(after - before) / before:+.1%})"
    return change


def _value(section: str, name: str, value: Any) -> str:
    if value is None:
        return "none"
    if section in _BYTES or name in ("traffic", "compulsory"):
        return size(value)
    return f"{value:.1f} us" if name == "predicted_us" else str(value)


def _kernel_lines(kernels: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"{'+' if k['new'] > k['old'] else '-'} kernel  {k['kernel']}: {k['old']} -> {k['new']}"
        + (f", of {_counted(k['ops'])}" if len(k["ops"]) > 1 else "")
        for k in kernels
    ]


def _fusion_lines(fusions: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"{'+' if f['kind'] == 'fused' else '-'} {f['kind']:7} {f['kernel']}"
        f" {'of' if f['kind'] == 'fused' else 'into'} {_counted(f['parts'])}"
        f" x{len(f['nodes'])}, first at {f['nodes'][0]}"
        for f in fusions
    ]


def _counted(names: Sequence[str]) -> str:
    """Returns names with their numbers, `Add x2, Gelu`, in the order in which they first come."""
    return ", ".join(name if n == 1 else f"{name} x{n}" for name, n in Counter(names).items())


def _cut(lines: Sequence[str], what: str) -> Iterator[str]:
    yield from (f"{line[:200]}" for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"  {len(lines) - SHOWN} more {what}, in --diff-format json"
