"""What would make a model fit: found by planning it again, never guessed.

Each trial is a compilation of its own, so that remedies are only looked for where one has failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.heuristics import MemoryFullError
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.passes.policy import Policy
from ge_dialect.tools import api
from ge_dialect.tools.report.summary import memory

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.input_shapes import DimSpec
    from ge_dialect.lowering.tile_kernels import TilesFullError

_GRANULE = 64
"""Limits of a core are looked for by so many bytes."""

_TRIALS = 8
"""Compilations with other sizes of one dimension, at most."""


@dataclass(frozen=True)
class Remedy:
    """A change with which the model fits, and the bytes of the work arena that it then needs."""

    text: str
    peak: int

    def __str__(self) -> str:
        return f"{self.text} ({self.peak} bytes)"


def with_remedies(error: MemoryFullError, trials: Trials) -> MemoryFullError:
    """Returns the error of a compilation, its hint saying what would make the model fit."""
    found = [str(remedy) for remedy in trials.remedies()]
    if trials.options.memory_limit is not None:
        found.append(f"--memory-limit {trials.smallest(error.plan.peak)}, the smallest that works")
    if found:
        error.hint = f"it fits with {'; or with '.join(found)}"
    return error


def with_limits(error: TilesFullError, trials: Trials) -> TilesFullError:
    """Returns the error of a limit of a core that is too low, its hint saying which works."""
    if (size := trials.smallest_of_core(error.tier, error.needed)) is not None:
        error.hint = f"it fits with --memory-limit {error.tier}={size}, the smallest that works"
    else:
        tiers = ", ".join(name for name, _ in trials.options.core_limits)
        error.hint = f"it takes more than {error.tier}: raise the limits of {tiers} together"
    return error


@dataclass
class Trials:
    """Compilations of one model with other options and sizes.

    Attributes:
        model: Path of the file.
        shapes: The sizes that were asked for, by input.
        options: What was asked for.
    """

    model: str | Path
    shapes: Mapping[str, tuple[DimSpec, ...]]
    options: api.CompileOptions
    _peaks: dict[Any, int | None] = field(default_factory=dict[Any, "int | None"])

    def remedies(self) -> Iterator[Remedy]:
        """Yields changes of options, then of one size each, with which the model fits."""
        for text, changes in self._changes():
            if (peak := self.peak(replace(self.options, **changes), self.shapes)) is not None:
                yield Remedy(text, peak)
        for symbol, size in self._sizes().items():
            if (number := self._largest(symbol, size)) is not None:
                shapes = self._resized(symbol, number)
                peak = self.peak(self.options, shapes)
                assert peak is not None
                what = f"{symbol} at most {number}, not {size}: --input-shape {_text(shapes)!r}"
                yield Remedy(what, peak)

    def smallest(self, known: int) -> int:
        """Returns the smallest limit for which a plan is found, `known` bytes at most."""
        thrifty = replace(self.options, memory_policy=Policy.CONSERVATIVE.value, memory_limit=known)
        peak = self.peak(thrifty, self.shapes)
        return known if peak is None else peak

    def smallest_of_core(self, tier: str, known: int) -> int | None:
        """Returns the smallest limit of a level of memory of a core that works, the other options
        as they are; None where none does.

        Args:
            tier: Its name.
            known: Bytes that are too few, or just enough.
        """
        low, high = 0, max(1, -(-known // _GRANULE))
        for _ in range(_TRIALS):
            if self._fits_core(tier, high):
                break
            low, high = high, 2 * high
        else:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if self._fits_core(tier, middle):
                high = middle
            else:
                low = middle
        return high * _GRANULE

    def _fits_core(self, tier: str, granules: int) -> bool:
        limits = dict(self.options.core_limits) | {tier: granules * _GRANULE}
        options = replace(self.options, core_limits=tuple(limits.items()))
        return self.peak(options, self.shapes) is not None

    def peak(
        self, options: api.CompileOptions, shapes: Mapping[str, tuple[DimSpec, ...]]
    ) -> int | None:
        """Returns the bytes that a compilation needs; None where it fails."""
        key = (options, tuple(shapes.items()))
        if key not in self._peaks:
            try:
                plan = api.compile(self.model, input_shapes=shapes or None, options=options)
                self._peaks[key] = memory(plan_of(plan.module))["hbm"]["peak"]
            except GEError:
                self._peaks[key] = None
        return self._peaks[key]

    def _changes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        options = self.options
        if not options.reuse_memory:
            yield "--disable-reuse-memory 0", {"reuse_memory": True}
        if options.no_reuse:
            yield "no --no-reuse-mem", {"no_reuse": ()}
        for name, _ in options.core_limits:
            others = tuple(one for one in options.core_limits if one[0] != name)
            yield f"no --memory-limit {name}, so that more is fused", {"core_limits": others}
        if options.level < 2:
            yield "-O 2, which fuses", {"level": 2}
        if options.streams > 1:
            yield "--streams 1", {"streams": 1}
        if options.memory_policy != Policy.CONSERVATIVE:
            policy = Policy.CONSERVATIVE.value
            yield f"--memory-policy {policy}", {"memory_policy": policy}

    def _sizes(self) -> dict[str, int]:
        """Sizes that were given for dimensions that the model leaves open, by name."""
        found: dict[str, int] = {}
        for name, axis, size in self._dimensions():
            if isinstance(size, int) and size > 1:
                found.setdefault(self._symbols.get((name, axis), ""), size)
        found.pop("", None)
        return found

    def _dimensions(self) -> Iterator[tuple[str, int, DimSpec]]:
        for name, dims in self.shapes.items():
            for axis, size in enumerate(dims):
                yield name, axis, size

    @cached_property
    def _symbols(self) -> dict[tuple[str, int], str]:
        """Names of the dimensions that the model leaves open, by input and axis."""
        from ge_dialect.frontends.onnx.load import load_onnx

        if not self.shapes:
            return {}
        found: dict[tuple[str, int], str] = {}
        for value in load_onnx(self.model).inputs:
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                if not dim.HasField("dim_value"):
                    name = dim.dim_param or f"dim {axis} of '{value.name}'"
                    found[value.name, axis] = name
        return found

    def _resized(self, symbol: str, size: int) -> dict[str, tuple[DimSpec, ...]]:
        return {
            name: tuple(
                size if self._symbols.get((name, axis)) == symbol else old
                for axis, old in enumerate(dims)
            )
            for name, dims in self.shapes.items()
        }

    def _largest(self, symbol: str, size: int) -> int | None:
        """The largest size below the given one that fits: halved first, then bisected."""
        fits, fails = None, size
        for _ in range(_TRIALS):
            trial = fails // 2 if fits is None else (fits + fails) // 2
            if trial in (0, fits):
                break
            if self.peak(self.options, self._resized(symbol, trial)) is None:
                fails = trial
            else:
                fits = trial
        return fits


def _text(shapes: Mapping[str, tuple[DimSpec, ...]]) -> str:
    return ";".join(f"{name}:{','.join(map(str, dims))}" for name, dims in shapes.items())
