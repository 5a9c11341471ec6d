"""What goes into a plan and what comes out: names, shapes, element types, and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import UnrankedTensorType
from xdsl.ir import Attribute

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.types import is_tensor
from ge_dialect.ge_exec import ObjectType, PlanOp
from ge_dialect.ge_exec.storage import buffer_element, buffer_shape, is_buffer
from ge_dialect.symbols import Dim


@dataclass(frozen=True)
class Port:
    """An input or output of a plan.

    Attributes:
        name: In the model.
        shape: None for a dimension that only the run tells, or for the whole shape.
        dtype: Of the elements.
        container: The type of a value that is no array but a list, a dictionary or None; "" else.
    """

    name: str
    shape: tuple[int | None, ...] | None
    dtype: np.dtype[Any]
    container: str = ""

    def __str__(self) -> str:
        return f"'{self.name}' {self.container or array_type(self.shape, self.dtype)}"

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of a shape fits."""
        if self.shape is None:
            return True
        return len(shape) == len(self.shape) and all(
            wanted in (None, found) for found, wanted in zip(shape, self.shape, strict=True)
        )


def array_type(shape: Iterable[int | None] | None, dtype: np.dtype[Any]) -> str:
    """Returns how a message writes the type of an array, `float32[2, ?]`."""
    name = "string" if dtype.kind in "OU" else dtype.name
    if shape is None:
        return f"{name}[...]"
    return f"{name}[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"


def array_layout(type: Attribute) -> tuple[tuple[Dim, ...], np.dtype[Any]]:
    """Returns the shape and numpy type of a buffer type; dimensions may be expressions."""
    assert is_buffer(type)
    return buffer_shape(type), to_numpy(buffer_element(type))


def input_ports(plan: PlanOp) -> list[Port]:
    """Returns the inputs of a plan, in the order of the model."""
    return [_port(op.io_name.data, op.result.type) for op in plan.inputs]


def output_ports(plan: PlanOp) -> list[Port]:
    """Returns the outputs of a plan, in the order of the model."""
    return [_port(op.io_name.data, op.buffer.type) for op in plan.outputs]


def _port(name: str, type: Attribute) -> Port:
    if not isinstance(type, ObjectType):
        shape, dtype = array_layout(type)
        return Port(name, tuple(dim if isinstance(dim, int) else None for dim in shape), dtype)
    value = type.value
    if is_tensor(value):
        shape = tuple(dim if dim >= 0 else None for dim in value.get_shape())
        return Port(name, shape, to_numpy(value.element_type))
    if isinstance(value, UnrankedTensorType):
        found = cast("UnrankedTensorType[Attribute]", value)
        return Port(name, None, to_numpy(found.element_type))
    return Port(name, None, np.dtype(object), str(value))


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
    if port.takes(shape) and _same_dtype(dtype, port.dtype, any_float):
        return
    hint = "a plan is made for exactly these shapes and types"
    if port.takes(shape) and dtype.kind in "biufc" and port.dtype.kind != "O":
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
        return np.ascontiguousarray(array).view(port.dtype).reshape(array.shape)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def check_feeds(ports: Sequence[Port], feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arrays of all inputs; of a sequence, an optional or a map what was given.

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
    arrays: dict[str, Any] = {}
    for port in ports:
        if port.container:
            arrays[port.name] = feeds[port.name]
            continue
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

    Raises:
        GEError: An input is no array (GE0813).
    """
    refuse_containers("input", ports)
    return {
        port.name: _random(port, np.random.default_rng((seed, index)))
        for index, port in enumerate(ports)
    }


def refuse_containers(what: str, ports: Iterable[Port]) -> None:
    """Refuses ports that no array fits.

    Raises:
        GEError: There are some (GE0813).
    """
    if found := [port for port in ports if port.container]:
        raise GEError(
            "GE0813",
            f"expected {what}s that are arrays, got {', '.join(map(str, found))}",
            hint="run the plan from Python, where such values are lists, None or dictionaries",
        )


def _random(port: Port, rng: np.random.Generator) -> npt.NDArray[Any]:
    shape = tuple(1 if dim is None else dim for dim in port.shape or ())
    if port.dtype.kind == "O":
        return np.asarray(rng.choice(["a", "b"], shape)).astype(object)
    if port.dtype.kind == "c":
        pair = rng.standard_normal((2, *shape))
        return (pair[0] + 1j * pair[1]).astype(port.dtype)
    if _is_float(port.dtype):
        return np.asarray(rng.standard_normal(shape)).astype(port.dtype)
    return np.asarray(rng.integers(0, 2, shape)).astype(port.dtype)
