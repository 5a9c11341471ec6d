"""`ge.host_call` and the ONNX node it stands for, in both directions, and what ONNX infers of it.

Attributes of a node are attributes of the op: `i64` for an int, `f32` for a float, a string,
`array<i64>` and `array<f32>` for lists (`[0x7f800000 : f32, ...]` with an infinity), `["a", "b"]`
for strings. A tensor is its dense value, or `[value, type]` where the value does not say its type;
a type is itself. ONNX is imported by the functions only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute

from ge_dialect.ge.base import float_attr, int_attr, ints_attr
from ge_dialect.ge.constants import array_of, dense_constant
from ge_dialect.ge.dtypes import from_onnx
from ge_dialect.ge.onnx_types import (
    dim_over,
    from_type_proto,
    static_dim,
    symbols_of_types,
    to_type_proto,
)
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import TensorT, tensor_type

if TYPE_CHECKING:
    import numpy.typing as npt
    import onnx

DEFAULT_DOMAIN = "ai.onnx"
"""How a callee spells ONNX's own domain, which a node leaves empty."""


def callee_of(node: onnx.NodeProto) -> str:
    """Returns `domain::OpType` of a node, the default domain spelled out."""
    return f"{node.domain or DEFAULT_DOMAIN}::{node.op_type}"


def onnx_domain(callee: str) -> str:
    """Returns the domain of a callee as a node has it: empty for the default one."""
    domain = callee.partition("::")[0]
    return "" if domain == DEFAULT_DOMAIN else domain


def attrs_from_node(
    node: onnx.NodeProto, read_tensor: Callable[[onnx.TensorProto], Attribute] | None = None
) -> DictionaryAttr:
    """Returns the attributes of a node, by name, in the order of names.

    Args:
        node: Any node without graphs or sparse tensors as attributes.
        read_tensor: Makes the value of a tensor an attribute for `ConstantOp`; the default copies.

    Raises:
        ValueError: An attribute is of an unsupported kind; the message names it.
    """
    read = _copied if read_tensor is None else read_tensor
    found: dict[str, Attribute] = {}
    for attribute in sorted(node.attribute, key=lambda attribute: attribute.name):
        found[attribute.name] = _from_onnx(node, attribute, read)
    return DictionaryAttr(found)


def _from_onnx(
    node: onnx.NodeProto,
    attribute: onnx.AttributeProto,
    read: Callable[[onnx.TensorProto], Attribute],
) -> Attribute:
    import onnx

    kinds = onnx.AttributeProto
    match attribute.type:
        case kinds.INT:
            return int_attr(attribute.i)
        case kinds.FLOAT:
            return float_attr(attribute.f)
        case kinds.STRING:
            return StringAttr(attribute.s.decode())
        case kinds.INTS:
            return ints_attr(attribute.ints)
        case kinds.FLOATS:
            return _floats_attr(attribute.floats)
        case kinds.STRINGS:
            return ArrayAttr([StringAttr(item.decode()) for item in attribute.strings])
        case kinds.TENSOR:
            return _tensor_attr(attribute.t, read)
        case _:
            if (type_ := from_type_proto(attribute.tp, static_dim)) is not None:
                return type_
            kind = kinds.AttributeType.Name(attribute.type)
            raise ValueError(
                f"expected attributes of numbers, strings, tensors and types in"
                f" '{callee_of(node)}', got '{attribute.name}' of kind {kind}"
            )


def _tensor_attr(
    tensor: onnx.TensorProto, read: Callable[[onnx.TensorProto], Attribute]
) -> Attribute:
    value = read(tensor)
    if _says_its_type(value):
        return value
    element_type = from_onnx(tensor.data_type)
    if element_type is None:
        raise ValueError(f"expected a known element type, got {tensor.data_type}")
    return ArrayAttr([value, tensor_type(element_type, tuple(tensor.dims))])


def _says_its_type(value: Attribute) -> bool:
    return isinstance(value, DenseIntOrFPElementsAttr)


def _copied(tensor: onnx.TensorProto) -> Attribute:
    from onnx import numpy_helper

    return dense_constant(numpy_helper.to_array(tensor))


def node_from_host_call(op: HostCallOp) -> onnx.NodeProto:
    """Returns the ONNX node that a host call stands for.

    Inputs are named `x0`, `x1`, ... by slot, empty where the call leaves them; outputs `y0`, ...

    Raises:
        ValueError: An attribute of the op is of no kind that ONNX knows.
    """
    return make_node(
        op.callee.data, op.attrs, absent_slots(op.absent), len(op.arguments), len(op.results)
    )


def make_node(
    callee: str, attrs: DictionaryAttr | None, absent: Sequence[int], arguments: int, results: int
) -> onnx.NodeProto:
    """Returns an ONNX node; `node_from_host_call` in terms of values, not of an op.

    Args:
        callee: `domain::OpType`.
        attrs: As `attrs_from_node` returns them.
        absent: Input slots left empty.
        arguments: How many inputs there are beside those.
        results: How many outputs there are.

    Raises:
        ValueError: An attribute is of no kind that ONNX knows.
    """
    from onnx import helper

    total = arguments + len(absent)
    node = helper.make_node(
        callee.partition("::")[2],
        ["" if slot in absent else f"x{slot}" for slot in range(total)],
        [f"y{i}" for i in range(results)],
        domain=onnx_domain(callee),
    )
    if attrs is not None:
        node.attribute.extend(_to_onnx(name, attr) for name, attr in attrs.data.items())
    return node


def _floats_attr(floats: Sequence[float]) -> Attribute:
    """Returns floats as an attribute with a text that parses: xDSL has none for an array with one
    that is infinite or NaN."""
    if all(map(isfinite, floats)):
        return DenseArrayBase.from_list(f32, list(floats))
    return ArrayAttr([float_attr(number) for number in floats])


def absent_slots(attr: Attribute | None) -> tuple[int, ...]:
    """Returns the input slots that the `absent` property of a host call lists."""
    return () if attr is None else _numbers(attr)


def _numbers(attr: Attribute) -> tuple[Any, ...]:
    return cast("DenseArrayBase[Any]", attr).get_values()


def _to_onnx(name: str, attr: Attribute) -> onnx.AttributeProto:
    import onnx
    from onnx import helper, numpy_helper

    kinds = onnx.AttributeProto
    match attr:
        case IntegerAttr():
            return helper.make_attribute(name, attr.value.data, attr_type=kinds.INT)
        case FloatAttr():
            return helper.make_attribute(name, attr.value.data, attr_type=kinds.FLOAT)
        case StringAttr():
            return helper.make_attribute(name, attr.data, attr_type=kinds.STRING)
        case DenseArrayBase(elt_type=kind):
            of_kind = kinds.INTS if kind == i64 else kinds.FLOATS
            return helper.make_attribute(name, list(_numbers(attr)), attr_type=of_kind)
        case DenseIntOrFPElementsAttr():
            array = array_of(attr, cast("TensorT", attr.type))
            return helper.make_attribute(name, numpy_helper.from_array(array, name))
        case ArrayAttr(data=(value, TensorType() as type_)):
            array = array_of(value, type_)
            return helper.make_attribute(name, numpy_helper.from_array(array, name))
        case ArrayAttr(data=(FloatAttr(), *_) as items):
            floats = [item.value.data for item in items if isinstance(item, FloatAttr)]
            return helper.make_attribute(name, floats, attr_type=kinds.FLOATS)
        case ArrayAttr(data=items):
            strings = [item.data for item in items if isinstance(item, StringAttr)]
            return helper.make_attribute(name, strings, attr_type=kinds.STRINGS)
        case TypeAttribute():
            return helper.make_attribute(name, to_type_proto(attr), attr_type=kinds.TYPE_PROTO)
        case _:
            raise ValueError(f"expected an attribute that ONNX knows for '{name}', got {attr}")


def infer_host_call_types(
    node: onnx.NodeProto,
    version: int,
    operand_types: Sequence[Attribute | None],
    constants: Mapping[int, npt.NDArray[Any]] | None = None,
) -> list[Attribute] | None:
    """Returns the types of a node's outputs by ONNX's own inference.

    Args:
        node: Of any op; names of its inputs and outputs do not matter.
        version: Of the operator set of the node's domain.
        operand_types: One an input slot; None for an empty one.
        constants: Values of the inputs that are known, by slot.

    Returns:
        One type an output, or None where ONNX does not know the op or cannot infer an element type.
        A dimension is kept as an expression where its symbols are those of the operands.

    Raises:
        ValueError: The operands contradict the op.
    """
    import onnx
    from onnx import numpy_helper, shape_inference

    try:
        schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    except onnx.defs.SchemaError:
        return None
    named = _with_slot_names(node)
    types = {
        f"x{slot}": to_type_proto(type_)
        for slot, type_ in enumerate(operand_types)
        if type_ is not None
    }
    data = {
        f"x{slot}": numpy_helper.from_array(array, f"x{slot}")
        for slot, array in (constants or {}).items()
    }
    opsets = [onnx.helper.make_opsetid(node.domain, version)]
    try:
        found = shape_inference.infer_node_outputs(schema, named, types, data, opset_imports=opsets)
    except shape_inference.InferenceError as error:
        raise ValueError(f"'{callee_of(node)}': {error}") from error
    symbols = symbols_of_types(operand_types)
    inferred = [
        from_type_proto(found.get(f"y{i}"), lambda dim: dim_over(dim, symbols))
        for i in range(len(node.output))
    ]
    known = [type_ for type_ in inferred if type_ is not None]
    return known if len(known) == len(inferred) else None


def _with_slot_names(node: onnx.NodeProto) -> onnx.NodeProto:
    import onnx

    named = onnx.NodeProto()
    named.CopyFrom(node)
    named.ClearField("input")
    named.ClearField("output")
    named.input.extend(f"x{slot}" if name else "" for slot, name in enumerate(node.input))
    named.output.extend(f"y{i}" for i in range(len(node.output)))
    return named


@cache
def plain_version(callee: str, version: int) -> tuple[int, DictionaryAttr]:
    """Returns the version that an ONNX op has been the same since, and its attributes' defaults.

    Args:
        callee: `domain::OpType`; of another domain than ONNX's own nothing is known.
        version: Of the operator set.
    """
    import onnx

    domain, op_type = onnx_domain(callee), callee.partition("::")[2]
    if domain or not onnx.defs.has(op_type, version, domain):
        return version, DictionaryAttr({})
    schema: Any = onnx.defs.get_schema(op_type, version, domain)
    node = onnx.NodeProto(op_type=op_type)
    kinds = onnx.AttributeProto
    for attribute in schema.attributes.values():
        if attribute.default_value.type not in (kinds.UNDEFINED, kinds.GRAPH, kinds.SPARSE_TENSOR):
            node.attribute.append(attribute.default_value)
    # The body of a function is made of ops that do change between versions.
    is_function = schema.has_function or schema.has_context_dependent_function
    return version if is_function else schema.since_version, attrs_from_node(node)
