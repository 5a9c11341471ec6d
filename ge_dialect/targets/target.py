"""What the compiler knows of a machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ge_dialect.diagnostics import GEError

ASSUMED = "assumed"
"""Confidence of a figure that has no source."""

CONFIDENCES = ("high", "medium", "low", "calibrated", ASSUMED)
"""How far a figure can be trusted; `calibrated` ones are fitted to measurements."""

_DTYPE_BYTES = {
    **dict.fromkeys(("f64", "i64", "ui64", "index"), 8),
    **dict.fromkeys(("f32", "i32", "ui32"), 4),
    **dict.fromkeys(("f16", "bf16", "i16", "ui16"), 2),
}


@dataclass(frozen=True, slots=True)
class Tier:
    """One level of memory.

    Attributes:
        name: `hbm`, `l2`, `l1`, `ub`, `l0a`, `l0b` or `l0c`.
        size: In bytes; of one core where `per_core`.
        per_core: Whether each core has its own.
        bandwidth: Bytes per second that all cores together can read.
        write_bandwidth: Bytes per second that all cores together can write.
        alignment: Of addresses, in bytes.
    """

    name: str
    size: int
    per_core: bool
    bandwidth: float
    write_bandwidth: float
    alignment: int


@dataclass(frozen=True, slots=True)
class Overhead:
    """Times that do not depend on the size of the work, in us.

    Attributes:
        kernel_floor_us: Shortest time of a kernel on the device.
        launch_us: Between two tasks of a plan on one stream.
        launch_eager_us: Host time of one op outside of a plan.
        event_us: Cost of waiting for another stream.
        attention_fill_us: What fused attention takes before its pipeline is full.
    """

    kernel_floor_us: float
    launch_us: float
    launch_eager_us: float
    event_us: float
    attention_fill_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How many of a kind the device has.

    Attributes:
        streams, events: At a time.
        tasks: On one stream, records and waits included; None for any number.
    """

    streams: int
    events: int
    tasks: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A machine.

    Attributes:
        name: As in `--soc_version`.
        arch: Version of the AI core.
        short_soc: Family, as operator libraries name it.
        split_cores: Whether cube and vector units are cores of their own, so that a kernel of one
            kind leaves the other free.
        cube_cores, vector_cores: How many.
        clock_hz: Of the cores.
        vector_bytes_per_cycle: Bytes of operands that one vector core takes in a cycle.
        cube_macs: Multiply-adds of one cube core in a cycle, by element type.
        tiers: By name.
        limits: Streams and events.
        overhead: Of launches and events.
        efficiency: Fraction of the peak that kernels reach: `cube`, `attention`, `hbm`, `l2`, and
            `overlap`, how much of the shorter of computing and moving is hidden.
        vector_cycles: Cycles of one lane for one f16 element, by kind of op.
        sources: Where a figure is from, by its path in the file.
        confidences: How far to trust it: high, medium, low, calibrated or assumed.
    """

    name: str
    arch: str
    short_soc: str
    split_cores: bool
    cube_cores: int
    vector_cores: int
    clock_hz: int
    vector_bytes_per_cycle: int
    cube_macs: Mapping[str, int]
    tiers: Mapping[str, Tier]
    limits: Limits
    overhead: Overhead
    efficiency: Mapping[str, float]
    vector_cycles: Mapping[str, float]
    sources: Mapping[str, str]
    confidences: Mapping[str, str]

    @property
    def hbm(self) -> Tier:
        """The device's main memory."""
        return self.tiers["hbm"]

    @property
    def l2(self) -> Tier:
        """The cache that all cores share."""
        return self.tiers["l2"]

    @property
    def l1(self) -> Tier:
        """The buffer of a cube core."""
        return self.tiers["l1"]

    @property
    def ub(self) -> Tier:
        """The buffer of a vector core."""
        return self.tiers["ub"]

    @property
    def assumed(self) -> tuple[str, ...]:
        """The figures without a source, by their paths in the file."""
        return tuple(sorted(key for key, value in self.confidences.items() if value == ASSUMED))

    def confidence(self, figure: str) -> str | None:
        """Returns how far to trust a figure, None where the file does not say.

        Args:
            figure: Its path in the file, as `tiers.l2.size`; a table stands for all in it.
        """
        while figure:
            if (found := self.confidences.get(figure)) is not None:
                return found
            figure = figure.rpartition(".")[0]
        return None

    def limited(self, limits: Mapping[str, int]) -> Target:
        """Returns a machine with less of some levels of memory.

        Args:
            limits: Bytes by name of the level; no more than there are.

        Raises:
            GEError: There are not so many (GE0705).
        """
        tiers = dict(self.tiers)
        for name, size in limits.items():
            if not 0 <= size <= tiers[name].size:
                raise GEError(
                    "GE0705",
                    f"expected at most {tiers[name].size} bytes of {name.upper()} for"
                    f" {self.name}, got {size}",
                )
            tiers[name] = replace(tiers[name], size=size)
        return replace(self, tiers=tiers) if limits else self

    def peak(self, engine: str, dtype: str) -> float:
        """Returns the peak rate of an engine over all its cores, per second.

        Args:
            engine: `cube`: in flops, two a multiply-add. `vector`: in operations on one element.
            dtype: As in messages, `f16`. A type that the cube does not know runs at the rate of
                its slowest.

        Raises:
            ValueError: The engine is neither.
        """
        if engine == "cube":
            macs = self.cube_macs.get(dtype, min(self.cube_macs.values()))
            return 2.0 * macs * self.cube_cores * self.clock_hz
        if engine == "vector":
            lanes = self.vector_bytes_per_cycle // max(_DTYPE_BYTES.get(dtype, 2), 2)
            return float(lanes * self.vector_cores * self.clock_hz)
        raise ValueError(f"expected 'engine' to be one of cube, vector, got '{engine}'")
