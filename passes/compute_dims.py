"""`ge-compute-dims`: shapes that ops compute, known at compile time as far as types say them.

Before: `Reshape(x, concat(gather(shape(x), 0), [-1]))` with `x` of `[B, 4, 8]`. After: a reshape to
`[B, 32]`, though B is a symbol: each element of the tensors in between is known as a number or as
an expression, and only what is used as a value stays an op.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.indexing import ShapeOp, SizeOp
from ge_dialect.ge.structure import FusionOp, HostCallOp
from ge_dialect.ge.symbolic import data_ranges, function_of
from ge_dialect.ge.types import is_tensor, shape_of, show_shape, value_shape
from ge_dialect.interpreters.folding import replace_by_constants
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.symbols import symbols_of

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.convert.dims import SymbolicDims

NAME = "ge-compute-dims"


@dataclass(frozen=True)
class ComputeDimsPass(ModulePass):
    """Makes constants of shapes and sizes, and types of what is computed from them.

    Where something became known, types are inferred once more, as by `ge-infer-types`.
    """

    name = NAME
    exact = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.frontends.onnx.convert.dims import SymbolicDims

        changed = False
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                dims = SymbolicDims()
                for block in function.body.blocks:
                    changed |= _compute_block(block, dims)
        if changed:
            InferTypesPass().apply(ctx, op)


def _compute_block(block: Block, dims: SymbolicDims) -> bool:
    changed = False
    for op in list(block.ops):
        if isinstance(op, GEOp) and not isinstance(op, FusionOp):
            for region in op.regions:
                for inner in region.blocks:
                    changed |= _compute_block(inner, dims)
            changed |= _compute(op, dims)
    return changed


def _compute(op: Operation, dims: SymbolicDims) -> bool:
    """Notes what is known of the results of an op; returns whether the op could go."""
    if isinstance(op, HostCallOp):
        return _promote(op, dims)
    if (constant := dims.after(op)) is None or constant.result.type != op.results[0].type:
        _remark(op)
        return False
    if not rewrites.permit(NAME, "ConstantForDims", op):
        return False
    constant.location = op.location
    constant.result.name_hint = op.results[0].name_hint
    remarks.passed(NAME, "ConstantForDims", op, "every dimension is a number")
    replace_by_constants(op, [constant])
    statistics.count(NAME, "ConstantForDims")
    return True


def _promote(op: HostCallOp, dims: SymbolicDims) -> bool:
    from ge_dialect.frontends.onnx.promote import promote

    if not any(_is_partly_known(argument, dims) for argument in op.arguments):
        return False
    if _hides_a_size(op, dims):
        return False
    counted = rewrites.active()
    if counted is not None and counted.spent:
        return False
    where = "" if counted is None else counted.where(op)
    location, name = op.location, op.op_type
    if (values := promote(op, dims)) is None:
        return False
    if counted is not None:
        counted.note(NAME, "PromoteHostCall", where)
    owner = next((value.owner for value in values if isinstance(value.owner, Operation)), None)
    if owner is not None:
        owner.location = location
        remarks.passed(NAME, "PromoteHostCall", owner, f"{name} of a known shape")
    statistics.count(NAME, "PromoteHostCall")
    return True


def _hides_a_size(op: HostCallOp, dims: SymbolicDims) -> bool:
    """Whether a size that depends on data would be in the type of a result alone.

    The op would no longer read anything that tells the size.
    """
    function = function_of(op)
    if function is None or not (data := data_ranges(function)):
        return False
    told = {
        name
        for argument in op.arguments
        if is_tensor(argument.type)
        for dim in shape_of(argument.type)
        if dim is not None
        for name in symbols_of(dim)
    }
    asked = {
        name
        for argument in op.arguments
        if is_tensor(argument.type) and (known := dims.of(argument)) is not None
        for item in known.reshape(-1)
        if item is not None and not isinstance(item, bool)
        for name in symbols_of(item)
    }
    return any(name in data and name not in told for name in asked)


def _is_partly_known(value: SSAValue, dims: SymbolicDims) -> bool:
    if not isinstance(value.type, TensorType):
        return False
    known = dims.of(value)
    return known is not None and any(item is not None for item in known.reshape(-1))


def _remark(op: Operation) -> None:
    if isinstance(op, ShapeOp | SizeOp) and remarks.listening():
        shape = op.dims() if isinstance(op, ShapeOp) else value_shape(op.input)
        remarks.missed(
            NAME,
            "ConstantForDims",
            op,
            "a dimension is no number",
            reason=remarks.ReasonClass.SYMBOL,
            found=show_shape(shape),
            wanted="numbers",
        )
