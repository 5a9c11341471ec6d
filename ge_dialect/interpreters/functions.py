"""The semantics registered for `ge`, as functions of xDSL's interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    OpImplResult,
    PythonValues,
    ReturnedValues,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.constants import ConstantOp, array_of
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.structure import FusionOp, IfOp, LoopOp, YieldOp
from ge_dialect.ge.types import element_type_of, is_tensor, tensor_of, value_shape
from ge_dialect.interpreters.containers import Value
from ge_dialect.interpreters.registry import Array, evaluate, registered_ops


def _table_entry(
    functions: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> OpImplResult:
    return OpImplResult(evaluate(op, args), None)


@register_impls
class GEFunctions(InterpreterFunctions):
    """Every op of `ge`: the registered semantics, and here the ops whose meaning is a region."""

    @classmethod
    def _impls(cls) -> Iterable[tuple[type[Operation], Any]]:
        # xDSL wants one decorated method an op; ours are data in one table, shared with folding.
        own = dict(super()._impls())
        table = dict.fromkeys(registered_ops(), _table_entry)
        return (table | own).items()

    @impl(ConstantOp)
    def constant(self, interpreter: Interpreter, op: ConstantOp, args: PythonValues) -> Any:
        return (array_of(op.value, tensor_of(op.result)),)

    @impl_terminator(YieldOp)
    def yield_(self, interpreter: Interpreter, op: YieldOp, args: PythonValues) -> Any:
        return ReturnedValues(args), ()

    @impl(FusionOp)
    def fusion(self, interpreter: Interpreter, op: FusionOp, args: PythonValues) -> Any:
        return interpreter.run_ssacfg_region(op.body, args, op.kernel_name.data)

    @impl(IfOp)
    def if_(self, interpreter: Interpreter, op: IfOp, args: PythonValues) -> Any:
        taken = op.then_region if bool(args[0].reshape(-1)[0]) else op.else_region
        return interpreter.run_ssacfg_region(taken, (), "if")

    @impl(LoopOp)
    def loop(self, interpreter: Interpreter, op: LoopOp, args: PythonValues) -> Any:
        trips, condition = int(args[0].reshape(-1)[0]), bool(args[1].reshape(-1)[0])
        carried = tuple(args[2:])
        slices: list[tuple[Array, ...]] = []
        iteration = 0
        while condition and iteration < trips:
            inner = (np.asarray(iteration, np.int64), np.asarray(True), *carried)
            go_on, *values = interpreter.run_ssacfg_region(op.body, inner, "loop")
            carried, scanned = values[: len(carried)], values[len(carried) :]
            slices.append(tuple(scanned))
            condition = bool(go_on.reshape(-1)[0])
            iteration += 1
        return (*carried, *_stack(op, slices, len(carried)))


def _stack(op: LoopOp, slices: list[tuple[Array, ...]], carried: int) -> tuple[Array, ...]:
    """Joins the scan slices of all iterations along a new dimension 0."""
    stacked: list[Array] = []
    for index, result in enumerate(op.results[carried:]):
        if slices:
            stacked.append(np.stack([one[index] for one in slices]))
        else:
            stacked.append(_no_slices(result))
    return tuple(stacked)


def _no_slices(result: SSAValue) -> Array:
    """Returns what a loop without iterations stacks; a dimension that no type says is 0."""
    shape = value_shape(result) if is_tensor(result.type) else (0,)
    known = [dim if isinstance(dim, int) else 0 for dim in shape[1:]]
    return np.zeros((0, *known), to_numpy(element_type_of(result)))


def make_interpreter(module: ModuleOp) -> Interpreter:
    """Returns an interpreter that knows `func` and every op of `ge`."""
    interpreter = Interpreter(module)
    interpreter.register_implementations(FuncFunctions())
    interpreter.register_implementations(GEFunctions())
    return interpreter


def run_function(
    module: ModuleOp, arguments: Sequence[Value], name: str = "main"
) -> tuple[Any, ...]:
    """Returns the results of a function of `module` by the reference semantics.

    Args:
        module: Verified IR.
        arguments: One array an argument of the function; for containers what `Value` says.
        name: The function's symbol.

    Raises:
        InterpretationError: An op has no semantics.
    """
    return tuple(make_interpreter(module).call_op(name, tuple(arguments)))
