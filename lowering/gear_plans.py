"""Plans of gears out of a plan for a range: the numbers of each gear in place of its symbols.

What tasks there are, and what each computes, was decided once for all sizes. Kernels that mention a
symbol are copied for each of its values that occurs; those that then are equal are one. What reads
no input is the same in every run of a gear, and becomes a weight, within the budget of
`ge-constant-fold`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import NamedWeight, WeightAttr
from ge_dialect.ge.base import FusionKind, GEOp, int_attr
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.indexing import ShapeOp, SizeOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.numbers import Numbers
from ge_dialect.ge.symbolic import symbols_in
from ge_dialect.ge_exec import (
    BufferOp,
    InputOp,
    KernelOp,
    LaunchOp,
    PlanOp,
    ViewOp,
    WeightOp,
)
from ge_dialect.ge_exec.control import own_writes
from ge_dialect.ge_exec.memory import base_of, buffer_bytes
from ge_dialect.ge_exec.storage import buffer_element, buffer_shape, is_buffer, is_memref
from ge_dialect.locations import location_name
from ge_dialect.lowering.at_sizes import bind_plan, bound_kernel, greatest_sizes
from ge_dialect.lowering.kernels import kernel_key
from ge_dialect.passes import statistics
from ge_dialect.passes.constant_fold import ConstantFoldPass
from ge_dialect.passes.symbols.split_gears import GEAR, show_gear
from ge_dialect.symbols import SymbolRange

NAME = "ge-split-gears"

_EQUAL = (BroadcastToOp, ConstantOp, ReshapeOp, TransposeOp)
"""Ops that ask of sizes nothing but that some are equal."""


@dataclass
class GearPlans:
    """The plans of gears, and the kernels that they launch.

    Attributes:
        kernels: By name, in the order in which they were needed.
        plans: One a gear.
    """

    kernels: dict[str, KernelOp] = field(default_factory=dict[str, KernelOp])
    plans: list[PlanOp] = field(default_factory=list[PlanOp])
    _numbers: Numbers = field(default_factory=Numbers)
    _names: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    _bound: dict[Hashable, str] = field(default_factory=dict[Hashable, str])

    def add_range(
        self,
        plan: PlanOp,
        number: int,
        sizes: Mapping[str, int],
        constants: Mapping[str, Any] | None = None,
        ranges: Mapping[str, SymbolRange] | None = None,
    ) -> None:
        """Adds the plan of a gear, out of one for a range that has no addresses yet.

        Args:
            plan: Beside its kernels.
            number: Of the gear.
            sizes: A value for each symbol that inputs tell, and of those that follow from them.
            constants: By the names of inputs, arrays that are weights in their place.
            ranges: Of symbols that tasks tell, at these sizes.

        Raises:
            GEError: An op does not take the sizes (GE0331).
        """
        kernels = _kernels_of(plan)
        copy = plan.clone()
        copy.properties["sym_name"] = StringAttr(f"{plan.sym_name.data}_gear_{number}")
        copy.attributes[GEAR] = StringAttr(show_gear(sizes))
        bind_plan(copy, sizes, ranges)
        greatest = greatest_sizes(copy)
        try:
            names = {n: self._bind(kernel, sizes, greatest) for n, kernel in kernels.items()}
        except VerifyException as error:
            raise GEError("GE0331", f"gear {number} ({show_gear(sizes)}): {error}") from error
        self._rename(copy, names)
        known: dict[SSAValue, Any] = {}
        for given in list(copy.inputs):
            if (array := (constants or {}).get(given.io_name.data)) is not None:
                _replace(copy, given, array, given.result.name_hint or "constant", known)
        fold_plan(copy, self.kernels, known)
        self.plans.append(copy)

    def add_plan(self, plan: PlanOp, number: int) -> None:
        """Adds the plan of a gear as it is, taken from beside its kernels."""
        names = {name: self._shelve(kernel) for name, kernel in _kernels_of(plan).items()}
        plan.detach()
        base = plan.sym_name.data.partition("_gear_")[0]
        plan.properties["sym_name"] = StringAttr(f"{base}_gear_{number}")
        self._rename(plan, names)
        self.plans.append(plan)

    def module(self, like: ModuleOp) -> ModuleOp:
        """Returns a module of all kernels that are launched, and the plans; with attributes of
        another."""
        used = {
            task.kernel.string_value()
            for plan in self.plans
            for task in plan.all_tasks()
            if isinstance(task, LaunchOp)
        }
        kernels = [kernel for name, kernel in self.kernels.items() if name in used]
        return ModuleOp([*kernels, *self.plans], dict(like.attributes))

    def _rename(self, plan: PlanOp, names: Mapping[str, str]) -> None:
        for task in plan.all_tasks():
            if isinstance(task, LaunchOp):
                task.properties["kernel"] = SymbolRefAttr(names[task.kernel.string_value()])

    def _bind(self, kernel: KernelOp, sizes: Mapping[str, int], greatest: Mapping[str, int]) -> str:
        values = tuple((name, sizes[name]) for name in symbols_in(kernel) if name in sizes)
        key = (kernel, values)
        if (known := self._bound.get(key)) is None:
            bound = bound_kernel(kernel, sizes, greatest)
            if bound is not kernel:
                _check_types(bound)
            known = self._bound[key] = self._shelve(bound)
        return known

    def _shelve(self, kernel: KernelOp) -> str:
        """Returns the name of a kernel here; of two that compute the same there is one."""
        key = kernel_key(kernel, self._numbers)
        if (known := self._names.get(key)) is None:
            copy = kernel.clone() if kernel.parent is not None else kernel
            title, number = kernel.sym_name.data, 0
            known = title
            while known in self.kernels:
                number += 1
                known = f"{title}_{number}"
            copy.properties["sym_name"] = StringAttr(known)
            self.kernels[known] = copy
            self._names[key] = known
        return known


def _check_types(kernel: KernelOp) -> None:
    """Checks the ops of a kernel at its sizes, since not all that they ask of sizes are guards: a
    window is no larger than what it slides over. Others ask for equal sizes, which are.

    Raises:
        VerifyException: An op does not take them; names its node.
    """
    for op in kernel.body.block.ops:
        if isinstance(op, GEOp) and not (
            op.FUSION_KIND is FusionKind.ELEMENTWISE or isinstance(op, _EQUAL)
        ):
            try:
                op.infer_types()
            except VerifyException as error:
                where = location_name(op) or "an op without a name"
                raise VerifyException(f"'{op.ge_op_type()}' at '{where}': {error}") from error


def _kernels_of(plan: PlanOp) -> dict[str, KernelOp]:
    """Returns the kernels that a plan launches, by name, in order."""
    block = plan.parent
    assert block is not None
    beside = {op.sym_name.data: op for op in block.ops if isinstance(op, KernelOp)}
    tasks = [task for task in plan.all_tasks() if isinstance(task, LaunchOp)]
    return {name: beside[name] for name in (task.kernel.string_value() for task in tasks)}


def fold_plan(
    plan: PlanOp, kernels: Mapping[str, KernelOp], known: dict[SSAValue, Any] | None = None
) -> None:
    """Makes weights of what tasks compute that read no input.

    Args:
        plan: On one stream, without addresses or symbols of inputs.
        kernels: By name.
        known: The bytes of weights that are known already; those that are made are added.
    """
    known = {} if known is None else known
    touched: dict[Operation, int] = {}
    for task in plan.all_tasks():
        for value in own_writes(task):
            base = base_of(value)[0]
            touched[base] = touched.get(base, 0) + 1
    given = {base_of(output.buffer)[0] for output in plan.outputs}
    for task in plan.tasks():
        if not isinstance(task, LaunchOp) or not _is_foldable(task, touched, given):
            continue
        kernel = kernels[task.kernel.string_value()]
        if (results := _evaluated(task, kernel, known)) is None:
            continue
        for target, result in zip(task.outputs, results, strict=True):
            assert isinstance(target.owner, BufferOp)
            _replace(plan, target.owner, result, kernel.sym_name.data, known)
        task.detach()
        task.erase()
        statistics.count(NAME, "folded")
    _renumber(plan)


def _is_foldable(task: LaunchOp, touched: Mapping[Operation, int], given: set[Any]) -> bool:
    """Whether the results of a task could be weights: whole buffers that nothing else writes."""
    policy = ConstantFoldPass()
    size = sum(buffer_bytes(value.type) for value in task.outputs)
    read = sum(buffer_bytes(value.type) for value in task.inputs)
    return (
        size - read <= policy.max_growth
        and size <= policy.max_bytes
        and all(
            isinstance(target.owner, BufferOp)
            and is_memref(target.type)
            and touched[target.owner] == 1
            and target.owner not in given
            for target in task.outputs
        )
    )


def _evaluated(task: LaunchOp, kernel: KernelOp, known: Mapping[SSAValue, Any]) -> Any | None:
    import numpy as np

    from ge_dialect.interpreters.compiled import compile_block

    arguments: list[Any] = []
    for value, argument in zip(task.inputs, kernel.body.block.args, strict=True):
        base, offset = base_of(value)
        if not is_buffer(value.type):
            return None
        dtype = to_numpy(buffer_element(value.type))
        shape = [dim for dim in buffer_shape(value.type) if isinstance(dim, int)]
        if base.result in known:
            arguments.append(np.ndarray(shape, dtype, known[base.result], offset))
        elif all(isinstance(use.operation, ShapeOp | SizeOp) for use in argument.uses):
            arguments.append(np.broadcast_to(np.zeros((), dtype), shape))  # only its shape is read
        else:
            return None
    run = compile_block(kernel.body.block)
    if run is None:
        return None
    try:
        results = [np.ascontiguousarray(result) for result in run(tuple(arguments))]
    except Exception:  # whatever the arithmetic of an op may raise: it is left for the run
        return None
    wanted = [(_shape(value), to_numpy(_element(value))) for value in task.outputs]
    found = [(result.shape, result.dtype) for result in results]
    return results if found == wanted else None


def _shape(value: SSAValue) -> tuple[Any, ...]:
    assert is_buffer(value.type)
    return buffer_shape(value.type)


def _element(value: SSAValue) -> Any:
    assert is_buffer(value.type)
    return buffer_element(value.type)


def _replace(
    plan: PlanOp,
    old: BufferOp | InputOp,
    array: Any,
    title: str,
    known: dict[SSAValue, Any],
) -> None:
    """Puts a weight in the place of a buffer or an input."""
    from ge_dialect.weights import MemoryWeight

    weight = MemoryWeight(array.tobytes())
    assert is_memref(old.result.type)
    name = f"{title}_{weight.digest[:12]}"
    op = WeightOp(WeightAttr(NamedWeight(name, weight)), old.result.type)
    op.location = old.location
    op.result.name_hint = old.result.name_hint
    plan.body.block.insert_op_before(op, old)
    old.result.replace_all_uses_with(op.result)
    old.detach()
    old.erase()
    known[op.result] = array.reshape(-1).view("uint8")


def _renumber(plan: PlanOp) -> None:
    """Numbers the tasks anew, without gaps, and drops what no task touches."""
    for number, task in enumerate(plan.all_tasks()):
        task.properties["id"] = int_attr(number)
    for op in reversed(list(plan.body.block.ops)):
        if isinstance(op, ViewOp | BufferOp | WeightOp) and not op.result.uses.get_length():
            op.detach()
            op.erase()
