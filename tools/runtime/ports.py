"""What goes into a plan and what comes out: names, shapes, element types, and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge_exec import PlanOp
from ge_dialect.ge_exec.memory import is_buffer


@dataclass(frozen=True)
class Port:
    """An input or output of a plan."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        return f"'{self.name}' {array_type(self.shape, self.dtype)}"


def array_type(shape: Iterable[int], dtype: np.dtype[Any]) -> str:
    """Returns how a message writes the type of an array, `float32[2, 8]`."""
    name = "string" if dtype.kind in "OU" else dtype.name
    return f"{name}[{', '.join(map(str, shape))}]"


def array_layout(type: Attribute) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Returns the shape and numpy type of a buffer type."""
    assert is_buffer(type)
    return tuple(type.get_shape()), to_numpy(type.element_type)


def input_ports(plan: PlanOp) -> list[Port]:
    """Returns the inputs of a plan, in the order of the model."""
    return [Port(op.io_name.data, *array_layout(op.result.type)) for op in plan.inputs]


def output_ports(plan: PlanOp) -> list[Port]:
    """Returns the outputs of a plan, in the order of the model."""
    return [Port(op.io_name.data, *array_layout(op.buffer.type)) for op in plan.outputs]


def check_type(
    what: str, port: Port, shape: tuple[int, ...], dtype: np.dtype[Any], *, any_float: bool = False
) -> None:
    """Checks that an array fits a port.

    Args:
        what: Of the port, "input" or "output".
        port: What is expected.
        shape: Of the array.
        dtype: Of the array; any byte order.
        any_float: Whether a float of another width will do.

    Raises:
        GEError: It does not (GE0803).
    """
    if shape == port.shape and _same_dtype(dtype, port.dtype, any_float):
        return
    hint = "a plan is made for exactly these shapes and types"
    if shape == port.shape and dtype.kind in "biufc" and port.dtype.kind != "O":
        hint = f"convert it with .astype('{port.dtype.name}')"
    raise GEError(
        "GE0803",
        f"{what} '{port.name}': expected {array_type(port.shape, port.dtype)},"
        f" got {array_type(shape, dtype)}",
        hint=hint,
    )


def _same_dtype(found: np.dtype[Any], wanted: np.dtype[Any], any_float: bool) -> bool:
    if found.kind == "V" and wanted.kind == "V" and found.names is None:
        # bf16, f8 and i4 have no name in .npz files: they are raw bytes there.
        return found == wanted or (found.type is np.void and found.itemsize == wanted.itemsize)
    if wanted.kind == "O":
        return found.kind in "OU"
    if any_float and found.kind == "f" and _is_float(wanted):
        return True
    return found.newbyteorder("=") == wanted


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))


def native(port: Port, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns an array that fits a port in the port's own representation."""
    if port.dtype.kind == "O":
        return array.astype(object)
    if array.dtype.type is np.void:
        return np.ascontiguousarray(array).view(port.dtype).reshape(port.shape)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def check_feeds(
    ports: Sequence[Port], feeds: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays of all inputs.

    Raises:
        GEError: Some are missing (GE0801), unknown (GE0802), or of another type (GE0803).
    """
    if missing := [port for port in ports if port.name not in feeds]:
        raise GEError(
            "GE0801",
            f"{len(missing)} of {len(ports)} inputs are missing: {', '.join(map(str, missing))}",
            hint="give them with --inputs, or let --random-inputs 0 make them",
        )
    check_names("input", [name for name in feeds if name not in {p.name for p in ports}], ports)
    arrays: dict[str, npt.NDArray[Any]] = {}
    for port in ports:
        array = np.asarray(feeds[port.name])
        check_type("input", port, array.shape, array.dtype)
        arrays[port.name] = native(port, array)
    return arrays


def check_names(what: str, unknown: Sequence[str], ports: Sequence[Port]) -> None:
    """Refuses names that the plan does not have.

    Raises:
        GEError: There are some (GE0802).
    """
    if unknown:
        known = ", ".join(f"'{port.name}'" for port in ports) or "none"
        raise GEError(
            "GE0802",
            f"unknown {what} {', '.join(repr(name) for name in unknown)}",
            hint=f"the {what}s of the model are: {known}",
        )


def random_feeds(ports: Sequence[Port], seed: int) -> dict[str, npt.NDArray[Any]]:
    """Returns an array for every input, the same for the same seed.

    Floats are normally distributed, integers and truth values are 0 or 1, which is an index that
    most tables have; strings are "a" or "b".
    """
    return {
        port.name: _random(port, np.random.default_rng((seed, index)))
        for index, port in enumerate(ports)
    }


def _random(port: Port, rng: np.random.Generator) -> npt.NDArray[Any]:
    if port.dtype.kind == "O":
        return np.asarray(rng.choice(["a", "b"], port.shape)).astype(object)
    if port.dtype.kind == "c":
        pair = rng.standard_normal((2, *port.shape))
        return (pair[0] + 1j * pair[1]).astype(port.dtype)
    if _is_float(port.dtype):
        return np.asarray(rng.standard_normal(port.shape)).astype(port.dtype)
    return np.asarray(rng.integers(0, 2, port.shape)).astype(port.dtype)
