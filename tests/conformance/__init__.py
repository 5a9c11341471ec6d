"""ONNX's own conformance tests, through the whole pipeline: `make conformance`."""
