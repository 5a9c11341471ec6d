"""What the machine model says of a plan, as the summary and the terminal show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ge_dialect.lowering.predict import Prediction

_DIGITS = 3
_SHOWN_LIMITS = 2
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
