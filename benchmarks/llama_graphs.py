"""Graphs for the benchmark of the article's table: its attention block, and a layer of LLaMA-7B."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.utils import Extractor

ATTENTION = """
func.func @attention(%q: tensor<{shape}>, %k: tensor<{shape}>, %v: tensor<{shape}>,
    %x: tensor<{shape}>) -> tensor<{shape}> {{
  %t = ge.transpose %k perm [0, 1, 3, 2] : (tensor<{shape}>) -> tensor<{turned}>
  %s = ge.matmul %q, %t : (tensor<{shape}>, tensor<{turned}>) -> tensor<{scores}>
  %c = ge.constant dense<0.08838834764831845> : tensor<f16>
  %a = ge.mul %s, %c : (tensor<{scores}>, tensor<f16>) -> tensor<{scores}>
  %p = ge.softmax %a axis -1 : (tensor<{scores}>) -> tensor<{scores}>
  %o = ge.matmul %p, %v : (tensor<{scores}>, tensor<{shape}>) -> tensor<{shape}>
  %g = ge.constant dense<1.0> : tensor<128xf16>
  %b = ge.constant dense<0.0> : tensor<128xf16>
  %n = ge.layer_norm %o scale %g : tensor<128xf16> bias %b : tensor<128xf16> axis -1
    epsilon 1.0e-05 : tensor<{shape}> -> tensor<{shape}>
  %d, %m = ge.dropout %n : tensor<{shape}> -> tensor<{shape}>, tensor<{mask}>
  %y = ge.add %x, %d : (tensor<{shape}>, tensor<{shape}>) -> tensor<{shape}>
  func.return %y : tensor<{shape}>
}}
"""


def attention_text(batch: int, sequence: int) -> str:
    """Returns the article's attention block, 32 heads of 128, f16: QK, scale, softmax, PV, norm,
    dropout, residual."""
    return ATTENTION.format(
        shape=f"{batch}x32x{sequence}x128xf16",
        mask=f"{batch}x32x{sequence}x128xi1",
        turned=f"{batch}x32x128x{sequence}xf16",
        scores=f"{batch}x32x{sequence}x{sequence}xf16",
    )


MERGED = """
func.func @merged(%q: tensor<{heads}>, %k: tensor<{heads}>, %v: tensor<{heads}>,
    %x: tensor<1x1024x4096xf16>) -> tensor<1x1024x4096xf16> {{
  %o = ge.flash_attention %q, %k, %v scale 0.08838834764831845
    : (tensor<{heads}>, tensor<{heads}>, tensor<{heads}>) -> tensor<{heads}>
  %t = ge.transpose %o perm [0, 2, 1, 3] : (tensor<{heads}>) -> tensor<1x1024x32x128xf16>
  %m = ge.reshape %t : (tensor<1x1024x32x128xf16>) -> tensor<1x1024x4096xf16>
  %g = ge.constant dense<1.0> : tensor<4096xf16>
  %b = ge.constant dense<0.0> : tensor<4096xf16>
  %n = ge.layer_norm %m scale %g : tensor<4096xf16> bias %b : tensor<4096xf16> axis -1
    epsilon 1.0e-05 : tensor<1x1024x4096xf16> -> tensor<1x1024x4096xf16>
  %y = ge.add %x, %n
    : (tensor<1x1024x4096xf16>, tensor<1x1024x4096xf16>) -> tensor<1x1024x4096xf16>
  func.return %y : tensor<1x1024x4096xf16>
}}
"""


def merged_heads_text() -> str:
    """Returns attention whose heads are joined before the norm, which is then over 4096 columns."""
    return MERGED.format(heads="1x32x1024x128xf16")


def cut_layer(source: Path, folder: Path, decode: bool) -> Path:
    """Writes decoder layer 0 of the exporter's LLaMA-7B graph, in f16, and returns its path.

    What comes from elsewhere is an input: the hidden state, the angles of the rotary embedding, the
    mask. Outputs are the hidden state, keys and values. Weights are a sparse file, each at a place
    of its own.

    Args:
        source: The exporter's graph; its weights are not needed.
        folder: To write to.
        decode: Whether it is the graph of one token with a cache.
    """
    model = onnx.ModelProto.FromString(source.read_bytes())
    inputs, outputs = boundary(model.graph, decode)
    part = Extractor(model).extract_model(inputs, outputs)
    folder.mkdir(parents=True, exist_ok=True)
    to_half(part, folder / "weights.bin")
    path = folder / "model.onnx"
    path.write_bytes(part.SerializeToString())
    return path


def boundary(graph: onnx.GraphProto, decode: bool) -> tuple[list[str], list[str]]:
    """Returns the values that a layer shares with others, and those that it makes."""
    made = {output: node for node in graph.node for output in node.output}
    softmax = next(node for node in graph.node if node.op_type == "Softmax")
    mask = made[softmax.input[0]].input[1]
    # Cosine and sine of the same half twice: inside, so that it is seen that the halves are equal.
    wave = next(n for n in graph.node if n.op_type == "Cos")
    angles = made[wave.input[0]].input[0]
    hidden = made[mask].input[0] if made[mask].op_type == "Where" else mask
    adds = [n for n in graph.node if n.op_type == "Add"]
    first = next(n.output[0] for n in graph.node if n.op_type == "Gather")
    residual = next(n for n in adds if first in n.input)
    last = next(n for n in adds if residual.output[0] in n.input and n is not residual)
    inputs = [first, angles, hidden]
    if decode:
        inputs += ["past.0.key", "past.0.value"]
    return inputs, [last.output[0], "present.0.key", "present.0.value"]


def to_half(model: onnx.ModelProto, weights: Path) -> None:
    """Makes all floats of a graph f16; weights get a place each in a sparse file."""
    graph = model.graph
    for value in (*graph.input, *graph.output, *graph.value_info):
        kind = value.type.tensor_type
        if kind.elem_type == TensorProto.FLOAT:
            kind.elem_type = TensorProto.FLOAT16
    offset = 0
    marks: list[int] = []
    for tensor in graph.initializer:
        if tensor.data_type != TensorProto.FLOAT:
            continue
        if tensor.data_location == TensorProto.EXTERNAL:
            size = 2 * int(np.prod(tensor.dims))
            marks.append(offset)
            place(tensor, weights.name, offset, size)
            offset += -(-size // 4096) * 4096
        else:
            half = numpy_helper.to_array(tensor).clip(-65504, 65504).astype(np.float16)
            tensor.CopyFrom(numpy_helper.from_array(half, tensor.name))
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == 1:
                attribute.i = TensorProto.FLOAT16
    with weights.open("wb") as file:
        file.truncate(offset)
        for number, mark in enumerate(marks, start=1):  # equal weights would be stored once
            file.seek(mark)
            file.write(np.float16(number).tobytes())


def place(tensor: onnx.TensorProto, location: str, offset: int, size: int) -> None:
    """Makes a weight a part of a file."""
    dims, name = list(tensor.dims), tensor.name
    tensor.Clear()
    tensor.name, tensor.data_type = name, TensorProto.FLOAT16
    tensor.dims.extend(dims)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", size)):
        tensor.external_data.add(key=key, value=str(value))
