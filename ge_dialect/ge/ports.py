"""What a model calls the inputs and outputs of a function, and shapes for them to paste."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.types import MaybeDim, is_tensor, shape_of
from ge_dialect.symbols import SymbolRange, bounds

_FIRST, _OTHER = 8, 512
"""Upper ends that are suggested for the first dimension, mostly a batch, and for others."""


def io_names(function: FuncOp) -> tuple[list[str], list[str]]:
    """Returns the names of a function's inputs and outputs, from `ge.name` or by position."""
    return (
        _names(function.arg_attrs, len(function.function_type.inputs), "arg"),
        _names(function.res_attrs, len(function.function_type.outputs), "result"),
    )


def check_port_names(function: FuncOp) -> None:
    """Checks that no two inputs, and no two outputs, have one name.

    Raises:
        GEError: GE0523; names the function and the port.
    """
    for kind, names in zip(("inputs", "outputs"), io_names(function), strict=True):
        if twice := next((name for name, count in Counter(names).items() if count > 1), None):
            where = function.sym_name.data
            raise GEError(
                "GE0523",
                f"{names.count(twice)} {kind} of '{where}' are named '{twice}'",
                hint="give each a 'ge.name' of its own",
            )


def _names(attrs: ArrayAttr[DictionaryAttr] | None, count: int, default: str) -> list[str]:
    names = [f"{default}{i}" for i in range(count)]
    for i, attr in enumerate(attrs or ()):
        if isinstance(name := attr.data.get("ge.name"), StringAttr):
            names[i] = name.data
    return names


def shapes_to_paste(function: FuncOp, ranges: Mapping[str, SymbolRange]) -> str:
    """Returns `--input_shape` with a range for every open dimension, for the very inputs.

    Args:
        function: Whose inputs are meant.
        ranges: Of its symbols; where one has no end, one is suggested.
    """
    shapes: list[str] = []
    for name, arg in zip(io_names(function)[0], function.body.block.args, strict=True):
        shape = shape_of(arg.type) if is_tensor(arg.type) else ()
        if not all(isinstance(dim, int) for dim in shape):
            words = [_suggested(dim, axis, ranges) for axis, dim in enumerate(shape)]
            shapes.append(f"{name}:{','.join(words)}")
    return f'--input_shape "{";".join(shapes)}"'


def _suggested(dim: MaybeDim, axis: int, ranges: Mapping[str, SymbolRange]) -> str:
    if isinstance(dim, int):
        return str(dim)
    low, high = (0, None) if dim is None else bounds(dim, ranges)
    if high is None:
        high = max(_FIRST if axis == 0 else _OTHER, 2 * low)
    low = max(low, 1)
    return str(low) if low >= high else f"{low}~{high}"
