"""Whether every tensor of a function has a known size, and if not, where that begins."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.types import byte_size, is_tensor
from ge_dialect.locations import location_name

_SHOWN = 3


def check_static(function: FuncOp) -> None:
    """Checks that every tensor of a function has a known size.

    Raises:
        GEError: Some do not (GE0520): names the inputs that are dynamic, and the ops whose results
            have a size that depends on data.
    """
    inputs = [
        f"input {index}: {arg.type}"
        for index, arg in enumerate(function.body.block.args)
        if byte_size(arg.type) is None
    ]
    unknown = [op for op in function.body.block.ops if _is_unknown(op)]
    if not inputs and not unknown:
        return
    origins = [op for op in unknown if not any(_has_no_size(value.type) for value in op.operands)]
    count = len(inputs) + sum(byte_size(r.type) is None for op in unknown for r in op.results)
    where = f"{count} tensors of '{function.sym_name.data}' have no static size"
    if inputs:
        found = [*inputs, *(f"{_place(op)}: {op.results[0].type}" for op in origins or unknown)]
        raise GEError(
            "GE0520",
            f"{where}: {_shorten(found)}",
            hint="give the sizes of the model's inputs, as --input_shape 'name:1,128'",
        )
    found = [f"'{_title(op)}' at {_place(op)}: {op.results[0].type}" for op in origins or unknown]
    raise GEError(
        "GE0520",
        f"{where}, since their sizes depend on data and are not known before the run:"
        f" {_shorten(found)}",
        hint="cut the model before these nodes, and run what follows on the host",
    )


def _is_unknown(op: Operation) -> bool:
    return any(byte_size(result.type) is None for result in op.results)


def _has_no_size(type: Attribute) -> bool:
    return not is_tensor(type) or byte_size(type) is None


def _place(op: Operation) -> str:
    return location_name(op) or op.name


def _title(op: Operation) -> str:
    return op.ge_op_type() if isinstance(op, GEOp) else op.name


def _shorten(found: Sequence[str]) -> str:
    return "; ".join(found[:_SHOWN]) + ("; ..." if len(found) > _SHOWN else "")
