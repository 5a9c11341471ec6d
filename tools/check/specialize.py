"""A module with numbers for its symbols: reference semantics take sizes from types."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ge_dialect.ge.base import set_type
from ge_dialect.ge.types import MaybeDim, is_tensor, shape_of, tensor_type
from ge_dialect.symbols import DimExpr, evaluate
from ge_dialect.tools.api import make_context
from ge_dialect.tools.check.feeds import Feed


def specialized(module: ModuleOp, feed: Feed) -> ModuleOp:
    """Returns a copy of a module for the sizes of one set of arguments.

    What is a number then follows through the function by inference of types.

    Raises:
        GEError: The sizes do not fit together (GE0301).
    """
    from ge_dialect.passes.infer_types import InferTypesPass
    from ge_dialect.passes.rewrites import counting

    copy = module.clone()
    for function in copy.body.block.ops:
        if isinstance(function, FuncOp) and function.sym_name.data == feed.function:
            _bind(function, feed)
    with counting():  # no limit holds for what the check itself does
        InferTypesPass().apply(make_context(), copy)
    return copy


def _bind(function: FuncOp, feed: Feed) -> None:
    for argument, array in zip(function.body.block.args, feed.arguments, strict=True):
        assert is_tensor(argument.type)
        set_type(argument, tensor_type(argument.type.element_type, array.shape))
    for op in function.walk():
        for value in op.results:
            _bind_value(value, feed.sizes)
        for region in op.regions if op is not function else ():
            for block in region.blocks:
                for value in block.args:
                    _bind_value(value, feed.sizes)
    function.update_function_type()


def _bind_value(value: SSAValue, sizes: Mapping[str, int]) -> None:
    if (bound := _bound(value.type, sizes)) is not value.type:
        set_type(value, bound)


def _bound(type: Attribute, sizes: Mapping[str, int]) -> Attribute:
    """Returns a type with numbers for the expressions over known symbols."""
    if not is_tensor(type):
        return type
    shape = shape_of(type)
    numbers = tuple(_number(dim, sizes) for dim in shape)
    return type if numbers == shape else tensor_type(type.element_type, numbers)


def _number(dim: MaybeDim, sizes: Mapping[str, int]) -> MaybeDim:
    if not isinstance(dim, DimExpr):
        return dim
    try:
        return evaluate(dim, sizes)
    except ValueError:  # a symbol that no argument has: its value depends on data
        return dim
