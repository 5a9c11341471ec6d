# RUN: python %s %t.onnx
# RUN: ge-opt %t.onnx --verify-roundtrip | filecheck %s
# RUN: ge-opt %t.onnx -f 'onnx{input-shape="x:2,1~16,8"}' | filecheck %s --check-prefix=RANGE
# RUN: ge-opt %t.onnx -f 'onnx{input-shape="x:2,5,8"}' | filecheck %s --check-prefix=FIXED

# CHECK:       func.func @main(%x: tensor<?x?x8xf32, #ge.dims<"B", "S">> {ge.name = "x"})
# CHECK-SAME:      -> (tensor<?x?x2x4xf32, #ge.dims<"B", "S">> {ge.name = "y"})
# CHECK-SAME:      attributes {ge.symbols = {B = #ge.symbol<0, ?, 1, "dim 0 of input 'x'">,
# CHECK-SAME:      S = #ge.symbol<0, ?, 1, "dim 1 of input 'x'">}} {
# CHECK:         %y = ge.reshape %x
# CHECK-SAME:        -> tensor<?x?x2x4xf32, #ge.dims<"B", "S">>

# RANGE:       func.func @main(%x: tensor<2x?x8xf32, #ge.dims<"S">>
# RANGE-SAME:      attributes {ge.symbols = {S = #ge.symbol<1, 16, 1, "dim 1 of input 'x'">}}

# FIXED:       func.func @main(%x: tensor<2x5x8xf32> {ge.name = "x"})
# FIXED-SAME:      -> (tensor<2x5x2x4xf32> {ge.name = "y"}) {
# FIXED-NEXT:    %y = ge.reshape %x
"""A dynamic model: symbols, and a type computed from them."""

import sys

import onnx
from onnx import TensorProto, helper

nodes = [
    helper.make_node("Shape", ["x"], ["leading"], start=0, end=2),
    helper.make_node("Concat", ["leading", "heads"], ["target"], axis=0),
    helper.make_node("Reshape", ["x", "target"], ["y"]),
]
graph = helper.make_graph(
    nodes,
    "dynamic",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B", "S", 8])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    [helper.make_tensor("heads", TensorProto.INT64, [2], [2, 4])],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), sys.argv[1])
