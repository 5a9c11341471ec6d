"""A model with several plans, one for each set of sizes: the inputs choose which one runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.encode import gear_of, plan_of, plans_of
from ge_dialect.tools.runtime.executor import Executor, TaskTime
from ge_dialect.tools.runtime.ports import Port, check_feeds


class GearExecutor(Executor):
    """Runs the plan whose sizes are those of the inputs.

    Args:
        module: Kernels and a plan for each gear.
        weights: As for `Executor`.

    Raises:
        GEError: As `Executor`.
    """

    def __init__(self, module: ModuleOp, weights: memoryview | None = None):
        plans = plans_of(module)
        self.gears: Sequence[tuple[str, Executor]] = [
            (gear_of(plan), Executor(module, weights, plan)) for plan in plans
        ]
        self.module = module
        self.plan = plan_of(module)
        self.inputs = _common([executor.inputs for _, executor in self.gears])
        self.outputs = _common([executor.outputs for _, executor in self.gears])
        self.times: Sequence[TaskTime] = ()

    def size_lines(self) -> Sequence[str]:
        """Returns a line for each gear."""
        return [f"gear {gear}" for gear, _ in self.gears]

    def example_inputs(self) -> Sequence[Port]:
        """Returns the inputs of the first gear."""
        return self.gears[0][1].example_inputs()

    def _execute(
        self,
        feeds: Mapping[str, Any],
        seed: int | None,
        poison: bool,
        times: list[TaskTime] | None,
    ) -> dict[str, Any]:
        """Runs the gear that the inputs are for.

        Raises:
            GEError: There is no such gear (GE0822); else as `Executor.run`.
        """
        check_feeds(self.inputs, feeds)
        executor = self._chosen({name: np.shape(value) for name, value in feeds.items()})
        return executor._execute(feeds, seed, poison, times)

    def _chosen(self, shapes: Mapping[str, tuple[int, ...]]) -> Executor:
        larger: list[str] = []
        for gear, executor in self.gears:
            ports = [port for port in executor.inputs if not port.container]
            if all(port.takes(shapes[port.name]) for port in ports):
                return executor
            if all(_holds(port, shapes[port.name]) for port in ports):
                larger.append(gear)
        given = ", ".join(f"'{name}' {list(shape)}" for name, shape in shapes.items())
        listed = "; ".join(gear for gear, _ in self.gears)
        raise GEError(
            "GE0822",
            f"no gear is for the sizes of {given}: the gears are {listed}",
            hint=f"pad the inputs to {larger[0]}"
            if larger
            else "compile the model with a gear that holds them",
        )


def make_executor(module: ModuleOp, weights: memoryview | None = None) -> Executor:
    """Returns what runs a module with one plan, or with one for each gear.

    Raises:
        GEError: As `Executor`.
    """
    if len(plans_of(module)) > 1:
        return GearExecutor(module, weights)
    return Executor(module, weights)


def _holds(port: Port, shape: tuple[int, ...]) -> bool:
    """Whether an array of a shape could be padded to a port."""
    return port.shape is None or all(
        dim is None or size <= dim for size, dim in zip(shape, port.shape, strict=True)
    )


def _common(ports: Sequence[Sequence[Port]]) -> list[Port]:
    """Returns the ports of all gears as one, without the dimensions in which they differ."""
    found: list[Port] = []
    for same in zip(*ports, strict=True):
        first, shapes = same[0], [port.shape for port in same]
        if first.shape is not None and None not in shapes:
            columns = zip(*[shape for shape in shapes if shape is not None], strict=True)
            dims = tuple(dims[0] if len(set(dims)) == 1 else None for dims in columns)
            found.append(Port(first.name, dims, first.dtype, first.container))
        else:
            found.append(Port(first.name, None, first.dtype, first.container))
    return found
