"""Executes a plan: the reference that every other runtime can be compared with."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.ge.symbolic import symbols_in
from ge_dialect.ge_exec import KernelOp, LaunchOp, PlanOp
from ge_dialect.ge_exec.control import ControlOp, TaskOp, task_id
from ge_dialect.interpreters.compiled import Run, compile_block
from ge_dialect.interpreters.functions import make_interpreter
from ge_dialect.locations import location_name
from ge_dialect.lowering.at_sizes import middle_sizes
from ge_dialect.lowering.om.decode import LoadedPlan, read_plan
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.size_texts import size_lines
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools.runtime.arenas import Layout, Memory
from ge_dialect.tools.runtime.control import run_control
from ge_dialect.tools.runtime.kernels import check_launch, run_task
from ge_dialect.tools.runtime.poison import Lifetimes
from ge_dialect.tools.runtime.ports import Port, check_feeds, input_ports, output_ports
from ge_dialect.tools.runtime.schedule import (
    MAX_THREADS,
    Worker,
    run_interleaved,
    run_threads,
)
from ge_dialect.tools.runtime.sizes import (
    BoundKernels,
    check_sizes,
    ports_at,
    read_sizes,
)
from ge_dialect.tools.runtime.tiles import TiledKernel


@dataclass(frozen=True)
class TaskTime:
    """How long a task took.

    Attributes:
        task: Its place in the order of the plan.
        stream: The id of its stream.
        what: The kernel's symbol, or the kind of task: "copy", "store", "branch" or "loop".
        node: The node of the model it comes from, or "".
        seconds: Wall-clock time of the reference kernel, which says nothing about a device.
        start: Seconds since the run began.
    """

    task: int
    stream: int
    what: str
    node: str
    seconds: float
    start: float = 0.0


class Executor:
    """Runs the plan of a module, as often as wanted.

    Each run has memory of its own, so that several may run at the same time.

    Args:
        module: Kernels and one plan with addresses.
        weights: WEIGHTS_DATA where the module comes from an `.om` file; None where the weights of
            the module know their bytes.
        plan: Which plan of the module; None for its only one.

    Raises:
        GEError: There is no plan (GE0620), it is not sound (GE0540), or a launch does not fit its
            kernel (GE0807).
    """

    def __init__(
        self, module: ModuleOp, weights: memoryview | None = None, plan: PlanOp | None = None
    ):
        self.module = module
        self.plan = plan_of(module) if plan is None else plan
        verify_plan(self.plan)
        self.inputs: Sequence[Port] = input_ports(self.plan)
        self.outputs: Sequence[Port] = output_ports(self.plan)
        self.times: Sequence[TaskTime] = ()
        """Of the last run with `profile`, in the order of the plan; runs at once share it."""
        self._launched = _launched(module, self.plan)
        self._kernels = BoundKernels(lambda kernel: _runnable(module, kernel))
        self._layout = Layout(self.plan, weights)
        self._late: Mapping[TaskOp, KernelOp] | None = None

    def size_lines(self) -> Sequence[str]:
        """Returns a line for each symbol, and for what has to hold of them."""
        return size_lines(self.plan)

    def example_inputs(self) -> Sequence[Port]:
        """Returns the inputs at sizes that the plan takes: the middle of each range."""
        return ports_at(self.inputs, self.plan, middle_sizes(self.plan))

    def run(
        self,
        feeds: Mapping[str, Any],
        *,
        schedule_seed: int | None = None,
        poison: bool = False,
        profile: bool = False,
    ) -> dict[str, Any]:
        """Returns the outputs, by name, in the order of the model.

        Args:
            feeds: An array for every input, of exactly its shape and type; a list for a sequence,
                None or a value for an optional, a dictionary for a map.
            schedule_seed: Runs the streams on one thread in a random order that the events allow;
                None runs each stream on a thread of its own.
            poison: Fills memory with 0xFF before the run, and each buffer after its last use.
            profile: Puts the time of each task into `times`.

        Raises:
            GEError: The feeds do not fit (GE0801 to GE0803), there is not enough memory (GE0806),
                or a kernel fails (GE0808, GE0809).
        """
        times: list[TaskTime] | None = [] if profile else None
        outputs = self._execute(feeds, schedule_seed, poison, times)
        if times is not None:
            self.times = times
        return outputs

    def profile(self, feeds: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[TaskTime]]:
        """Returns the outputs of a run, and how long each task took, in the order of the plan.

        Raises:
            GEError: As `run`.
        """
        times: list[TaskTime] = []
        return self._execute(feeds, None, False, times), times

    def _execute(
        self,
        feeds: Mapping[str, Any],
        seed: int | None,
        poison: bool,
        times: list[TaskTime] | None,
    ) -> dict[str, Any]:
        """Runs the plan on memory of its own, which is gone once it returns."""
        arrays = check_feeds(self.inputs, feeds)
        sizes = read_sizes(self.plan, arrays)
        if sizes:  # what the symbols leave open is known now
            arrays = check_sizes(self.inputs, self.plan, sizes, feeds)
        memory = self._layout.allocate(sizes)
        late = self._late_kernels()
        kernels = {
            task: self._kernels.at(kernel, sizes)
            for task, kernel in self._launched
            if task not in late
        }
        if poison:
            memory.poison_all()
        for op in self.plan.inputs:
            if op.is_object:
                memory.store(op.result, arrays[op.io_name.data])
            else:
                np.copyto(memory.writable[op.result], arrays[op.io_name.data])
        lifetimes = Lifetimes(self.plan, memory) if poison else None
        began = time.perf_counter()
        workers = [
            _StreamWorker(
                stream.id.value.data, kernels, memory, lifetimes, times, began, late, self._kernels
            )
            for stream in self.plan.streams
        ]
        self._run_streams(workers, seed)
        if times is not None:
            times.sort(key=lambda entry: entry.task)
        return {op.io_name.data: _copied(memory.read(op.buffer)) for op in self.plan.outputs}

    def _late_kernels(self) -> Mapping[TaskOp, KernelOp]:
        """Returns the kernels of tasks that need a size which the run has still to find out."""
        if self._late is None:
            names = self._layout.tellers.names
            needed = {
                kernel: not names.isdisjoint(symbols_in(kernel))
                for _, kernel in (self._launched if names else ())
            }
            self._late = {task: kernel for task, kernel in self._launched if needed.get(kernel)}
        return self._late

    def _run_streams(self, workers: Sequence[Worker], seed: int | None) -> None:
        streams = [tuple(stream.body.block.ops) for stream in self.plan.streams]
        if seed is not None or len(streams) > MAX_THREADS:
            run_interleaved(streams, workers, seed)
        else:
            run_threads(streams, workers)


@dataclass(frozen=True)
class _StreamWorker:
    """Runs the tasks of one stream.

    An object and not a function that names itself, which would be a cycle: the memory of a run
    would then stay until garbage is looked for.
    """

    stream: int
    kernels: Mapping[TaskOp, Run | TiledKernel]
    memory: Memory
    lifetimes: Lifetimes | None
    times: list[TaskTime] | None
    began: float
    late: Mapping[TaskOp, KernelOp]
    bound: BoundKernels

    def _kernel(self, task: TaskOp) -> Run | TiledKernel | None:
        """Returns what a task runs; of a size that depends on data once that is known."""
        if (kernel := self.late.get(task)) is None:
            return self.kernels.get(task)
        assert isinstance(task, LaunchOp)
        for value in task.inputs:
            self.memory.read(value)  # an object tells its sizes when it is complete
        return self.bound.at(kernel, self.memory.sizes)

    def __call__(self, task: TaskOp) -> None:
        started = time.perf_counter()
        if isinstance(task, ControlOp):
            run_control(task, self.memory, self)
        else:
            run_task(task, self._kernel(task), self.memory)
        if self.times is not None:
            begin = started - self.began
            self.times.append(_task_time(task, self.stream, begin, started))
        if self.lifetimes is not None:
            self.lifetimes.finished(task)


def load_plan(path: str) -> LoadedPlan:
    """Returns what an `.om` file holds to be executed; the source model is not needed.

    Raises:
        GEError: The file is damaged, no `.om`, or its plan does not parse or verify.
    """
    return read_plan(path)


def _task_time(task: TaskOp, stream: int, start: float, started: float) -> TaskTime:
    seconds = time.perf_counter() - started
    kind = task.name.removeprefix("ge_exec.")
    what = task.kernel.string_value() if isinstance(task, LaunchOp) else kind
    return TaskTime(task_id(task), stream, what, location_name(task) or "", seconds, start)


def _copied(content: Any) -> Any:
    """Returns what the caller may keep and change."""
    if isinstance(content, np.ndarray):
        return cast("npt.NDArray[Any]", content).copy()
    if isinstance(content, list):
        return [_copied(item) for item in cast("list[Any]", content)]
    return content


def _launched(module: ModuleOp, plan: PlanOp) -> Sequence[tuple[TaskOp, KernelOp]]:
    """Returns each launch with its kernel, checked against it."""
    symbols = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, KernelOp)}
    return [
        (task, check_launch(task, symbols.get(task.kernel.string_value())))
        for task in plan.all_tasks()
        if isinstance(task, LaunchOp)
    ]


def _runnable(module: ModuleOp, kernel: KernelOp) -> Run | TiledKernel:
    if kernel.tiling is not None:
        return TiledKernel(kernel)
    return compile_block(kernel.body.block) or _interpreted(module, kernel)


def _interpreted(module: ModuleOp, kernel: KernelOp) -> Run:
    """Returns what runs a kernel with ops whose meaning is a region, by an interpreter."""

    def run(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        interpreter = make_interpreter(module)  # of this call alone: streams are threads
        name = kernel.sym_name.data
        return tuple(interpreter.run_ssacfg_region(kernel.body, arguments, name))

    return run
