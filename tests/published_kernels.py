"""The machine model against published kernels of 910B and 910C chips.

    python -m tests.published_kernels [--markdown]

The measured figures and their sources are in `../shared/facts`. Kernels of the Qwen3 rows ran in
a whole model, so that their weights came from HBM; the others were repeated alone, so that L2 may
have held what they read. An eager op takes at least what the host needs to launch it. 910B2 is
described by the 3 % faster 910B1.
"""

from __future__ import annotations

import argparse
import csv
import re
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ge_dialect.lowering.machine.cache import Extent, Touch, missed_bytes
from ge_dialect.lowering.machine.cost import KernelCost, Work, kernel_cost
from ge_dialect.lowering.machine.tiles import Product
from ge_dialect.targets import Target, load_target

PUBLISHED = Path(__file__).parents[2] / "shared" / "facts" / "published_kernels.csv"

_CHIPS = {"910B2": "Ascend910B1"}
_KINDS = {"ew": "elementwise"}
_HIDDEN = 5120
"""Width of Qwen3-14B; its MLP is `_INNER` wide. Source: the published configuration."""
_INNER = 17408


@dataclass(frozen=True)
class Comparison:
    """A measured kernel and what the model says of it.

    Attributes:
        chip, kernel: As the source names them.
        measured_us: Of the source.
        predicted_us: By the estimate.
        bound_us: By the data sheet alone.
        limited_by: What the model takes for the limit.
    """

    chip: str
    kernel: str
    measured_us: float
    predicted_us: float
    bound_us: float
    limited_by: str

    @property
    def error(self) -> float:
        """Of the estimate, as a part of what was measured."""
        return abs(self.predicted_us - self.measured_us) / self.measured_us


def comparisons(path: Path = PUBLISHED) -> list[Comparison]:
    """Returns a comparison a row of the table of published kernels."""
    with path.open(newline="") as file:
        return [_compare(row) for row in csv.DictReader(file)]


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Returns the rank correlation of two lists without ties."""
    first, second = ([sorted(values).index(value) for value in values] for values in (a, b))
    count = len(first)
    squares = sum((x - y) ** 2 for x, y in zip(first, second, strict=True))
    return 1 - 6 * squares / (count**3 - count)


def _compare(row: dict[str, str]) -> Comparison:
    target = load_target(_CHIPS.get(row["chip"], f"Ascend{row['chip']}"))
    cost = _cost(row, target)
    us = cost.device_us
    if row["eager_dispatch"] == "1":
        us = max(us, target.overhead.launch_eager_us)
    measured = float(row["measured_us"])
    return Comparison(row["chip"], row["kernel"], measured, us, cost.bound_us, cost.limited_by)


def _cost(row: dict[str, str], target: Target) -> KernelCost:
    read, written = int(row["read_bytes"]), int(row["written_bytes"])
    operations, cycles = {("cube", "f16"): float(row["cube_flops"])}, dict[str, float]()
    kind = _KINDS.get(row["vector_kind"], row["vector_kind"])
    if kind in target.vector_cycles:
        elements = float(row["vector_elements"])
        operations["vector", "f16"] = elements
        cycles["f16"] = elements * target.vector_cycles[kind]
    is_attention = row["is_flash_attention"] == "1"
    work = Work(operations, read, written, is_attention, cycles, _products(row))
    if row["kernel"].startswith("qwen3"):
        return kernel_cost(work, target)
    run = Touch([Extent("read", 0, read)], [Extent("written", 0, written)])
    repeated = missed_bytes([run] * 3, target.l2.size)
    return kernel_cost(work, target, repeated[1].bytes)


def _products(row: dict[str, str]) -> Sequence[Product]:
    """The product of a row, out of the name of its kernel; its flops agree."""
    name, flops = row["kernel"], float(row["cube_flops"])
    if not flops:
        return ()
    numbers = [int(number) for number in re.findall(r"\d+", name)]
    if row["is_flash_attention"] == "1":
        rows, columns = numbers[0], numbers[1]
        return (Product(1, rows, columns, 256, "f16", rows * 256, columns * 512, True),)
    if name.startswith("qwen3"):
        depth = _INNER if "down" in name else _HIDDEN
        batch, m, k = 1, 16, depth
        n = int(flops / (2 * m * k))
    elif "gemm" in name:
        batch, m, n, k = 1, *([numbers[0]] * 3)
    else:
        batch, m, n, k = numbers if len(numbers) == 4 else (1, *numbers)
    product = Product(batch, m, n, k, "f16", 2 * batch * m * k, 2 * batch * n * k)
    assert product.flops == flops, name
    return (product,)


HEADER = (
    "chip",
    "kernel",
    "measured us",
    "bound us",
    "predicted us",
    "predicted/measured",
    "limit",
)


def lines(found: Sequence[Comparison], markdown: bool) -> list[str]:
    """Returns the table, and the two figures it comes down to."""
    edge, gap = ("| ", " | ") if markdown else ("", "  ")
    end = " |" if markdown else ""
    table = [f"{edge}{gap.join(HEADER)}{end}"]
    if markdown:
        table.append("| --- " * len(HEADER) + "|")
    for one in found:
        times = (one.measured_us, one.bound_us, one.predicted_us)
        cells = [one.chip, one.kernel, *(f"{us:.1f}" for us in times)]
        cells += [f"{one.predicted_us / one.measured_us:.2f}", one.limited_by]
        table.append(f"{edge}{gap.join(cells)}{end}")
    measured = [one.measured_us for one in found]
    ranks = spearman(measured, [one.predicted_us for one in found])
    error = statistics.median(one.error for one in found)
    table += ["", f"{len(found)} kernels: median error {error:.0%}, rank correlation {ranks:.2f}"]
    return table


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if not PUBLISHED.is_file():
        sys.exit(f"there is no table of published kernels at {PUBLISHED}")
    sys.stdout.writelines(f"{line}\n" for line in lines(comparisons(), args.markdown))


if __name__ == "__main__":
    main()
