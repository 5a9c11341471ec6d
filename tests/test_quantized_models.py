"""Small quantised models from ONNX through every pass and the plan, against ONNX's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from xdsl.context import Context

from ge_dialect.ge.structure import HostCallOp
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.tools.api import compile
from tests.kernel_reference import F32, Array
from tests.onnx_models import imported, model, reference

RNG = np.random.default_rng(11)
IMAGE = {"x": ("float32", (1, 3, 8, 8))}


def _node(op_type: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs.split(), [output], output, **attributes)


def _constants(per_channel: bool) -> dict[str, Array]:
    """Weights and scales; sums of powers of two are exact in f32 in whatever order."""
    shape = (4,) if per_channel else ()
    return {
        "w": RNG.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
        "w_scale": np.asarray(2.0 ** RNG.integers(-9, -6, shape), F32),
        "w_zero": np.zeros(shape, np.int8),
        "bias": RNG.integers(-2000, 2000, 4).astype(np.int32),
        "v": RNG.integers(-127, 128, (8, 5)).astype(np.int8),
        "v_scale": np.asarray(2.0**-7, F32),
        "v_zero": np.asarray(0, np.int8),
        "x_scale": np.asarray(2.0**-5, F32),
        "x_zero": np.asarray(120, np.uint8),
        "y_scale": np.asarray(2.0**-3, F32),
        "y_zero": np.asarray(7, np.uint8),
        "z_scale": np.asarray(2.0**-2, F32),
        "z_zero": np.asarray(128, np.uint8),
        "b_scale": np.asarray(2.0**-12, F32),
    }


def qdq_model(per_channel: bool) -> onnx.ModelProto:
    """Convolution, relu and product between pairs of quantisations, as a tool inserts them."""
    axis = {"axis": 0}
    nodes = [
        _node("QuantizeLinear", "x x_scale x_zero", "xq"),
        _node("DequantizeLinear", "xq x_scale x_zero", "xd"),
        _node("DequantizeLinear", "w w_scale w_zero", "wd", **axis),
        _node("DequantizeLinear", "bias b_scale", "bd", **axis),
        _node("Conv", "xd wd bd", "c", pads=[1, 1, 1, 1]),
        _node("Relu", "c", "r"),
        _node("QuantizeLinear", "r y_scale y_zero", "rq"),
        _node("DequantizeLinear", "rq y_scale y_zero", "rd"),
        _node("QuantizeLinear", "rd y_scale y_zero", "rqq"),  # left over from another tool
        _node("DequantizeLinear", "rqq y_scale y_zero", "rdd"),
        _node("DequantizeLinear", "v v_scale v_zero", "vd"),
        _node("MatMul", "rdd vd", "m"),
        _node("QuantizeLinear", "m z_scale z_zero", "mq"),
        _node("DequantizeLinear", "mq z_scale z_zero", "y"),
    ]
    return model(nodes, IMAGE, ["y"], _constants(per_channel), opset=21)


def qlinear_model(per_channel: bool) -> onnx.ModelProto:
    """The same with quantised operators; the relu is the saturation at a zero point of 0."""
    constants = _constants(per_channel) | {"y_zero": np.asarray(0, np.uint8)}
    nodes = [
        _node("QuantizeLinear", "x x_scale x_zero", "xq"),
        _node(
            "QLinearConv",
            "xq x_scale x_zero w w_scale w_zero y_scale y_zero bias",
            "c",
            pads=[1, 1, 1, 1],
        ),
        _node("QLinearMatMul", "c y_scale y_zero v v_scale v_zero z_scale z_zero", "m"),
        _node("DequantizeLinear", "m z_scale z_zero", "y"),
    ]
    del constants["b_scale"]
    return model(nodes, IMAGE, ["y"], constants, opset=21)


def integer_model() -> onnx.ModelProto:
    """Dynamic quantisation, integer convolution and product, scaled by hand."""
    constants = {
        "w": RNG.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
        "w_zero": np.asarray(3, np.int8),
        "w_scale": np.asarray(0.01, F32),
        "v": RNG.integers(0, 256, (6, 5)).astype(np.uint8),
    }
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["xq", "x_scale", "x_zero"], "xq"),
        _node("ConvInteger", "xq w x_zero w_zero", "c"),
        _node("Cast", "c", "cf", to=onnx.TensorProto.FLOAT),
        _node("Mul", "x_scale w_scale", "s"),
        _node("Mul", "cf s", "cs"),
        helper.make_node("DynamicQuantizeLinear", ["cs"], ["dq", "d_scale", "d_zero"], "dq"),
        _node("MatMulInteger", "dq v d_zero", "y"),
    ]
    return model(nodes, IMAGE, ["y"], constants, opset=21)


MODELS = {
    "qdq": qdq_model(per_channel=False),
    "qdq-per-channel": qdq_model(per_channel=True),
    "qlinear": qlinear_model(per_channel=False),
    "qlinear-per-channel": qlinear_model(per_channel=True),
    "integer": integer_model(),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_quantised_model_computes_the_numbers_of_onnx(name: str) -> None:
    proto = MODELS[name]
    x = (RNG.standard_normal((1, 3, 8, 8)) * 2).astype(F32)
    (wanted,) = reference(proto, {"x": x})
    (found,) = compile(proto).run({"x": x}).values()
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()
    assert len(np.unique(found)) > 20  # not all saturated


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("qdq", {"quantize_linear": 1, "conv_integer": 1, "matmul_integer": 1, "requantize": 2}),
        ("qdq-per-channel", {"conv_integer": 1, "matmul_integer": 1, "requantize": 2}),
        ("qlinear-per-channel", {"conv_integer": 1, "matmul_integer": 1, "requantize": 2}),
        ("integer", {"dynamic_quantize_linear": 2, "conv_integer": 1, "matmul_integer": 1}),
    ],
)
def test_quantised_ops_are_kept(name: str, kept: dict[str, int]) -> None:
    module = imported(MODELS[name])
    OptimizePipeline().apply(Context(), module)
    names = [op.name.removeprefix("ge.") for op in module.walk()]
    assert not any(isinstance(op, HostCallOp) for op in module.walk())
    assert {op: names.count(op) for op in kept} == kept
