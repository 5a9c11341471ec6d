"""Arrays by name in `.npz` files, bound to the inputs or outputs of a plan.

A key is the name itself, or the name with `input.` or `output.` before it, so that one file can
hold both. Headers are compared with the plan before any data is read, and nothing is unpickled.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import prod
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.cli import one_line, write_atomically
from ge_dialect.tools.runtime.ports import (
    Port,
    check_names,
    check_type,
    native,
    refuse_containers,
)

_DAMAGED = (ValueError, EOFError, OSError, RuntimeError, zlib.error, zipfile.BadZipFile)
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Side:
    """One side of a plan, as keys name it: `kind` is "input" or "output"."""

    kind: str
    ports: Sequence[Port]

    def name_of(self, key: str) -> str | None:
        """Returns the name that a key stands for, or None where it names nothing of this side."""
        names = {port.name for port in self.ports}
        if key in names:  # first: exporters do name an input "input.1"
            return key
        rest = key.removeprefix(f"{self.kind}.")
        return rest if rest != key and rest in names else None


def read_npz(
    path: str, side: Side, other: Side, *, any_float: bool = False
) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays of a file that belong to one side of a plan, by name.

    Args:
        path: Of the file.
        side: Whose arrays are wanted; not all of them need be there.
        other: Whose arrays may be there as well and are left alone.
        any_float: Whether floats of another width will do.

    Raises:
        GEError: The file cannot be read (GE0101), is no `.npz` or damaged (GE0804), or holds
            pickled objects (GE0805), unknown names (GE0802) or arrays of other types (GE0803).
    """
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise GEError(
            "GE0804", f"'{path}' is no .npz file", hint="write it with numpy.savez(path, x=array)"
        ) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise GEError("GE0101", f"cannot read '{path}': {reason}", hint="check the path") from error
    ports = {port.name: port for port in side.ports}
    with archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        return {
            name: _read(archive, members[key], path, side.kind, ports[name], any_float)
            for name, key in bind(members, side, other).items()
        }


def bind(keys: Iterable[str], side: Side, other: Side) -> dict[str, str]:
    """Returns the key of each name of one side, where there is one.

    Raises:
        GEError: A key names nothing, or a name has two keys (GE0802).
    """
    bound: dict[str, str] = {}
    unknown: list[str] = []
    for key in keys:
        name = side.name_of(key)
        if name is None:
            if other.name_of(key) is None:
                unknown.append(key)
        elif name in bound:
            raise GEError(
                "GE0802",
                f"{side.kind} '{name}' is given twice, as '{bound[name]}' and as '{key}'",
                hint="keep one of them",
            )
        else:
            bound[name] = key
    check_names(side.kind, unknown, side.ports)
    return bound


def _read(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    path: str,
    kind: str,
    port: Port,
    any_float: bool,
) -> npt.NDArray[Any]:
    try:
        with archive.open(info) as file:
            shape, dtype = _header(file)
        if dtype.hasobject:
            raise GEError(
                "GE0805",
                f"'{port.name}' in '{path}' holds pickled Python objects, which are never loaded",
                hint="save an array of numbers, or of strings with .astype('U')",
            )
        refuse_containers(kind, [port])
        check_type(kind, port, shape, dtype, any_float=any_float)
        if dtype.itemsize * prod(shape) > info.file_size:
            raise ValueError("it ends too early")
        with archive.open(info) as file:
            array: npt.NDArray[Any] = npy.read_array(file, allow_pickle=False)
    except _DAMAGED as error:
        raise GEError(
            "GE0804",
            f"'{info.filename}' in '{path}' cannot be read: {one_line(str(error))}",
            hint="write the file again with numpy.savez",
        ) from error
    return array if any_float and array.dtype.kind == "f" else native(port, array)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(file)
    else:
        raise ValueError(f"version {version[0]}.{version[1]} of .npy is for records, not tensors")
    return shape, dtype


def write_npz(path: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Writes arrays under their plain names, all or nothing, and the same bytes every time.

    Types that numpy's format does not name (bf16, f8, i4) are written as raw bytes, `V1` or `V2`.

    Raises:
        GEError: The file cannot be written (GE0103).
    """
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, array in arrays.items():
            plain = array.astype("U") if array.dtype.kind == "O" else array
            with archive.open(
                zipfile.ZipInfo(f"{name}.npy", _EPOCH), "w", force_zip64=True
            ) as file:
                npy.write_array(file, plain, allow_pickle=False)
    write_atomically(path, data.getvalue())
