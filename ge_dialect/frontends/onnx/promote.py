"""Gives a host call the op of `ge` it really is, once its operands are constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from ge_dialect.frontends.onnx.convert import find_converter
from ge_dialect.frontends.onnx.convert.builder import Builder
from ge_dialect.frontends.onnx.convert.dims import SymbolicDims
from ge_dialect.frontends.onnx.convert.node import (
    AttrValue,
    Node,
    OnHost,
    TensorValue,
    run_converter,
)
from ge_dialect.ge.host import absent_slots, onnx_domain
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.symbolic import bind_values, data_ranges, function_of
from ge_dialect.ge.types import TensorT, is_tensor, shape_of
from ge_dialect.locations import location_name
from ge_dialect.symbols import Dim, symbol, symbols_of


def promote(op: HostCallOp, dims: SymbolicDims | None = None) -> Sequence[SSAValue] | None:
    """Replaces a host call by ops of `ge` where its operands now allow it.

    Args:
        op: In a block.
        dims: What is known of tensors that hold dimensions.

    Returns:
        The values that took the place of its results, or None where it stays.

    Raises:
        GEError: The operands do not fit the node (GE0221).
    """
    domain = onnx_domain(op.callee.data)
    convert = find_converter(domain, op.op_type)
    block = op.parent
    if convert is None or block is None:
        return None
    builder = Builder(block, dims, before=op)
    builder.location = op.location
    node = Node(
        op.op_type,
        op.version.value.data,
        _operands(op),
        _attributes(op),
        [result.first_use is not None for result in op.results],
        builder,
        f"'{op.name}' at {location_name(op) or 'an op without a name'} ({op.op_type})",
        domain,
    )
    try:
        values = run_converter(convert, node)
    except OnHost:
        return None
    builder.use(values)
    for result, value in zip(op.results, values, strict=False):
        result.replace_all_uses_with(value)
    _put_sizes(op, values)
    op.detach()
    op.erase()
    return values


def _put_sizes(op: HostCallOp, values: Sequence[SSAValue]) -> None:
    """Puts in place of symbols for sizes that a host call told what they are now: nobody would
    tell them any more."""
    function = function_of(op)
    if function is None or not (data := data_ranges(function)):
        return
    told: dict[str, Dim] = {}
    for result, value in zip(op.results, values, strict=False):
        if not is_tensor(result.type) or not is_tensor(value.type):
            continue
        for have, dim in zip(shape_of(result.type), shape_of(value.type), strict=False):
            if have is None or dim is None or have == dim:
                continue
            names = symbols_of(have)
            if len(names) == 1 and names[0] in data and have == symbol(names[0]):
                told[names[0]] = dim
    if told:
        bind_values(function, told)


def _operands(op: HostCallOp) -> list[SSAValue | None]:
    absent = absent_slots(op.absent)
    present = iter(op.arguments)
    slots = range(len(op.arguments) + len(absent))
    return [None if slot in absent else next(present) for slot in slots]


def _attributes(op: HostCallOp) -> dict[str, AttrValue]:
    found: dict[str, AttrValue] = {}
    for name, attr in op.attrs.data.items() if op.attrs is not None else ():
        if (value := _value(attr)) is not None:
            found[name] = value
    return found


def _value(attr: Attribute) -> AttrValue | None:
    match attr:
        case IntegerAttr():
            return attr.value.data
        case FloatAttr():
            return attr.value.data
        case StringAttr():
            return attr.data
        case DenseArrayBase():
            return tuple(cast("DenseArrayBase[Any]", attr).get_values())
        case DenseIntOrFPElementsAttr():
            return TensorValue(attr, cast("TensorT", attr.type))
        case ArrayAttr(data=(value, TensorType() as type_)):
            return TensorValue(value, type_)
        case ArrayAttr(data=items):
            return tuple(item.data for item in items if isinstance(item, StringAttr))
        case _:
            return None
