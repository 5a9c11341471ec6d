"""Small changes to ONNX models, valid or nearly so."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
TypeOf: TypeAlias = tuple[int, tuple[int | str, ...]]
"""Element type and dimensions of a value; a name is a symbol, "" nothing known."""

ALIKE = (
    ("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"),
    ("Sqrt", "Abs", "Exp", "Tanh", "Sigmoid", "Relu", "Neg", "Erf", "Reciprocal", "Identity"),
    ("Softplus", "HardSwish", "Gelu", "Floor", "Sigmoid", "Relu"),
    ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2"),
    ("Softmax", "LogSoftmax"),
    ("And", "Or", "Xor"),
    ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"),
    ("GlobalAveragePool", "GlobalMaxPool"),
)
"""Operators of equal signatures."""

FLOATS = (0.0, -0.0, 1.0, 2.0, 0.5, -1.0, math.inf, -math.inf, 1e-6, 1e-5, -1e9, -65504.0)
SMALL = 64
"""Elements of a constant that may be changed."""


def types_of(model: onnx.ModelProto) -> dict[str, TypeOf]:
    """Returns the types that ONNX infers, by value."""
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    graph, found = model.graph, dict[str, TypeOf]()
    for value in (*graph.value_info, *graph.input, *graph.output):
        kind = value.type.tensor_type
        if kind.HasField("shape"):
            dims = tuple(
                dim.dim_value if dim.HasField("dim_value") else dim.dim_param
                for dim in kind.shape.dim
            )
            found[value.name] = (kind.elem_type, dims)
    for tensor in graph.initializer:
        found[tensor.name] = (tensor.data_type, tuple(tensor.dims))
    return found


def rounds_to_half(model: onnx.ModelProto) -> bool:
    """Whether a model computes in f16 or bf16 somewhere."""
    halves = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
    return any(
        attribute.name == "to" and attribute.i in halves
        for node in model.graph.node
        for attribute in node.attribute
    ) or any(kind in halves for kind, _ in types_of(model).values())


class Mutator:
    """Changes one model; each change is told in a few words, or is None where nothing was done."""

    def __init__(self, model: onnx.ModelProto, rng: Random):
        self.graph, self.rng, self.types = model.graph, rng, types_of(model)
        self.fresh = 0
        self.kinds: Sequence[Callable[[], str | None]] = (
            self.change_operator, self.swap_inputs, self.change_attribute, self.change_attribute,
            self.change_constant, self.change_constant, self.add_output, self.rewire, self.rewire,
            self.insert,
        )  # fmt: skip

    def change(self) -> str | None:
        """Makes one change of a random kind."""
        return self.rng.choice(self.kinds)()

    def change_operator(self) -> str | None:
        """Another operator of the same signature."""
        node = self.rng.choice(self.graph.node)
        groups = [group for group in ALIKE if node.op_type in group]
        if not groups:
            return None
        before, node.op_type = node.op_type, self.rng.choice(groups[0])
        return f"{before} '{node.name}' is {node.op_type}"

    def swap_inputs(self) -> str | None:
        """Two inputs of a node change places."""
        node = self.rng.choice(self.graph.node)
        if len(node.input) < 2:
            return None
        i, j = self.rng.sample(range(len(node.input)), 2)
        node.input[i], node.input[j] = node.input[j], node.input[i]
        return f"inputs {i} and {j} of '{node.name}' swapped"

    def change_attribute(self) -> str | None:
        """A number, or the order of numbers."""
        node = self.rng.choice(self.graph.node)
        if not node.attribute:
            return None
        attribute = self.rng.choice(node.attribute)
        if attribute.type == onnx.AttributeProto.INT:
            attribute.i = self.rng.choice([0, 1, -1, 2, attribute.i + 1, attribute.i - 1])
        elif attribute.type == onnx.AttributeProto.FLOAT:
            attribute.f = self.rng.choice([*FLOATS[:6], 1e-6, 2 * attribute.f, -attribute.f])
        elif attribute.type == onnx.AttributeProto.INTS and attribute.ints:
            self._change_ints(attribute)
        else:
            return None
        return f"'{attribute.name}' of '{node.name}' changed"

    def _change_ints(self, attribute: onnx.AttributeProto) -> None:
        numbers = list(attribute.ints)
        if self.rng.random() < 0.5:
            self.rng.shuffle(numbers)
        else:
            place = self.rng.randrange(len(numbers))
            numbers[place] = self.rng.choice([0, 1, 2, -1, numbers[place] + 1])
        del attribute.ints[:]
        attribute.ints.extend(numbers)

    def change_constant(self) -> str | None:
        """One element, or all, of a small constant."""
        tensors = [one for one in self.graph.initializer if math.prod(one.dims) <= SMALL]
        for node in self.graph.node:
            if node.op_type == "Constant":
                tensors += [one.t for one in node.attribute if one.name == "value"]
        if not tensors:
            return None
        tensor = self.rng.choice(tensors)
        array = numpy_helper.to_array(tensor).copy()
        if not array.size or array.dtype.kind not in "fbiu":
            return None
        flat, place = array.reshape(-1), self.rng.randrange(array.size)
        if array.dtype.kind == "f":
            new = self.rng.choice([*FLOATS, 2 * float(flat[place])])
            flat[place if self.rng.random() < 0.5 else slice(None)] = new
        elif array.dtype.kind == "b":
            flat[place] = not flat[place]
        else:
            step = np.array([self.rng.choice([1, -1, 2])]).astype(array.dtype)
            flat[place : place + 1] += step  # an array, which may overflow
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        return f"constant '{tensor.name}' changed"

    def add_output(self) -> str | None:
        """A value in between is an output as well."""
        known = {value.name for value in self.graph.output}
        names = [
            name
            for node in self.graph.node
            for name in node.output
            if name in self.types and name not in known
        ]
        if not names:
            return None
        name = self.rng.choice(names)
        self.graph.output.append(helper.make_tensor_value_info(name, *self.types[name]))
        return f"output '{name}' added"

    def rewire(self) -> str | None:
        """One use of a value reads another of its type, or one that broadcasts to it."""
        made = {name: k for k, node in enumerate(self.graph.node) for name in node.output}
        for _ in range(10):
            k = self.rng.randrange(len(self.graph.node))
            node = self.graph.node[k]
            places = [i for i, name in enumerate(node.input) if name in self.types]
            if not places:
                continue
            i = self.rng.choice(places)
            old, exact = node.input[i], self.rng.random() < 0.9
            found = [
                name
                for name, kind in self.types.items()
                if name != old and made.get(name, -1) < k and _fits(kind, self.types[old], exact)
            ]
            if found:
                node.input[i] = self.rng.choice(found)
                return f"input {i} of '{node.name}' is '{node.input[i]}', not '{old}'"
        return None

    def insert(self) -> str | None:
        """Nodes between a value and one of its uses; some change nothing."""
        for _ in range(10):
            k = self.rng.randrange(len(self.graph.node))
            node = self.graph.node[k]
            floats = [
                i
                for i, name in enumerate(node.input)
                if self.types.get(name, (0,))[0] == TensorProto.FLOAT
            ]
            if not floats:
                continue
            i = self.rng.choice(floats)
            new = self._chain(node.input[i], len(self.types[node.input[i]][1]))
            node.input[i] = new[-1].output[0]
            for offset, one in enumerate(new):
                self.graph.node.insert(k + offset, one)
            return f"{'+'.join(one.op_type for one in new)} before input {i} of '{node.name}'"
        return None

    def _chain(self, source: str, rank: int) -> list[onnx.NodeProto]:
        self.fresh += 1
        name = f"inserted_{self.fresh}"
        half, constant = f"{name}_half", f"{name}_constant"
        kind = self.rng.choice(["one", "cast", "transpose", "constant"])
        if kind == "cast":
            to = self.rng.choice([TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16])
            return [
                helper.make_node("Cast", [source], [half], half, to=to),
                helper.make_node("Cast", [half], [name], name, to=TensorProto.FLOAT),
            ]
        if kind == "transpose" and rank > 1:
            order = self.rng.sample(range(rank), rank)
            back = [order.index(axis) for axis in range(rank)]
            return [
                helper.make_node("Transpose", [source], [half], half, perm=order),
                helper.make_node("Transpose", [half], [name], name, perm=back),
            ]
        if kind == "constant":
            operator, number = self.rng.choice(
                [("Add", 0.0), ("Add", -0.0), ("Mul", 1.0), ("Mul", -1.0), ("Max", 0.0)]
            )
            array = np.array(number, np.float32)
            self.graph.initializer.append(numpy_helper.from_array(array, constant))
            return [helper.make_node(operator, [source, constant], [name], name)]
        operator = self.rng.choice(["Identity", "Neg", "Abs", "Relu"])
        return [helper.make_node(operator, [source], [name], name)]


def _fits(kind: TypeOf, wanted: TypeOf, exact: bool) -> bool:
    if kind[0] != wanted[0] or len(kind[1]) != len(wanted[1]):
        return False
    return all(a == b or (not exact and a == 1) for a, b in zip(kind[1], wanted[1], strict=True))


def shaken(
    model: onnx.ModelProto, feeds: Mapping[str, Array], seed: int
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Returns a model and its inputs with the last bits of every float changed.

    How far its results move says how much rounding alone may explain.
    """
    rng = np.random.default_rng(seed)

    def shake(array: Array) -> Array:
        if array.dtype != np.float32:
            return array
        with np.errstate(all="ignore"):
            return np.asarray(array * (1 + rng.integers(-1, 2, array.shape) * 3e-7), np.float32)

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            array = shake(numpy_helper.to_array(tensor))
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return copy, {name: shake(array) for name, array in feeds.items()}
