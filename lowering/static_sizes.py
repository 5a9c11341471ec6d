"""Whether tensors have a known size, and if not, where that begins."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.types import byte_size, is_tensor

_SHOWN = 3


def check_inputs(function: FuncOp) -> None:
    """Checks that every tensor a function takes has a known size; texts need none.

    Raises:
        GEError: Some have none (GE0520): names the inputs that are dynamic.
    """
    inputs = [
        f"input {index}: {arg.type}"
        for index, arg in enumerate(function.body.block.args)
        if _has_no_size(arg.type)
    ]
    if inputs:
        raise GEError(
            "GE0520",
            f"{len(inputs)} inputs of '{function.sym_name.data}' have no static size:"
            f" {_shorten(inputs)}",
            hint="give the sizes of the model's inputs, as --input_shape 'name:1,128'",
        )


def report_objects(pass_name: str, function: FuncOp) -> None:
    """Remarks on the ops where sizes begin to depend on data, so that no plan can know them."""
    for op in function.walk():
        if isinstance(op, GEOp) and _is_origin(op):
            what = f"{op.ge_op_type()} gives {op.results[0].type}: its bytes are known in the run"
            remarks.analysis(pass_name, "objects", op, what)


def _is_origin(op: Operation) -> bool:
    return any(_has_no_size(result.type) for result in op.results) and not any(
        _has_no_size(operand.type) for operand in op.operands
    )


def _has_no_size(type: Attribute) -> bool:
    return is_tensor(type) and byte_size(type) is None


def _shorten(found: Sequence[str]) -> str:
    return "; ".join(found[:_SHOWN]) + ("; ..." if len(found) > _SHOWN else "")
