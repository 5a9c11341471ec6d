# RUN: python %s %t.onnx %t.mismatch.onnx
# RUN: not ge-opt %t.onnx 2>&1 | filecheck %s
# RUN: not ge-opt %t.mismatch.onnx 2>&1 | filecheck %s --check-prefix=MISMATCH

# CHECK:      GE0220: 2 operators are not supported: 'com.acme::Frob' is no operator of this opset
# CHECK-SAME: (2 nodes, the first is node 'a' (Frob)); 'ai.onnx.ml::CastMap' works on maps,
# CHECK-SAME: and nothing implements it (1 node, the first is node 'c' (CastMap))

# MISMATCH: GE0221: node 'sum' (Add): expected shapes that broadcast, got [2] and [3]
"""Every unsupported operator in one message; a node that does not fit by its name."""

import sys

import onnx
from onnx import TensorProto, helper


def save(path, nodes, inputs):
    """Writes a model of opset 17."""
    graph = helper.make_graph(
        nodes,
        "errors",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    versions = {"": 17, "com.acme": 1, "ai.onnx.ml": 3}
    opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)


save(
    sys.argv[1],
    [
        helper.make_node("Frob", ["x"], ["u"], "a", domain="com.acme"),
        helper.make_node("Frob", ["u"], ["v"], "b", domain="com.acme"),
        helper.make_node("CastMap", ["v"], ["y"], "c", domain="ai.onnx.ml"),
    ],
    [("x", [2])],
)
save(
    sys.argv[2],
    [helper.make_node("Add", ["p", "q"], ["y"], "sum")],
    [("p", [2]), ("q", [3])],
)
