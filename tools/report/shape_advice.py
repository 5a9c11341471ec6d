"""What a range of sizes costs against gears: memory, predicted time, and which gears to choose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import BoundedType
from ge_dialect.ge_exec.storage import buffer_shape
from ge_dialect.lowering.at_sizes import greatest_sizes, plan_at
from ge_dialect.lowering.om.encode import plan_of, plans_of
from ge_dialect.lowering.predict import predict_plan
from ge_dialect.passes.symbols.split_gears import show_gear
from ge_dialect.symbols import Dim, evaluate, symbols_of
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools import api
from ge_dialect.tools.dynamic_shapes import open_places
from ge_dialect.tools.report.choose_gears import Sizes, choose_gears, gear_for, mean_cost
from ge_dialect.tools.report.summary import memory
from ge_dialect.tools.report.text import size

if TYPE_CHECKING:
    import onnx

    from ge_dialect.frontends.onnx.input_shapes import InputShapes
    from ge_dialect.tools.api import CompiledPlan, CompileOptions

MAX_COUNT = 20
"""Most gears that are chosen at a time."""


@dataclass
class Advice:
    """A range compared with gears, for the same runs.

    Attributes:
        names: The symbols that the sizes are of, in order.
        histogram: How often each set of sizes occurs.
        range_bytes: Of the work arena, for the whole range.
        range_us: Predicted us of a run on average, on the plan for the range.
        gears: The chosen sets of sizes.
        open_sizes: The same, with a size for each dimension that the shapes leave open.
        gear_bytes: Of the largest work arena of the gears.
        gear_us: Predicted us of a run on average, each padded to its gear.
    """

    names: tuple[str, ...]
    histogram: Mapping[Sizes, int]
    range_bytes: int
    range_us: float
    gears: list[Sizes] = field(default_factory=list[Sizes])
    open_sizes: list[Sizes] = field(default_factory=list[Sizes])
    gear_bytes: int = 0
    gear_us: float = 0.0

    def lines(self) -> Iterator[str]:
        """Yields what a person reads."""
        runs = sum(self.histogram.values())
        shown = ";".join(",".join(map(str, gear)) for gear in self.open_sizes)
        yield f"sizes ({', '.join(self.names)}) of {runs} runs:"
        yield f"  range     work {size(self.range_bytes)}, {self.range_us:.1f} us predicted a run"
        yield f"  gears     work {size(self.gear_bytes)}, {self.gear_us:.1f} us predicted a run"
        better = "gears" if self.gear_us < self.range_us else "range"
        yield f"  better    {better}, by {_gain(self.range_us, self.gear_us):.0%}"
        if len(self.gears) > 1:
            yield f'  choose    --dynamic_dims "{shown}"'


def _gain(one: float, other: float) -> float:
    return abs(one - other) / max(one, other) if max(one, other) else 0.0


def parse_histogram(text: str) -> dict[Sizes, int]:
    """Returns what `1,128=500;4,512=20` spells: sets of sizes, and how often each occurs.

    Raises:
        GEError: It is malformed (GE0108).
    """
    found: dict[Sizes, int] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        sizes, _, times = part.partition("=")
        words = [word.strip() for word in (*sizes.split(","), times or "1")]
        if not all(word.isascii() and word.isdecimal() and len(word) < 19 for word in words):
            raise GEError(
                "GE0108",
                f"--size_histogram: expected 'sizes=count', got '{part[:40]}'",
                hint='such as --size_histogram "1,128=500;4,512=20"',
            )
        *numbers, count = map(int, words)
        found[tuple(numbers)] = found.get(tuple(numbers), 0) + count
    if not found or len({len(sizes) for sizes in found}) > 1 or not any(found.values()):
        raise GEError("GE0108", "--size_histogram: expected sets of sizes of one length")
    return found


def advise(
    model: str | Path | onnx.ModelProto,
    shapes: InputShapes,
    histogram: Mapping[Sizes, int],
    count: int,
    options: CompileOptions,
) -> Advice:
    """Returns how a plan for a range and plans for at most `count` gears compare.

    Args:
        model: As `api.compile` takes it.
        shapes: With ranges.
        histogram: How often each set of sizes occurs: a size for each symbol, in the order in
            which the shapes mention them.
        count: Most gears.
        options: Of the compilations, of which there are two.

    Raises:
        GEError: A size leaves its range (GE0108), or a compilation fails.
    """
    plan = api.compile(model, input_shapes=shapes, options=options)
    names = size_names(plan, shapes)
    if any(len(sizes) != len(names) for sizes in histogram):
        raise GEError(
            "GE0108",
            f"--size_histogram: expected {len(names)} sizes in each set: {', '.join(names)}",
        )
    costs = RangeCosts(plan, names)
    work = memory(plan_of(plan.module))["hbm"]["arena"]
    advice = Advice(names, histogram, work, mean_cost(histogram, [], costs.of))
    advice.gears = choose_gears(histogram, costs.of, min(count, MAX_COUNT))
    advice.open_sizes = [_open_sizes(plan, shapes, names, gear) for gear in advice.gears]
    _measure(advice, model, shapes, options)
    return advice


def size_names(plan: CompiledPlan, shapes: InputShapes) -> tuple[str, ...]:
    """Returns the symbols of a plan in the order in which shapes mention them."""
    found: dict[str, None] = {}
    dims = _input_dims(plan)
    for place in open_places(shapes):
        found |= dict.fromkeys(symbols_of(dims[place]) if place in dims else ())
    return tuple(found)


def _input_dims(plan: CompiledPlan) -> dict[tuple[str, int], Dim]:
    """Returns the dimensions of the inputs of a plan that depend on symbols."""
    return {
        (op.io_name.data, axis): dim
        for op in plan_of(plan.module).inputs
        if isinstance(op.result.type, BoundedType)
        for axis, dim in enumerate(buffer_shape(op.result.type))
        if not isinstance(dim, int)
    }


def _open_sizes(
    plan: CompiledPlan, shapes: InputShapes, names: Sequence[str], sizes: Sizes
) -> Sizes:
    """Returns a size for each dimension that shapes leave open."""
    dims, values = _input_dims(plan), dict(zip(names, sizes, strict=True))
    return tuple(evaluate(dims[place], values) for place in open_places(shapes) if place in dims)


@dataclass
class RangeCosts:
    """Predicted us of a plan for a range, at single sizes.

    Attributes:
        plan: The plan.
        symbols: Which symbol each size is of.
    """

    plan: CompiledPlan
    symbols: Sequence[str]
    known: dict[Sizes, float] = field(default_factory=dict[Sizes, float])

    def of(self, sizes: Sizes) -> float:
        """Returns the predicted us of a run.

        Raises:
            GEError: A size leaves its range (GE0108).
        """
        if (found := self.known.get(sizes)) is None:
            found = self.known[sizes] = self._predicted(sizes)
        return found

    def _predicted(self, sizes: Sizes) -> float:
        plan = plan_of(self.plan.module)
        # What depends on data counts as the most that it may be.
        values = greatest_sizes(plan) | dict(zip(self.symbols, sizes, strict=True))
        for op in plan.symbols:
            if op.is_early and not op.known.contains(values[op.symbol.data]):
                what = f"{op.symbol.data} = {values[op.symbol.data]} leaves its range"
                raise GEError("GE0108", f"--size_histogram: {what}")
        module = plan_at(self.plan.module, values)
        return predict_plan(plan_of(module), target_of(module)).makespan_us


def _measure(
    advice: Advice,
    model: str | Path | onnx.ModelProto,
    shapes: InputShapes,
    options: CompileOptions,
) -> None:
    """Compiles the chosen gears, for their memory and time."""
    gears = [show_gear(dict(zip(advice.names, gear, strict=True))) for gear in advice.gears]
    chosen = replace(options, gears=tuple(gears))
    plan = api.compile(model, input_shapes=shapes, options=chosen)
    target = target_of(plan.module)
    us: dict[Sizes, float] = {}
    for gear, one in zip(advice.gears, plans_of(plan.module), strict=True):
        us[gear] = predict_plan(one, target).makespan_us
        advice.gear_bytes = max(advice.gear_bytes, memory(one)["hbm"]["arena"])
    total = 0.0
    for sizes, times in advice.histogram.items():
        gear = gear_for(advice.gears, sizes, us.__getitem__)
        assert gear is not None, "the greatest gear holds all sizes"
        total += times * us[gear]
    advice.gear_us = total / sum(advice.histogram.values())
