"""A module with numbers for its symbols: reference semantics take sizes from types."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge_dialect.ge.base import set_type
from ge_dialect.ge.symbolic import bind_values
from ge_dialect.ge.types import is_tensor, tensor_type
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
    bind_values(function, feed.sizes)
    function.update_function_type()
