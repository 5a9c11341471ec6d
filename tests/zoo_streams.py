"""Plans on several streams of the models of the zoo: predicted, proved, and run.

    python -m tests.zoo_streams [--zoo DIR] [PATTERN ...]

Of each static model, unfused and fused: the plan on four streams is predicted to be no slower than
on one, and no faster than its bound on any target; every event is needed; ten interleavings that
the events allow give, bit for bit, what one stream gives.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ge_dialect.lowering.event_pairs import needed_events, redundant
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.predict import predict_plan
from ge_dialect.targets import load_target, target_names
from ge_dialect.tools import api
from ge_dialect.tools.runtime.executor import Executor
from ge_dialect.tools.runtime.ports import random_feeds

ZOO = Path(__file__).parents[2] / "shared" / "zoo" / "small"
STREAMS = 4
SEEDS = range(10)


@dataclass(frozen=True)
class Row:
    """What was found of a model.

    Attributes:
        model: Its name and the level.
        streams, events: Of the plan for several streams.
        single_us, several_us: Predicted for the default target.
        faults: What should not be, as text.
    """

    model: str
    streams: int
    events: int
    single_us: float
    several_us: float
    faults: tuple[str, ...]

    def __str__(self) -> str:
        times = f"{self.single_us:9.1f} -> {self.several_us:9.1f} us predicted"
        text = f"{self.model:36} {self.streams} streams {self.events:4} events {times}"
        return "\n  ".join((text, *self.faults))


def check(folder: Path, level: int) -> Row:
    """Compiles one model for one stream and for several, and compares."""
    single = api.compile(folder / "model.onnx", level=level)
    several = api.compile(folder / "model.onnx", level=level, streams=STREAMS)
    plan = plan_of(several.module)
    target = load_target("Ascend910B1")
    single_us = predict_plan(plan_of(single.module), target).makespan_us
    several_us = predict_plan(plan, target).makespan_us
    events = needed_events(plan)
    faults = [f"event for {pair.why} is redundant" for pair in redundant(events)]
    if several_us > single_us * (1 + 1e-9):
        faults.append("slower than one stream")
    for plan_ in (plan_of(single.module), plan):
        faults += [f"beats its bound on {name}" for name in target_names() if _beats(plan_, name)]
    faults += _differences(single, several)
    name = f"{folder.name} level {level}"
    return Row(name, len(plan.streams), len(events), single_us, several_us, tuple(faults))


def _beats(plan: Any, name: str) -> bool:
    found = predict_plan(plan, load_target(name))
    return found.makespan_us < found.bound_us * (1 - 1e-9)


def _differences(single: api.CompiledPlan, several: api.CompiledPlan) -> Iterator[str]:
    reference = Executor(single.module)
    feeds = random_feeds(reference.inputs, 0)
    wanted = reference.run(feeds)
    executor = Executor(several.module)
    for seed in SEEDS if len(plan_of(several.module).streams) > 1 else (0,):
        found = executor.run(feeds, schedule_seed=seed, poison=True)
        for name, value in wanted.items():
            if not same(found[name], value):
                yield f"output '{name}' differs with seed {seed}"


def same(a: Any, b: Any) -> bool:
    """Whether two outputs are equal bit for bit."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return str(cast("object", a)) == str(cast("object", b))
    first, second = cast("npt.NDArray[Any]", a), cast("npt.NDArray[Any]", b)
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and first.tobytes() == second.tobytes()
    )


def models(zoo: Path, patterns: list[str]) -> list[Path]:
    """Returns the folders of static models."""
    found = {folder for pattern in patterns for folder in zoo.glob(pattern)}
    return sorted(f for f in found if f.name.endswith("-static"))


def main() -> None:
    """Prints a row a model; the exit status is 1 where something should not be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("patterns", nargs="*", default=["*"], help="names of models, as globs")
    parser.add_argument("--zoo", type=Path, default=ZOO)
    args = parser.parse_args()
    faults = 0
    folders = models(args.zoo, args.patterns)
    for folder in folders:
        for level in (0, 2):
            row = check(folder, level)
            faults += len(row.faults)
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(folders)} models, {faults} faults\n")
    sys.exit(bool(faults) or not folders)


if __name__ == "__main__":
    main()
