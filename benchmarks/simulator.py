"""CPU seconds of the machine model: the simulator and the cache on long plans.

    python benchmarks/simulator.py [--repeat N]

The goal is 10,000 tasks in under 2 s; the exit status is 1 where it is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable

from ge_dialect.lowering.machine.cache import Extent, Touch, missed_bytes
from ge_dialect.lowering.machine.simulate import SimTask, simulate

TASKS = 10_000
LIMIT_SECONDS = 2.0
RESOURCES = ("cube", "hbm", "l2", "vector")


def simulated(streams: int) -> Callable[[], object]:
    """Returns the simulation of a random plan."""
    chance = random.Random(0)

    def demands() -> dict[str, float]:
        return {name: 20 * chance.random() for name in chance.sample(RESOURCES, 3)}

    tasks = [SimTask(chance.randrange(streams), 4.2, demands()) for _ in range(TASKS)]
    deps = [(chance.randrange(max(0, i - 50), i), i) for i in range(1, TASKS) for _ in range(2)]
    return lambda: simulate(tasks, deps, event_us=2.0)


def cached() -> Callable[[], object]:
    """Returns the cache on a plan of layers: buffers of some sizes at some places of an arena."""
    chance = random.Random(0)
    places = [(chance.randrange(1 << 18), chance.randrange(1, 1 << 12)) for _ in range(64)]

    def extent() -> Extent:
        start, size = chance.choice(places)
        return Extent("work", start * 512, (start + size) * 512)

    touches = [Touch([extent(), extent()], [extent()]) for _ in range(TASKS)]
    return lambda: missed_bytes(touches, 32 << 20)


def seconds(run: Callable[[], object], repeat: int) -> float:
    """Returns the CPU seconds of the fastest of several runs."""
    found: list[float] = []
    for _ in range(repeat):
        started = time.process_time()
        run()
        found.append(time.process_time() - started)
    return min(found)


def main() -> None:
    """Prints a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    runs = {f"simulator, {k} streams": simulated(k) for k in (1, 4, 16)}
    runs["cache, 64 places"] = cached()
    slow = False
    for name, run in runs.items():
        found = seconds(run, repeat)
        slow = slow or found > LIMIT_SECONDS
        print(f"{name:28} {TASKS} tasks {found:6.2f} CPU s")
    sys.exit(slow)


if __name__ == "__main__":
    main()
