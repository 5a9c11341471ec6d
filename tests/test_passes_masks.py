"""With `fast-math=masks` every spelling of a mask is one op; values stay where keys are kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.binary import AddOp, MulOp, SubOp
from ge_dialect.ge.constants import array_constant, float_constant
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.unary import LogicalNotOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.dce import DCEPass
from ge_dialect.passes.raising.raise_composites import RaisePass
from tests.kernel_reference import F32, Array
from tests.test_passes_raise import module_of, ops_of

LOWEST = float(np.finfo(F32).min)
Spelling = Callable[[SSAValue, SSAValue], SSAValue]


def chosen(kept: SSAValue, low: float) -> SSAValue:
    return SelectOp(kept, float_constant(0.0), float_constant(low)).result


def turned(kept: SSAValue) -> SSAValue:
    swapped = TransposeOp(kept, (0, 1, 3, 2)).result
    return TransposeOp(chosen(swapped, LOWEST), (0, 1, 3, 2)).result


def dropped(kept: SSAValue) -> SSAValue:
    gone = LogicalNotOp(kept).result
    return SelectOp(gone, float_constant(LOWEST), float_constant(0.0)).result


def product(kept: SSAValue) -> SSAValue:
    difference = SubOp(float_constant(1.0), CastOp(kept, f32))
    return MulOp(float_constant(LOWEST), difference).result


def reshaped(kept: SSAValue) -> SSAValue:
    flat = ReshapeOp(kept, (2, 4, 4)).result
    return ReshapeOp(chosen(flat, -1e38), (2, 1, 4, 4)).result


TRUTHS: dict[str, Spelling] = {
    "lowest": lambda kept, bias: chosen(kept, LOWEST),
    "minus infinity": lambda kept, bias: chosen(kept, -np.inf),
    "moved": lambda kept, bias: turned(kept),
    "the other way round": lambda kept, bias: dropped(kept),
    "product": lambda kept, bias: product(kept),
    "reshaped": lambda kept, bias: reshaped(kept),
    "twice": lambda kept, bias: AddOp(chosen(kept, LOWEST), chosen(kept, -np.inf)).result,
}
BIASES: dict[str, Spelling] = {
    "sum": lambda kept, bias: AddOp(bias, chosen(kept, LOWEST)).result,
    "chosen": lambda kept, bias: SelectOp(kept, bias, float_constant(LOWEST)).result,
    "sum of both": lambda kept, bias: AddOp(AddOp(chosen(kept, -1e38), bias), product(kept)).result,
}


def arrays_of() -> list[Array]:
    rng = np.random.default_rng(0)
    kept = rng.random((2, 1, 4, 4)) < 0.5
    kept[..., 1] = True
    bias = rng.standard_normal((2, 1, 4, 4)).astype(F32)
    return [*(rng.standard_normal((2, 3, 4, 8)).astype(F32) for _ in "qkv"), kept, bias]


@pytest.mark.parametrize("guard", [False, True], ids=["plain", "guard"])
@pytest.mark.parametrize("name", [*TRUTHS, *BIASES])
def test_every_spelling_is_one(name: str, guard: bool) -> None:
    spelling = {**TRUTHS, **BIASES}[name]
    arrays = arrays_of()
    module = module_of(
        arrays,
        lambda x: (
            FlashAttentionOp(
                x[0], x[1], x[2], spelling(x[3], x[4]), scale=0.3, nan_guard=guard
            ).result
        ),
    )
    (wanted,) = run_function(module, arrays)
    RaisePass(fast_math=("masks",)).apply(Context(), module)
    DCEPass().apply(Context(), module)
    module.verify()
    (found,) = run_function(module, arrays)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    (attention,) = [op for op in ops_of(module) if isinstance(op, FlashAttentionOp)]
    assert attention.nan_guard is None
    assert attention.mask is not None
    wanted_type = "i1" if name in TRUTHS else "f32"
    assert str(attention.mask.type) == f"tensor<2x1x4x4x{wanted_type}>"
    if name in BIASES:
        assert isinstance(attention.mask.owner, SelectOp)


def test_a_constant_bias_keeps_its_numbers() -> None:
    arrays = arrays_of()[:3]
    bias = np.where(np.tri(4, dtype=np.bool_), F32.type(0.5), F32.type(LOWEST)).astype(F32)
    module = module_of(
        arrays, lambda x: FlashAttentionOp(x[0], x[1], x[2], array_constant(bias), scale=0.3).result
    )
    (wanted,) = run_function(module, arrays)
    RaisePass(fast_math=("masks",)).apply(Context(), module)
    (found,) = run_function(module, arrays)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    assert "tensor<4x4xf32>" in str(module) and "-3.4028" not in str(module)
