# RUN: python %s %t.onnx
# RUN: ge-opt %t.onnx --verify-roundtrip | filecheck %s
# RUN: ge-opt %t.onnx --print-debuginfo | filecheck %s --check-prefix=LOC

# CHECK:       builtin.module attributes {ge.opset = 17 : i64, ge.producer = "test 1.0"} {
# CHECK-NEXT:    func.func @main(%x: tensor<2x3x4xf32> {ge.name = "x:0"})
# CHECK-SAME:        -> (tensor<6x4xf32> {ge.name = "y"}) {
# CHECK-NEXT:      %h = ge.softmax %x axis 2 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
# CHECK-NEXT:      %y = ge.reshape %h : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
# CHECK-NEXT:      func.return %y : tensor<6x4xf32>

# LOC: ge.softmax {{.*}} loc("/attention/Softmax")
"""A shape computed by ops leaves none of them behind."""

import sys

import onnx
from onnx import TensorProto, helper

nodes = [
    helper.make_node("Softmax", ["x:0"], ["h"], "/attention/Softmax"),
    helper.make_node("Shape", ["h"], ["shape"]),
    helper.make_node("Gather", ["shape", "last"], ["size"]),
    helper.make_node("Concat", ["minus", "size"], ["target"], axis=0),
    helper.make_node("Reshape", ["h", "target"], ["y"]),
]
graph = helper.make_graph(
    nodes,
    "static",
    [helper.make_tensor_value_info("x:0", TensorProto.FLOAT, [2, 3, 4])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    [
        helper.make_tensor("last", TensorProto.INT64, [1], [-1]),
        helper.make_tensor("minus", TensorProto.INT64, [1], [-1]),
    ],
)
opsets = [helper.make_opsetid("", 17)]
model = helper.make_model(graph, opset_imports=opsets, producer_name="test", producer_version="1.0")
onnx.save(model, sys.argv[1])
