"""One task at a time: a kernel interpreted on arrays, its results stored where the plan says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.interpreter import Interpreter
from xdsl.ir import SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.types import TensorT, static_shape, tensor_of
from ge_dialect.ge_exec import KernelOp, LaunchOp
from ge_dialect.ge_exec.tasks import TaskOp
from ge_dialect.lowering.verify_plan import describe_task
from ge_dialect.tools.cli import one_line
from ge_dialect.tools.runtime.arenas import Memory, copy_bytes
from ge_dialect.tools.runtime.ports import array_layout, array_type


def run_task(
    task: TaskOp, kernel: KernelOp | None, interpreter: Interpreter, memory: Memory
) -> None:
    """Runs a launch or a copy.

    Args:
        task: The task.
        kernel: What a launch runs; None for a copy.
        interpreter: Used by no other thread meanwhile.
        memory: Of the execution.

    Raises:
        GEError: The kernel fails (GE0808), or computes something else than it says (GE0809).
    """
    if not isinstance(task, LaunchOp):
        copy_bytes(memory, task.source, task.target)
        return
    assert kernel is not None
    arguments = tuple(memory.readable[value] for value in task.inputs)
    try:
        results = interpreter.run_ssacfg_region(kernel.body, arguments, kernel.sym_name.data)
    except GEError:
        raise
    except Exception as error:  # whatever the arithmetic of an op may raise on this data
        raise GEError(
            "GE0808",
            f"{describe_task(task)} failed: {one_line(str(error)) or type(error).__name__}",
            hint="check the values of the inputs, such as indices out of range",
        ) from error
    _store(task, results, [memory.writable[value] for value in task.outputs])


def _store(task: LaunchOp, results: Sequence[Any], targets: Sequence[npt.NDArray[Any]]) -> None:
    if len(results) != len(targets):
        raise _unexpected(task, f"{len(targets)} results", str(len(results)))
    arrays = [np.asarray(result) for result in results]
    for index, (array, target) in enumerate(zip(arrays, targets, strict=True)):
        same = array.dtype == target.dtype or (array.dtype.kind, target.dtype.kind) == ("U", "O")
        if array.shape != target.shape or not same:
            raise _unexpected(
                task,
                f"result {index} to be {array_type(target.shape, target.dtype)}",
                array_type(array.shape, array.dtype),
            )
    if len(arrays) > 1:
        # A result may be a view of an operand that another result is written over.
        arrays = [
            array.copy() if any(np.may_share_memory(array, other) for other in targets) else array
            for array in arrays
        ]
    for array, target in zip(arrays, targets, strict=True):
        np.copyto(target, array)


def _unexpected(task: LaunchOp, expected: str, got: str) -> GEError:
    return GEError(
        "GE0809",
        f"{describe_task(task)}: expected {expected}, got {got}",
        hint="this is a bug of the kernel's reference semantics; please report it",
    )


def check_launch(task: LaunchOp, kernel: KernelOp | None) -> KernelOp:
    """Returns the kernel of a launch, checked against the buffers it is launched on.

    Raises:
        GEError: There is none, or its signature is another (GE0807).
    """
    if kernel is None:
        raise GEError("GE0807", f"{describe_task(task)}: there is no kernel of that name")
    block = kernel.body.block
    assert block.last_op is not None
    _check_types(task, "inputs", block.args, task.inputs)
    _check_types(task, "outputs", tuple(block.last_op.operands), task.outputs)
    return kernel


def _check_types(
    task: LaunchOp, what: str, formal: Sequence[SSAValue], actual: Sequence[SSAValue]
) -> None:
    expected = [_tensor_layout(tensor_of(value)) for value in formal]
    got = [array_layout(value.type) for value in actual]
    if expected != got:
        raise GEError(
            "GE0807",
            f"{describe_task(task)}: the kernel takes {what} {_listed(expected)},"
            f" it is launched on {_listed(got)}",
        )


def _tensor_layout(type: TensorT) -> tuple[tuple[int, ...] | None, np.dtype[Any]]:
    return static_shape(type), to_numpy(type.element_type)


def _listed(layouts: Sequence[tuple[tuple[int, ...] | None, np.dtype[Any]]]) -> str:
    return f"({', '.join(array_type(shape or (), dtype) for shape, dtype in layouts)})"
