"""`quantize(dequantize(q))` goes where every level comes back, and a dequantised constant folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.ir import SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.dtypes import from_numpy
from ge_dialect.ge.quantization import DequantizeLinearOp, QuantizeLinearOp
from ge_dialect.ge.types import tensor_type
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
from ge_dialect.passes.constant_fold import ConstantFoldPass
from ge_dialect.passes.dce import DCEPass
from tests.kernel_reference import BF16, F16, F32, Array
from tests.test_passes_canonicalize import canonicalized, module_of

INT4, UINT4 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)
CASES = [
    *((F32, dtype) for dtype in (np.int8, np.uint8, np.int16, np.uint16, INT4, UINT4)),
    *((F16, dtype) for dtype in (np.int8, np.uint8, INT4, UINT4)),
    *((BF16, dtype) for dtype in (INT4, UINT4)),
    (F32, ml_dtypes.float8_e4m3fn),
    (F32, ml_dtypes.float8_e4m3fnuz),
    (F32, ml_dtypes.float8_e5m2fnuz),
    (F16, ml_dtypes.float8_e4m3fn),
    (F32, ml_dtypes.float4_e2m1fn),
]


def _levels(dtype: np.dtype[Any]) -> Array:
    bits = 4 if dtype.name in ("int4", "uint4", "float4_e2m1fn") else 8 * dtype.itemsize
    codes = np.arange(2**bits, dtype=np.uint8 if bits <= 8 else np.uint16)
    if dtype.name.startswith(("int4", "uint4")):
        return (codes.astype(np.int8) - (8 if dtype == INT4 else 0)).astype(dtype)
    return codes.view(dtype)


def _scales(dtype: np.dtype[Any], levels: int) -> Array:
    """Extremes of what the proof allows, powers of two, and random ones."""
    info = cast(Any, ml_dtypes.finfo(dtype))
    least, most = float(info.smallest_normal), float(info.max) / levels
    spread = np.exp(np.random.default_rng(3).uniform(np.log(least), np.log(most), 24))
    ordinary = np.random.default_rng(4).uniform(0.001, 0.1, 16)
    found = np.concatenate([[least, most * 0.99, 0.5, 1 / 3], spread, ordinary])
    return np.maximum(found.astype(dtype), info.smallest_normal)


@pytest.mark.parametrize(("real", "dtype"), CASES, ids=str)
def test_every_level_comes_back(real: np.dtype[Any], dtype: Any) -> None:
    levels = _levels(np.dtype(dtype))
    is_integer = np.dtype(dtype).name.startswith(("int", "uint"))
    scale = _scales(real, levels.size) if is_integer else np.full(3, 0.11, real)
    zero_point = np.tile(levels[[0, -1, 5]], scale.size)[: scale.size] if is_integer else None

    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        constant = array_constant(scale)
        zero = None if zero_point is None else array_constant(zero_point)
        x = DequantizeLinearOp(arguments[0], constant, zero, axis=0)
        element_type = from_numpy(levels.dtype)
        return QuantizeLinearOp(x, constant, zero, axis=0, element_type=element_type).result

    q = np.tile(levels, (scale.size, 1))
    names, after = canonicalized(module_of([tensor_type(from_numpy(q.dtype), q.shape)], build), q)
    assert not {"ge.quantize_linear", "ge.dequantize_linear"} & set(names)
    assert after.tobytes() == q.tobytes()


@pytest.mark.parametrize(
    ("real", "dtype", "scale"),
    [
        (BF16, np.int8, 0.1),
        (F16, np.int16, 0.1),
        (F32, np.int32, 0.1),
        (F32, np.uint8, 0.0),
        (F32, np.uint8, -0.1),
        (F32, np.uint8, np.nan),
        (F32, np.uint8, np.inf),
        (F32, np.uint8, 1e-40),
        (F32, np.uint8, 2e36),
        (F16, np.uint8, 300.0),
        (F32, ml_dtypes.float8_e5m2, 0.1),
        (F32, ml_dtypes.float8_e4m3fn, 1e-44),
        (F32, ml_dtypes.float8_e4m3fn, 1e37),
    ],
    ids=str,
)
def test_where_a_level_may_change_both_stay(real: Any, dtype: Any, scale: float) -> None:
    q = np.arange(-100, 100).astype(np.int32).astype(np.dtype(dtype))

    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        constant = array_constant(np.asarray(scale, real))
        x = DequantizeLinearOp(arguments[0], constant)
        return QuantizeLinearOp(x, constant, element_type=from_numpy(q.dtype)).result

    module = module_of([tensor_type(from_numpy(q.dtype), q.shape)], build)
    names, _ = canonicalized(module, q)
    assert names.count("ge.quantize_linear") == names.count("ge.dequantize_linear") == 1


@pytest.mark.parametrize(("rows", "folds"), [(4, True), (4096, False)])
def test_a_dequantised_constant_folds_within_the_budget(rows: int, folds: bool) -> None:
    q = np.random.default_rng(0).integers(-128, 128, (rows, 8)).astype(np.int8)
    scale = np.linspace(0.01, 0.02, 8, dtype=F32)

    def build(_: Sequence[SSAValue]) -> SSAValue:
        return DequantizeLinearOp(array_constant(q), array_constant(scale), axis=1).result

    module = module_of([], build)
    (before,) = run_function(module, [])
    for step in (CanonicalizePass(), ConstantFoldPass(), DCEPass()):
        step.apply(Context(), module)
    module.verify()
    (after,) = run_function(module, [])
    assert after.tobytes() == before.tobytes() == (q.astype(F32) * scale).tobytes()
    names = [op.name for op in module.walk() if isinstance(op, GEOp)]
    assert ("ge.dequantize_linear" not in names) == folds
