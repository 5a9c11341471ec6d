"""Quantised ONNX operators become ops of `ge`, with the numbers of ONNX's reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ge_dialect.diagnostics import GEError
from tests.kernel_reference import BF16, F16, F32, assert_same
from tests.onnx_models import Array, imported, model, names_of, reference, run

RNG = np.random.default_rng(7)


def levels(dtype: Any, *shape: int) -> Array:
    """Random levels of an integer type, all of its range."""
    info = ml_dtypes.iinfo(dtype)
    drawn = RNG.integers(int(info.min), int(info.max) + 1, shape)
    return drawn.astype(np.int32 if np.dtype(dtype) == np.int32 else np.int16).astype(dtype)


def real(value: Any, dtype: Any = F32) -> Array:
    return np.asarray(value, dtype)


def built(
    op_type: str, *operands: Array | None, domain: str = "", opset: int = 25, **attributes: Any
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of one node and what to feed it; operands of rank 2 and more are inputs."""
    names = ["" if x is None else f"x{slot}" for slot, x in enumerate(operands)]
    present = {n: x for n, x in zip(names, operands, strict=True) if x is not None}
    feeds = {name: x for name, x in present.items() if x.ndim > 1}
    node = helper.make_node(op_type, names, ["y"], "the_node", domain=domain, **attributes)
    inputs = {name: (x.dtype.name, x.shape) for name, x in feeds.items()}
    constants = {name: x for name, x in present.items() if x.ndim <= 1}
    declared = {name: (_numpy_name(dtype), shape) for name, (dtype, shape) in inputs.items()}
    proto = model([node], declared, ["y"], constants, opset=opset)
    if domain:
        proto.opset_import.append(helper.make_opsetid(domain, 1))
    return proto, feeds


def _numpy_name(name: str) -> Any:
    return getattr(ml_dtypes, name, None) or name


def same_as_reference(proto: onnx.ModelProto, feeds: Mapping[str, Array]) -> Array:
    """Checks that no host call is left, and every bit; returns the result."""
    assert all(name.startswith("ge.") for name in names_of(imported(proto)))
    (found,) = run(proto, *feeds.values())
    (wanted,) = reference(proto, feeds)
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()
    return found


@pytest.mark.parametrize("scale_type", [F32, F16])
@pytest.mark.parametrize("a_type", [np.uint8, np.int8])
@pytest.mark.parametrize("b_type", [np.uint8, np.int8])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_qlinear_matmul(
    scale_type: Any, a_type: Any, b_type: Any, per_column: bool, batch: tuple[int, ...]
) -> None:
    shape = (5,) if per_column else (1,)
    proto, feeds = built(
        "QLinearMatMul",
        levels(a_type, *batch, 4, 8),
        real([0.02], scale_type),
        levels(a_type, 1),
        levels(b_type, *batch, 8, 5),
        real(RNG.uniform(0.01, 0.1, shape), scale_type),
        levels(b_type, *shape),
        real([0.25], scale_type),
        levels(np.int8, 1),
    )
    same_as_reference(proto, feeds)


def test_qlinear_matmul_by_row() -> None:
    a, b = levels(np.uint8, 3, 8), levels(np.int8, 8, 5)
    scales, zeros = RNG.uniform(0.01, 0.1, 3).astype(F32), levels(np.uint8, 3)
    proto, feeds = built(
        "QLinearMatMul",
        *(a, scales, zeros),
        *(b, real(0.5), np.asarray(0, np.int8)),
        *(real(0.25), np.asarray(9, np.uint8)),
    )
    (found,) = run(proto, *feeds.values())
    sums = (a.astype(int) - zeros[:, None]) @ b.astype(int)
    factor = (scales * F32.type(0.5) / F32.type(0.25)).astype(float)[:, None]
    assert_same(found, np.clip(np.rint(sums * factor + 9), 0, 255), np.uint8)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    "window",
    [{}, {"pads": [1, 0, 2, 1]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, {"group": 2}],
    ids=str,
)
def test_qlinear_conv(per_channel: bool, bias: bool, dtype: Any, window: dict[str, Any]) -> None:
    shape = (6,) if per_channel else ()
    proto, feeds = built(
        "QLinearConv",
        levels(dtype, 2, 4, 7, 6),
        real(0.02),
        levels(dtype),
        levels(np.int8, 6, 4 // window.get("group", 1), 3, 3),
        real(RNG.uniform(0.001, 0.01, shape)),
        levels(np.int8, *shape),
        real(0.25),
        levels(dtype),
        RNG.integers(-4000, 4000, 6).astype(np.int32) if bias else None,
        **window,
    )
    same_as_reference(proto, feeds)


def test_a_half_goes_to_the_even_level_after_the_zero_point() -> None:
    a, b = np.array([[1, 3]], np.uint8).T, np.array([[1]], np.uint8)
    zero, scale = np.asarray(0, np.uint8), real(0.5)
    proto, feeds = built(
        "QLinearMatMul", a, scale, zero, b, real(1), zero, real(1), np.asarray(1, np.uint8)
    )
    assert same_as_reference(proto, feeds).tolist() == [[2], [2]]  # 1.5 and 2.5


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, ml_dtypes.int4, ml_dtypes.uint4]
FLOATS_8 = [
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz,
]
PLACES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((), {}),
    ((6,), {"axis": -1}),
    ((4,), {"axis": 0}),
    ((4, 3), {"axis": 1, "block_size": 2}),
]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("scale_type", [F32, F16, BF16])
@pytest.mark.parametrize(("shape", "places"), PLACES, ids=str)
def test_linear_quantisation_there_and_back(
    dtype: Any, scale_type: Any, shape: tuple[int, ...], places: dict[str, Any]
) -> None:
    x = (RNG.standard_normal((4, 6)) * 10).astype(scale_type)
    # Quotients of powers of two are exact whatever rounds them.
    scale = np.asarray(2.0 ** RNG.integers(-5, 0, shape)).astype(scale_type)
    zero = levels(dtype, *shape)
    q = same_as_reference(*built("QuantizeLinear", x, scale, zero, **places))
    same_as_reference(*built("DequantizeLinear", q, scale, zero, **places))


@pytest.mark.parametrize("dtype", FLOATS_8, ids=str)
@pytest.mark.parametrize("saturate", [0, 1])
def test_quantisation_to_floats_of_8_bits(dtype: Any, saturate: int) -> None:
    x = np.concatenate([RNG.standard_normal(60) * 4000, [np.inf, -np.inf, np.nan, -0.0]])
    wanted = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    proto, feeds = built(
        "QuantizeLinear", x.astype(F32)[None], real(0.5), output_dtype=wanted, saturate=saturate
    )
    q = same_as_reference(proto, feeds)
    same_as_reference(*built("DequantizeLinear", q, real(0.5), np.zeros((), dtype)))


@pytest.mark.parametrize(
    ("precision", "dtype"), [(TensorProto.FLOAT16, F16), (TensorProto.BFLOAT16, BF16)]
)
def test_the_precision_of_the_quotient(precision: int, dtype: Any) -> None:
    x, scale = (RNG.standard_normal((4, 60)) * 50).astype(F32), real(0.3)
    proto, feeds = built("QuantizeLinear", x, scale, np.zeros((), np.int8), precision=precision)
    found = same_as_reference(proto, feeds)
    plain = np.clip(np.rint(x / scale), -128, 127)
    assert (found != plain).any()  # the test would see the attribute ignored


def test_integers_are_quantised() -> None:
    x = RNG.integers(-5000, 5000, (4, 6)).astype(np.int32)
    same_as_reference(*built("QuantizeLinear", x, real(32), np.asarray(3, np.int8)))


def test_the_type_of_dequantised_numbers() -> None:
    q = levels(np.int32, 4, 6)
    same_as_reference(*built("DequantizeLinear", q, real(0.3)))
    q = levels(np.int8, 4, 6)
    proto, feeds = built("DequantizeLinear", q, real(0.3), output_dtype=TensorProto.FLOAT16)
    assert same_as_reference(proto, feeds).dtype == F16


def test_contradicting_types_are_refused() -> None:
    x, zero = np.zeros((2, 2), F32), np.zeros((), np.int8)
    proto, _ = built("QuantizeLinear", x, real(1), zero, output_dtype=TensorProto.UINT8)
    with pytest.raises(GEError, match="expected a zero point of ui8, as 'output_dtype' says"):
        imported(proto)
    proto, _ = built("DequantizeLinear", zero[None, None], real(1), output_dtype=TensorProto.INT8)
    with pytest.raises(GEError, match="expected 'output_dtype' to be a type of floats, got i8"):
        imported(proto)
