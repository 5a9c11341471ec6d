"""What the machine model says of a plan, as the summary and the terminal show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ge_dialect.lowering.plan_names import describe_task

if TYPE_CHECKING:
    from ge_dialect.lowering.predict import Prediction

_DIGITS = 3
_SHOWN_LIMITS = 2
_SHOWN_TASKS = 20
_SHOWN_FIGURES = 3


def prediction_summary(found: Prediction) -> dict[str, Any]:
    """Returns the key `prediction` of the summary: see docs/summary.md."""
    makespan, bound = found.makespan_us, found.bound_us
    return {
        "bound_us": round(bound, _DIGITS),
        "bound_ratio": round(makespan / bound, _DIGITS) if bound else 1.0,
        "after_l2_bytes": found.hbm_bytes,
        "limited_by": found.limits(),
        "time_us": {name: round(us, _DIGITS) for name, us in found.reasons().items()},
        "utilisation": {
            name: round(part, _DIGITS) for name, part in found.run.utilisation().items()
        },
        "assumed_share": round(found.assumed_share, _DIGITS),
        "assumed_us": {name: round(us, _DIGITS) for name, us in found.assumed_us.items()},
        "is_trusted": found.is_trusted,
    }


def prediction_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of the terminal about the predicted time."""
    prediction: Mapping[str, Any] = summary["prediction"]
    limits = list(prediction["limited_by"].items())[:_SHOWN_LIMITS]
    limited = ", ".join(f"{name} limits {count}" for name, count in limits)
    text = f"  time      {summary['predicted_us']:.1f} us predicted"
    if prediction["bound_us"]:
        text += f", {prediction['bound_ratio']:.2f}x the bound of the data sheet"
    yield f"{text}; {limited} tasks" if limited else text
    if not prediction["is_trusted"]:
        figures = ", ".join(list(prediction["assumed_us"])[:_SHOWN_FIGURES])
        yield (
            f"            an estimate: {prediction['assumed_share']:.0%} of it rests on assumed"
            f" figures: {figures}"
        )


def task_lines(found: Prediction) -> Iterator[str]:
    """Yields the tasks that take longest: how long, how far from their bound, what limits them."""
    tasks = list(zip(found.graph.tasks, found.costs, strict=True))
    ordered = sorted(enumerate(tasks), key=lambda item: (-item[1][1].us, item[0]))
    for _, (task, cost) in ordered[:_SHOWN_TASKS]:
        one = cost.cost
        ratio = f", {one.device_us / one.bound_us:.2f}x its bound" if one.bound_us else ""
        yield (
            f"time: {describe_task(task)}: {one.us:.1f} us predicted{ratio}, limited by"
            f" {one.limited_by}, {one.hbm_bytes} bytes of HBM\n"
        )
    if len(tasks) > _SHOWN_TASKS:
        yield f"time: {len(tasks) - _SHOWN_TASKS} tasks more, all of them shorter\n"
