"""One task at a time: a kernel interpreted on arrays, its results stored where the plan says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.types import is_tensor, static_shape
from ge_dialect.ge_exec import BoundedType, CopyOp, KernelOp, LaunchOp, ObjectType, StoreOp
from ge_dialect.ge_exec.control import SimpleTaskOp
from ge_dialect.ge_exec.memory import storage_type
from ge_dialect.interpreters.compiled import Run
from ge_dialect.lowering.plan_names import describe_task
from ge_dialect.tools.cli import one_line
from ge_dialect.tools.runtime.arenas import Memory, copy_value, store_slice
from ge_dialect.tools.runtime.ports import array_type
from ge_dialect.tools.runtime.tiles import TiledKernel


def run_task(task: SimpleTaskOp, kernel: Run | TiledKernel | None, memory: Memory) -> None:
    """Runs a launch, a copy or a store.

    Args:
        task: The task.
        kernel: What a launch runs, of arrays, whole or tile by tile; None for other tasks.
        memory: Of the execution.

    Raises:
        GEError: The kernel fails (GE0808), or computes something else than it says (GE0809).
    """
    if isinstance(task, CopyOp):
        copy_value(memory, task.source, task.target)
        return
    if isinstance(task, StoreOp):
        store_slice(memory, task.source, task.target, int(memory.read(task.at).reshape(-1)[0]))
        return
    assert kernel is not None
    arguments = tuple(memory.read(value) for value in task.inputs)
    try:
        if isinstance(kernel, TiledKernel):
            _run_tiles(task, kernel, arguments, memory)
            return
        results = kernel(arguments)
    except GEError:
        raise
    except Exception as error:  # whatever the arithmetic of an op may raise on this data
        raise GEError(
            "GE0808",
            f"{describe_task(task)} failed: {one_line(str(error)) or type(error).__name__}",
            hint="check the values of the inputs, such as indices out of range",
        ) from error
    _store(task, results, memory)


def _run_tiles(
    task: LaunchOp, kernel: TiledKernel, arguments: Sequence[Any], memory: Memory
) -> None:
    """Writes tiles straight to their places; an object gets an array of its own."""
    targets: list[npt.NDArray[Any]] = []
    for value, type_ in zip(task.outputs, kernel.kernel.output_types, strict=True):
        if memory.is_object(value):
            assert is_tensor(type_)
            memory.store(value, np.empty(static_shape(type_) or (), to_numpy(type_.element_type)))
            targets.append(memory.objects[value])
        else:
            targets.append(memory.target(value))
    kernel.run(arguments, targets, memory.poisoned)


def _store(task: LaunchOp, results: Sequence[Any], memory: Memory) -> None:
    if len(results) != len(task.outputs):
        raise _unexpected(task, f"{len(task.outputs)} results", str(len(results)))
    pairs: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []
    objects: list[tuple[SSAValue, Any]] = []
    for value, result in zip(task.outputs, results, strict=True):
        memory.tell(value, result)
    for index, (result, value) in enumerate(zip(results, task.outputs, strict=True)):
        if memory.is_object(value):
            objects.append((value, _owned(result, memory)))
            continue
        array, target = np.asarray(result), memory.target(value)
        if array.shape != target.shape or array.dtype != target.dtype:
            expected = array_type(target.shape, target.dtype)
            got = array_type(array.shape, array.dtype)
            raise _unexpected(task, f"result {index} to be {expected}", got)
        pairs.append((array, target))
    if len(pairs) > 1:
        # A result may be a view of an operand that another result is written over.
        targets = [target for _, target in pairs]
        pairs = [
            (array.copy() if _shares(array, targets) else array, target) for array, target in pairs
        ]
    for array, target in pairs:
        np.copyto(target, array)
    for value, content in objects:
        memory.store(value, content)


def _owned(content: Any, memory: Memory) -> Any:
    """Returns what an object may keep: an array that lies in an arena is copied."""
    if isinstance(content, list):
        return [_owned(item, memory) for item in cast("list[Any]", content)]
    if not isinstance(content, np.ndarray | np.generic):
        return content
    array: npt.NDArray[Any] = np.asarray(cast("Any", content))
    return array.copy() if _shares(array, memory.arenas.values()) else array


def _shares(array: npt.NDArray[Any], others: Iterable[npt.NDArray[Any]]) -> bool:
    return any(np.may_share_memory(array, other) for other in others)


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
    expected = [value.type for value in formal]
    got = [value.type for value in actual]
    if len(expected) != len(got) or not all(map(_fits, expected, got)):
        raise GEError(
            "GE0807",
            f"{describe_task(task)}: the kernel takes {what} {_listed(_stored(expected))},"
            f" it is launched on {_listed(got)}",
        )


def _fits(expected: Attribute, got: Attribute) -> bool:
    """Whether a kernel's value may be in a place; an object takes what has no fixed size."""
    if isinstance(got, ObjectType):
        return True  # what it holds is checked by whoever reads it
    return (got.value if isinstance(got, BoundedType) else got) == (
        expected if isinstance(got, BoundedType) else storage_type(expected)
    )


def _stored(types: Sequence[Attribute]) -> Sequence[Attribute]:
    return [
        type if is_tensor(type) and static_shape(type) is None else storage_type(type)
        for type in types
    ]


def _listed(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"
