"""One op of every class of `ge`: that of its documentation, and its variants."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    ModuleOp,
    f32,
    i32,
)
from xdsl.dialects.func import Func
from xdsl.dialects.test import Test, TestOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OptOperandDef, OptPropertyDef
from xdsl.parser import Parser

from ge_dialect.ge import GE
from ge_dialect.ge.activations import AlphaBetaUnaryOp, AlphaUnaryOp
from ge_dialect.ge.elementwise import BinaryOp, CompareOp, LogicalOp, TestUnaryOp, UnaryOp

OP_CLASSES: list[type[IRDLOperation]] = [
    op_class for op_class in GE.operations if issubclass(op_class, IRDLOperation)
]
OP_NAMES = [op_class.name for op_class in OP_CLASSES]

_FAMILIES: tuple[tuple[type[Operation], str], ...] = (
    (AlphaUnaryOp, "%y = {} %x alpha 0.5 : (tensor<4xf32>) -> tensor<4xf32>"),
    (AlphaBetaUnaryOp, "%y = {} %x alpha 0.5 beta 2.0 : (tensor<4xf32>) -> tensor<4xf32>"),
    (TestUnaryOp, "%y = {} %x : (tensor<4xf32>) -> tensor<4xi1>"),
    (UnaryOp, "%y = {} %x : (tensor<4xf32>) -> tensor<4xf32>"),
    (CompareOp, "%y = {} %x, %z : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>"),
    (LogicalOp, "%y = {} %x, %z : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>"),
    (BinaryOp, "%y = {} %x, %z : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"),
)
"""The forms of families whose ops differ in nothing but their name."""


def context() -> Context:
    """Returns a context that knows `ge` and what tests need around it."""
    found = Context()
    for dialect in (Builtin, Func, Test, GE):
        found.load_dialect(dialect)
    return found


def documented(op_class: type[Operation]) -> str | None:
    """Returns the example in the documentation of an op or of its family, None without one."""
    for ancestor in op_class.__mro__:
        text = inspect.cleandoc(ancestor.__doc__ or "")
        if (found := re.search(r"```mlir\n(.*?)```", text, re.DOTALL)) is not None:
            own = ancestor.__name__ == op_class.__name__
            return found[1] if own else re.sub(r"\bge\.\w+", op_class.name, found[1], count=1)
    return None


def sample(op_class: type[Operation]) -> str:
    """Returns text with one op of the class at least; its operands are defined nowhere."""
    if (text := documented(op_class)) is not None:
        return text
    form = next(form for family, form in _FAMILIES if issubclass(op_class, family))
    return form.format(op_class.name)


def parse_ops(text: str) -> list[Operation]:
    """Returns the ops of a text; operands that it does not define are of the types it says."""
    parser = Parser(context(), text)
    ops: list[Operation] = []
    while (op := parser.parse_optional_operation()) is not None:
        ops.append(op)
    return ops


def with_element_type(text: str, element_type: str) -> str:
    """Returns a text with tensors of f32 made tensors of another type."""
    return re.sub(r"(?<=[x<])f32(?=[>,])", element_type, text)


def in_module(op: Operation) -> ModuleOp:
    """Returns a module that holds a copy of `op` and defines its operands."""
    own = {value for inner in op.walk() for value in _defined(inner)}
    outer = dict.fromkeys(
        operand for inner in op.walk() for operand in inner.operands if operand not in own
    )
    source = TestOp(result_types=[value.type for value in outer])
    mapped: dict[SSAValue, SSAValue] = dict(zip(outer, source.results, strict=True))
    return ModuleOp([source, op.clone(value_mapper=mapped)])


def _defined(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def with_floats(op: Operation, number: float) -> Operation | None:
    """Returns a copy whose float properties are all `number`, None where there is none."""
    changed = {name: _changed(attr, number) for name, attr in op.properties.items()}
    if all(changed[name] is attr for name, attr in op.properties.items()):
        return None
    copy = op.clone()
    copy.properties = changed
    return copy


def _changed(attr: Attribute, number: float) -> Attribute:
    if _is_float(attr):
        return FloatAttr(number, attr.type)
    if _is_floats(attr) and attr.elt_type == f32:
        return DenseArrayBase.from_list(f32, [number] * len(attr))
    return attr


def _is_float(attr: Attribute) -> TypeGuard[FloatAttr]:
    return isinstance(attr, FloatAttr)


def _is_floats(attr: Attribute) -> TypeGuard[DenseArrayBase[Float32Type]]:
    return isinstance(attr, DenseArrayBase)


def without_optional(op: Operation) -> Iterator[Operation]:
    """Yields copies without one optional property or operand that `op` has."""
    if not isinstance(op, IRDLOperation):
        return
    definition = type(op).get_irdl_definition()
    for name, found in definition.properties.items():
        if isinstance(found, OptPropertyDef) and name in op.properties:
            copy = op.clone()
            del copy.properties[name]
            yield copy
    for dropped, found in definition.operands:
        if isinstance(found, OptOperandDef) and getattr(op, dropped) is not None:
            yield _without_operand(op, dropped)


def _without_operand(op: IRDLOperation, dropped: str) -> Operation:
    groups: list[list[SSAValue]] = []
    for name, _ in type(op).get_irdl_definition().operands:
        found: SSAValue | Sequence[SSAValue] | None = getattr(op, name)
        if found is None or name == dropped:
            groups.append([])
        else:
            groups.append([found] if isinstance(found, SSAValue) else list(found))
    properties = dict(op.properties)
    if "operandSegmentSizes" in properties:
        sizes = [len(group) for group in groups]
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
    return type(op).create(
        operands=[value for group in groups for value in group],
        result_types=[result.type for result in op.results],
        properties=properties,
    )
