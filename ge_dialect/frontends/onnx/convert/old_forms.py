"""Operators as operator sets 1 to 7 had them, brought to a newer form before they are converted.

Attributes that became operands, defaults that changed, and broadcasting that an attribute asked
for. What only an op of `ge` can say (training, statistics of each feature) is left to the
converter; `consumed_inputs` said which buffers may be reused, and nobody reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import AttrValue, Node, OnHost, upgraded, upgrades
from ge_dialect.ge.types import Shape, normalize_axis, num_elements, value_shape

_BROADCASTING = (
    *("Add", "Sub", "Mul", "Div", "Pow"),
    *("And", "Or", "Xor", "Equal", "Less", "Greater"),
)

_RECURRENT = ("GRU", "LSTM", "RNN")

# Source: ONNX `Selu` 1: the numbers with four digits.
_SELU_1: dict[str, AttrValue] = {"alpha": 1.6732, "gamma": 1.0507}


def _with_attributes(node: Node, attributes: dict[str, AttrValue]) -> Node:
    """Returns the node with attributes, those that it gives itself left as they are."""
    return replace(node, attributes={**attributes, **node.attributes})


def _refuse_other_dims(node: Node, shape: Shape, wanted: Shape, what: str) -> None:
    """Refuses dimensions that are known to differ from those wanted."""
    fits = len(shape) == len(wanted) and all(
        have == want or not (isinstance(have, int) and isinstance(want, int))
        for have, want in zip(shape, wanted, strict=True)
    )
    if not fits:
        node.fail(f"expected {what} of shape {_show(wanted)}, got {_show(shape)}")


def _show(shape: Shape) -> str:
    return str(["?" if dim is None else dim for dim in shape]).replace("'", "")


@upgrades(*_BROADCASTING, before=7)
def broadcast(node: Node) -> Node:
    """Aligns the second operand with the dimensions of the first from `axis` on."""
    shape, second = node.shape(), node[1]
    if not node.get_flag("broadcast"):
        _refuse_other_dims(node, value_shape(second), shape, "input 1, as 'broadcast' is 0,")
        return node
    return replace(node, operands=[node[0], _aligned(node, shape, second)])


def _aligned(node: Node, shape: Shape, second: SSAValue) -> SSAValue:
    """Returns a tensor that broadcasts from the right as `axis` says; by default it ends last.

    Source: ONNX `Add` 6.
    """
    own = value_shape(second)
    if num_elements(second.type) == 1:
        return second if len(own) <= len(shape) else node.reshape(second, ())
    axis = len(shape) - len(own)
    if node.has("axis"):
        axis = normalize_axis(node.get_int("axis"), max(len(shape), 1))
    behind = len(shape) - axis - len(own)
    if axis < 0 or behind < 0:
        node.fail(f"expected input 1 to fit into {_show(shape)} at {axis}, got {_show(own)}")
    wanted = tuple(1 if have == 1 else want for have, want in zip(own, shape[axis:], strict=False))
    _refuse_other_dims(node, own, wanted, "input 1")
    return node.reshape(second, (*own, *(1,) * behind)) if behind else second


@upgrades("Max", "Mean", "Min", "Sum", before=8)
def same_shapes(node: Node) -> Node:
    """Operands of one shape: there was no broadcasting."""
    for slot in range(1, len(node.operands)):
        _refuse_other_dims(node, node.shape(slot), node.shape(), f"input {slot}")
    return node


@upgrades("PRelu", before=7)
def prelu(node: Node) -> Node:
    """A slope of one dimension is one number a channel, or one for all channels."""
    shape, slope = node.shape(), node[1]
    own = value_shape(slope)
    if len(own) != 1 or len(shape) < 3 or own == (1,):
        return node
    _refuse_other_dims(node, own, shape[1:2], "input 1")
    return replace(node, operands=[node[0], node.reshape(slope, (*own, *(1,) * (len(shape) - 2)))])


@upgrades("Gemm", before=7)
def gemm(node: Node) -> Node:
    """`C` is broadcast where an attribute says so."""
    if node.get_flag("broadcast") or len(node.shape()) != 2 or len(node.shape(1)) != 2:
        return node
    rows, columns = (
        node.shape()[node.get_flag("transA")],
        node.shape(1)[not node.get_flag("transB")],
    )
    _refuse_other_dims(node, node.shape(2), (rows, columns), "input 2, as 'broadcast' is 0,")
    return node


@upgrades("Reshape", before=5)
def reshape(node: Node) -> Node:
    """The shape is an attribute."""
    if (shape := node.get_ints("shape")) is None:
        node.fail("expected an attribute 'shape', got none")
    return replace(node, operands=[node[0], node.builder.ints(shape)])


@upgrades("Pad", before=2)
def pad(node: Node) -> Node:
    """The attribute `pads` is called `paddings`."""
    return _with_attributes(node, {"pads": node.get_ints("paddings") or ()})


@upgrades("Concat", before=4)
def concat(node: Node) -> Node:
    """The axis is 1 by default."""
    return _with_attributes(node, {"axis": 1})


@upgrades("Split", before=2)
def split(node: Node) -> Node:
    """The sizes may be an operand, of the element type of the first one."""
    if node.optional(1) is None:
        return node
    sizes = _whole_numbers(node, 1)
    return replace(_with_attributes(node, {"split": sizes}), operands=[node[0]])


@upgrades("Tile", before=6)
def tile(node: Node) -> Node:
    """Repeats along one axis."""
    (count,), (axis,) = (_one_number(node, slot) for slot in (1, 2))
    repeats = [1] * len(node.shape())
    repeats[normalize_axis(axis, len(repeats))] = count
    return replace(node, operands=[node[0], node.builder.ints(repeats)])


def _one_number(node: Node, slot: int) -> Sequence[int]:
    numbers = _whole_numbers(node, slot)
    if len(numbers) != 1:
        node.fail(f"expected input {slot} of one number, got {len(numbers)}")
    return numbers


def _whole_numbers(node: Node, slot: int) -> tuple[int, ...]:
    """Returns a constant operand whose element type may be a float."""
    numbers = node.floats(slot)
    if not all(number.is_integer() for number in numbers):
        node.fail(f"expected input {slot} of whole numbers, got {list(numbers)}")
    return tuple(int(number) for number in numbers)


@upgrades("Cast", before=6)
def cast(node: Node) -> Node:
    """The element type is given by its name."""
    name = node.get_string("to").upper()
    if name not in onnx.TensorProto.DataType.keys():  # noqa: SIM118 - an enumeration of protobuf
        node.fail(f"expected 'to' to be the name of an element type, got {name!r:.40}")
    number = onnx.TensorProto.DataType.Value(name)
    return replace(node, attributes={**node.attributes, "to": number})


@upgrades("Upsample", before=7)
def upsample(node: Node) -> Node:
    """Scales of the two dimensions of an image."""
    if len(node.shape()) != 4:
        node.fail(f"expected an input of rank 4, got {len(node.shape())}")
    scales = (1.0, 1.0, node.get_float("height_scale"), node.get_float("width_scale"))
    return _with_attributes(node, {"scales": scales})


@upgrades("GlobalLpPool", "LpPool", before=2)
def lp_pool(node: Node) -> Node:
    """The exponent is a float."""
    power = node.get_float("p", 2.0)
    if not power.is_integer():
        raise OnHost("an exponent that is no whole number")
    return replace(node, attributes={**node.attributes, "p": int(power)})


@upgrades("Selu", before=6)
def selu(node: Node) -> Node:
    """The defaults have fewer digits."""
    return _with_attributes(node, _SELU_1)


@upgrades(*_RECURRENT, before=7)
def recurrent(node: Node) -> Node:
    """`output_sequence` said whether the first output is there, which its name says as well."""
    kept = {name: value for name, value in node.attributes.items() if name != "output_sequence"}
    return replace(node, attributes=kept)


def host_form(node: Node, proto: onnx.NodeProto) -> tuple[Node, onnx.NodeProto]:
    """Returns what a host call takes: recurrent nodes in a form whose types ONNX can infer."""
    if proto.domain or proto.op_type not in _RECURRENT or node.version >= 7:
        return node, proto
    newer = onnx.NodeProto()
    newer.CopyFrom(proto)
    newer.ClearField("attribute")
    newer.attribute.extend(a for a in proto.attribute if a.name != "output_sequence")
    return upgraded(node), newer
