"""Random ONNX models, grown node by node with the values that `onnx.reference` gives."""
