"""Layers of public models at their published dimensions, as exporters write them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.onnx_models import value

F16 = np.dtype(np.float16)
LARGE = 1 << 20
"""Elements of a weight, at most."""


class Graph:
    """A graph as it grows; values are called by the name of their node."""

    def __init__(self, **inputs: tuple[int, ...]):
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: dict[str, tuple[int, ...]] = dict(inputs)
        self.numbers = count()

    def op(self, kind: str, *names: str, **attributes: Any) -> str:
        """Adds a node, and returns its result."""
        name = f"{kind.lower()}_{next(self.numbers)}"
        self.nodes.append(helper.make_node(kind, list(names), [name], name, **attributes))
        return name

    def weight(self, *shape: int) -> str:
        """Returns a new weight; no two are equal. A few random numbers, again and again; what would
        take seconds to write is an input."""
        number = next(self.numbers)
        if np.prod(shape) > LARGE:
            self.inputs[f"w_{number}"] = shape
            return f"w_{number}"
        some = np.random.default_rng(number).normal(size=997) * 0.1
        array = np.resize(some.astype(F16), shape)
        self.weights.append(numpy_helper.from_array(array, f"w_{number}"))
        return f"w_{number}"

    def ints(self, *values: int) -> str:
        """Returns a constant, such as a shape."""
        name = f"i_{next(self.numbers)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def number(self, number: float) -> str:
        """Returns a constant of one element."""
        name = f"n_{next(self.numbers)}"
        self.weights.append(numpy_helper.from_array(np.array(number, F16), name))
        return name

    def linear(self, x: str, rows: int, columns: int) -> str:
        """Returns `x @ w + b`."""
        product = self.op("MatMul", x, self.weight(rows, columns))
        return self.op("Add", product, self.weight(columns))

    def norm(self, x: str, width: int) -> str:
        """Returns the layer norm of the last dimension."""
        return self.op(
            "LayerNormalization", x, self.weight(width), self.weight(width), epsilon=1e-5
        )

    def conv(self, x: str, source: int, made: int, kernel: int = 1, **attributes: Any) -> str:
        """Returns a convolution that keeps the size, but for its strides."""
        group = attributes.get("group", 1)
        pad = kernel // 2
        filters = self.weight(made, source // group, kernel, kernel)
        return self.op("Conv", x, filters, self.weight(made), pads=[pad] * 4, **attributes)

    def model(self, result: str) -> onnx.ModelProto:
        """Returns the whole."""
        graph = helper.make_graph(
            self.nodes,
            "real",
            [value(name, "float16", shape) for name, shape in self.inputs.items()],
            [onnx.ValueInfoProto(name=result)],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def transformer(
    batch: int = 1, rows: int = 512, width: int = 768, heads: int = 12, pre: bool = False
) -> onnx.ModelProto:
    """Returns a layer of BERT-base, or, with norms in front, of ViT."""
    g = Graph(x=(batch, rows, width))
    source = g.norm("x", width) if pre else "x"
    split = g.ints(batch, rows, heads, width // heads)
    q, k, v = (g.op("Reshape", g.linear(source, width, width), split) for _ in range(3))
    q, v = (g.op("Transpose", one, perm=[0, 2, 1, 3]) for one in (q, v))
    k = g.op("Transpose", k, perm=[0, 2, 3, 1])
    scores = g.op("Mul", g.op("MatMul", q, k), g.number((width / heads) ** -0.5))
    context = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
    merged = g.op(
        "Reshape", g.op("Transpose", context, perm=[0, 2, 1, 3]), g.ints(batch, rows, width)
    )
    attended = g.op("Add", g.linear(merged, width, width), "x")
    middle = attended if pre else g.norm(attended, width)
    up = g.linear(g.norm(middle, width) if pre else middle, width, 4 * width)
    grown = g.op("Gelu", up)
    out = g.op("Add", g.linear(grown, 4 * width, width), middle)
    return g.model(out if pre else g.norm(out, width))


def bottleneck(batch: int = 8, size: int = 224, width: int = 64) -> onnx.ModelProto:
    """Returns the stem and the first block of ResNet-50."""
    g = Graph(x=(batch, 3, size, size))
    stem = g.op("Relu", g.conv("x", 3, width, 7, strides=[2, 2]))
    x = g.op("MaxPool", stem, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = g.op("Relu", g.conv(x, width, width))
    y = g.op("Relu", g.conv(y, width, width, 3))
    last = g.op("Add", g.conv(y, width, 4 * width), g.conv(x, width, 4 * width))
    return g.model(g.op("Relu", last))


def inverted_residual(size: int = 112, width: int = 24) -> onnx.ModelProto:
    """Returns a block of EfficientNet, with squeeze and excitation."""
    g = Graph(x=(1, width, size, size))
    inner = 6 * width
    y = g.conv("x", width, inner)
    y = g.op("Mul", y, g.op("Sigmoid", y))
    y = g.conv(y, inner, inner, 3, group=inner)
    y = g.op("Mul", y, g.op("Sigmoid", y))
    s = g.op("GlobalAveragePool", y)
    s = g.op("Relu", g.conv(s, inner, 8))
    y = g.op("Mul", y, g.op("Sigmoid", g.conv(s, 8, inner)))
    return g.model(g.op("Add", g.conv(y, inner, width), "x"))


def convnext(size: int = 56, width: int = 96) -> onnx.ModelProto:
    """Returns a block of ConvNeXt-T."""
    g = Graph(x=(1, width, size, size))
    y = g.op("Transpose", g.conv("x", width, width, 7, group=width), perm=[0, 2, 3, 1])
    y = g.linear(g.op("Gelu", g.linear(g.norm(y, width), width, 4 * width)), 4 * width, width)
    y = g.op("Transpose", g.op("Mul", y, g.weight(width)), perm=[0, 3, 1, 2])
    return g.model(g.op("Add", y, "x"))


def unet(size: int = 64, width: int = 320, groups: int = 32) -> onnx.ModelProto:
    """Returns a residual block of Stable Diffusion's U-Net."""
    g = Graph(x=(2, width, size, size))
    y = "x"
    for _ in range(2):
        y = g.op("Reshape", y, g.ints(2, groups, -1))
        y = g.op("InstanceNormalization", y, g.weight(groups), g.weight(groups), epsilon=1e-5)
        y = g.op("Reshape", y, g.ints(2, width, size, size))
        y = g.op("Add", g.op("Mul", y, g.weight(width, 1, 1)), g.weight(width, 1, 1))
        y = g.conv(g.op("Mul", y, g.op("Sigmoid", y)), width, width, 3)
    return g.model(g.op("Add", y, "x"))


def llama(rows: int = 1024, width: int = 4096, heads: int = 32, inner: int = 11008) -> Any:
    """Returns the prefill of a layer of LLaMA-7B without its rotary embedding."""
    g = Graph(x=(1, rows, width), mask=(1, 1, rows, rows))

    def norm(x: str) -> str:
        squares = g.op("ReduceMean", g.op("Mul", x, x), g.ints(-1), keepdims=1)
        root = g.op("Sqrt", g.op("Add", squares, g.number(1e-5)))
        return g.op("Mul", g.op("Div", x, root), g.weight(width))

    x = norm("x")
    split = g.ints(1, rows, heads, width // heads)
    q, k, v = (g.op("Reshape", g.op("MatMul", x, g.weight(width, width)), split) for _ in range(3))
    q, v = (g.op("Transpose", one, perm=[0, 2, 1, 3]) for one in (q, v))
    k = g.op("Transpose", k, perm=[0, 2, 3, 1])
    scores = g.op("Mul", g.op("MatMul", q, k), g.number((width / heads) ** -0.5))
    context = g.op("MatMul", g.op("Softmax", g.op("Add", scores, "mask"), axis=-1), v)
    merged = g.op("Transpose", context, perm=[0, 2, 1, 3])
    merged = g.op("Reshape", merged, g.ints(1, rows, width))
    middle = g.op("Add", g.op("MatMul", merged, g.weight(width, width)), "x")
    y = norm(middle)
    gate = g.op("MatMul", y, g.weight(width, inner))
    gate = g.op("Mul", gate, g.op("Sigmoid", gate))
    up = g.op("MatMul", y, g.weight(width, inner))
    y = g.op("MatMul", g.op("Mul", gate, up), g.weight(inner, width))
    return g.model(g.op("Add", y, middle))


GRAPHS: dict[str, Callable[[], onnx.ModelProto]] = {
    "bert-base": transformer,
    "bert-base, 8 sequences of 128": lambda: transformer(8, 128),
    "vit-base": lambda: transformer(1, 197, pre=True),
    "gpt2-xl": lambda: transformer(1, 1024, 1600, 25, pre=True),
    "resnet50": bottleneck,
    "efficientnet": inverted_residual,
    "convnext": convnext,
    "unet": unet,
    "llama-7b": llama,
    "llama-7b, 128 rows": lambda: llama(128),
}

SMALL: dict[str, Callable[[], onnx.ModelProto]] = {
    "bert": lambda: transformer(1, 40, 64, 4),
    "bert, 3 sequences": lambda: transformer(3, 24, 64, 4),
    "vit": lambda: transformer(2, 19, 64, 2, pre=True),
    "resnet": lambda: bottleneck(2, 36, 8),
    "efficientnet": lambda: inverted_residual(14, 8),
    "convnext": lambda: convnext(12, 16),
    "unet": lambda: unet(10, 32, 8),
    "llama": lambda: llama(48, 64, 4, 96),
}
"""The same graphs, small enough to run."""
