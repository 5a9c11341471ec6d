"""`ge-legalize-*`: composites spelled out compute the same, and `ge-raise` finds them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, i1
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.activations import (
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    MishOp,
    QuickGeluOp,
    SiluOp,
    SoftsignOp,
)
from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import PreluOp
from ge_dialect.ge.channel_normalization import BatchNormOp, GroupNormOp, InstanceNormOp
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.normalization import LayerNormOp, LpNormOp, RMSNormOp
from ge_dialect.ge.types import tensor_type
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
from ge_dialect.passes.constant_fold import ConstantFoldPass
from ge_dialect.passes.cse import CSEPass
from ge_dialect.passes.legalization.activations import LegalizeActivationPass
from ge_dialect.passes.legalization.attention import LegalizeAttentionPass
from ge_dialect.passes.legalization.norms import LegalizeNormPass
from ge_dialect.passes.legalization.rotary import LegalizeRotaryPass
from ge_dialect.passes.raising.raise_composites import RaisePass
from ge_dialect.symbols import symbol
from tests.kernel_reference import F16, F32, Array
from tests.test_passes_canonicalize import module_of as module_of_types
from tests.test_passes_raise import module_of, ops_of

BF16 = np.dtype(ml_dtypes.bfloat16)
Build = Callable[[Sequence[SSAValue]], GEOp]

EVERY_F16 = np.arange(65536, dtype=np.uint16).view(F16)


def random(*shape: int, dtype: np.dtype[Any] = F32, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def legalized(
    pass_: ModulePass, arrays: Sequence[Array], build: Build, ulps: int = 0
) -> tuple[ModuleOp, list[str]]:
    """The module and its ops afterwards, having checked that results are the same."""
    module = module_of(arrays, lambda x: build(x).results[0])
    (before,) = run_function(module, arrays)
    pass_.apply(Context(), module)
    module.verify()
    (after,) = run_function(module, arrays)
    assert before.dtype == after.dtype
    if ulps == 0:
        np.testing.assert_array_equal(after.astype(np.float64), before.astype(np.float64))
    else:
        step = float(cast(Any, ml_dtypes).finfo(before.dtype).eps) * ulps
        wide = [array.astype(np.float64) for array in (after, before)]
        np.testing.assert_allclose(*wide, rtol=step, atol=step)
    return module, [op.name for op in ops_of(module)]


def raised_again(module: ModuleOp) -> list[GEOp]:
    fold, canonicalize = ConstantFoldPass(), CanonicalizePass()
    for pass_ in (fold, canonicalize, CSEPass(), RaisePass(), canonicalize, RaisePass()):
        pass_.apply(Context(), module)
    module.verify()
    return ops_of(module)


ATTENTIONS: dict[str, Build] = {
    "plain": lambda x: FlashAttentionOp(*x[:3], scale=0.3),
    "mask": lambda x: FlashAttentionOp(*x, scale=0.3),
    "softcap": lambda x: FlashAttentionOp(*x[:3], scale=0.3, softcap=2.5),
    "causal": lambda x: FlashAttentionOp(*x[:3], scale=0.3, causal=True, causal_offset=1),
    "late": lambda x: FlashAttentionOp(*x[:3], scale=0.3, causal=True, causal_offset=-2),
    "guard": lambda x: FlashAttentionOp(
        *x, scale=0.3, causal=True, causal_offset=-2, nan_guard=True
    ),
}


@pytest.mark.parametrize("dtype", [F32, F16, BF16], ids=str)
@pytest.mark.parametrize("truth", [True, False], ids=["truths", "added"])
@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention(name: str, truth: bool, dtype: np.dtype[Any]) -> None:
    q, k, v = random(2, 4, 5, 8, dtype=dtype), *random(2, 2, 2, 6, 8, dtype=dtype, seed=1)
    kept = np.random.default_rng(2).random((2, 1, 5, 6)) < 0.7
    kept[:, :, 3] = False
    mask = kept if truth else np.where(kept, 0.25, -np.inf).astype(dtype)
    build = ATTENTIONS[name]
    module, names = legalized(LegalizeAttentionPass(), [q, k, v, mask], build, ulps=8)
    assert "ge.flash_attention" not in names
    if name not in ("guard", "late"):
        (op,) = raised_again(module)
        (wanted,) = ops_of(module_of([q, k, v, mask], lambda x: build(x).results[0]))
        assert (op.properties, op.result_types) == (wanted.properties, wanted.result_types)
        assert [operand.type for operand in op.operands] == [x.type for x in wanted.operands]


def test_attention_keeps_nan_that_is_not_of_the_mask() -> None:
    q, k, v = random(1, 1, 3, 4), *random(2, 1, 1, 3, 4, seed=1)
    q[0, 0, 1, 2] = np.nan
    mask = np.array([True, True, False])[None, None, :, None].repeat(3, -1)
    build: Build = lambda x: FlashAttentionOp(*x, scale=1.0, nan_guard=True)  # noqa: E731
    module, _ = legalized(LegalizeAttentionPass(), [q, k, v, mask], build, ulps=8)
    (found,) = run_function(module, [q, k, v, mask])
    assert np.isnan(found[0, 0, 1]).all() and not found[0, 0, 2].any()


def test_a_causal_mask_of_unknown_size_stays() -> None:
    shape = (1, 2, symbol("S"), 8)
    module = module_of_types(
        [tensor_type(f32, shape)] * 3, lambda x: FlashAttentionOp(*x, scale=1.0, causal=True)
    )
    with remarks.collect() as found:
        LegalizeAttentionPass().apply(Context(), module)
    (op,) = ops_of(module)
    assert isinstance(op, FlashAttentionOp)
    (remark,) = found.remarks
    assert remark.reason_class == remarks.ReasonClass.SYMBOL


NORMS: dict[str, tuple[Build, int]] = {
    "layer": (lambda x: LayerNormOp(*x[:3], axis=-1, epsilon=1e-5), 0),
    "layer_of_two": (lambda x: LayerNormOp(x[0], axis=-3, epsilon=1e-3), 0),
    "layer_no_bias": (lambda x: LayerNormOp(*x[:2], axis=-1, epsilon=1e-5), 0),
    "rms": (lambda x: RMSNormOp(*x[:2], axis=-1, epsilon=1e-6), 0),
    "rms_plain": (lambda x: RMSNormOp(x[0], axis=-1, epsilon=1e-6), 0),
    "group": (lambda x: GroupNormOp(x[0], *x[3:5], num_groups=2), 0),
    "instance": (lambda x: InstanceNormOp(x[0], *x[3:5]), 0),
    "batch": (lambda x: BatchNormOp(x[0], *x[3:], epsilon=1e-3), 0),
    "l1": (lambda x: LpNormOp(x[0], axis=1, p=1), 0),
    "l2": (lambda x: LpNormOp(x[0], axis=2, p=2), 0),
}


@pytest.mark.parametrize("dtype", [F32, F16, BF16, np.dtype(np.float64)], ids=str)
@pytest.mark.parametrize("name", NORMS)
def test_norms(name: str, dtype: np.dtype[Any]) -> None:
    build, ulps = NORMS[name]
    x = random(2, 4, 3, 8, dtype=dtype)
    if name in ("l1", "l2"):
        x[0] = 0
    last, channels = random(2, 8, dtype=dtype, seed=1), random(4, 4, dtype=dtype, seed=2)
    channels[3] = np.abs(channels[3])
    arrays = [x, *last, *channels]
    module, names = legalized(LegalizeNormPass(), arrays, build, ulps)
    assert not any("norm" in name for name in names)
    if name.startswith(("layer", "rms")) and dtype != np.float64:
        (op,) = raised_again(module)
        (wanted,) = ops_of(module_of(arrays, lambda x: build(x).results[0]))
        assert (op.name, op.properties) == (wanted.name, wanted.properties)
        places = [[op_.operands.index(x) for x in op_.operands] for op_ in (op, wanted)]
        assert places[0] == places[1]
        assert op.result_types == wanted.result_types


ACTIVATIONS: dict[str, Build] = {
    "tanh_gelu": lambda x: GeluOp(x[0], "tanh"),
    "silu": lambda x: SiluOp(x[0]),
    "quick_gelu": lambda x: QuickGeluOp(x[0], 1.702),
    "mish": lambda x: MishOp(x[0]),
    "hard_swish": lambda x: HardSwishOp(x[0]),
    "hard_sigmoid": lambda x: HardSigmoidOp(x[0], 0.2, 0.5),
    "leaky_relu": lambda x: LeakyReluOp(x[0], 0.01),
    "softsign": lambda x: SoftsignOp(x[0]),
    "prelu": lambda x: PreluOp(x[0], array_constant(np.asarray(0.3, F16))),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_on_every_f16(name: str) -> None:
    module, names = legalized(LegalizeActivationPass(), [EVERY_F16], ACTIVATIONS[name])
    assert f"ge.{name}" not in names and len(names) > 2
    if name in ("tanh_gelu", "silu", "quick_gelu", "mish"):
        (op,) = raised_again(module)
        (wanted,) = ops_of(module_of([EVERY_F16], lambda x: ACTIVATIONS[name](x).results[0]))
        assert (op.name, op.properties, op.result_types) == (
            wanted.name,
            wanted.properties,
            wanted.result_types,
        )


def test_gelu_by_the_error_function_is_found_again() -> None:
    x = EVERY_F16[np.isfinite(EVERY_F16)]
    module, names = legalized(LegalizeActivationPass(), [x], lambda x: GeluOp(x[0]), ulps=1)
    assert "ge.erf" in names
    (op,) = raised_again(module)
    assert isinstance(op, GeluOp) and op.approximate.data == "none"


def test_only_ops_that_are_named_are_expanded() -> None:
    build: Build = lambda x: SiluOp(GeluOp(x[0]))  # noqa: E731
    pass_ = LegalizeActivationPass(ops=("silu",))
    _, names = legalized(pass_, [random(8)], build)
    assert names == ["ge.gelu", "ge.sigmoid", "ge.mul"]
    with pytest.raises(GEError, match="got 'relu9'"):
        LegalizeActivationPass(ops=("relu9",)).apply(Context(), ModuleOp([]))


@pytest.mark.parametrize("dtype", [F32, F16], ids=str)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("rotary_dim", [0, 4])
@pytest.mark.parametrize("num_heads", [0, 3])
@pytest.mark.parametrize("positions", [False, True])
def test_rotary_embedding(
    dtype: np.dtype[Any], interleaved: bool, rotary_dim: int, num_heads: int, positions: bool
) -> None:
    x = random(2, 5, 24, dtype=dtype) if num_heads else random(2, 3, 5, 8, dtype=dtype)
    half = (rotary_dim or 8) // 2
    tables = random(2, 7, half, dtype=dtype, seed=1)
    arrays = [x, *tables]
    if positions:
        arrays.append(np.random.default_rng(3).integers(-7, 7, (2, 5)))
    else:
        arrays[1:] = random(2, 2, 5, half, dtype=dtype, seed=2)
    build: Build = lambda x: RotaryEmbeddingOp(  # noqa: E731
        *x, interleaved=interleaved, rotary_dim=rotary_dim, num_heads=num_heads
    )
    module, names = legalized(LegalizeRotaryPass(), arrays, build)
    assert "ge.rotary_embedding" not in names
    if not (interleaved or num_heads):
        again = [op.name for op in raised_again(module)]
        assert [name for name in again if name != "ge.gather"] == ["ge.rotary_embedding"]


def test_symbolic_dimensions_are_expanded_as_well() -> None:
    batch, rows = symbol("B"), symbol("S")
    types = [tensor_type(f32, (batch, 2, rows, 8))] * 3 + [tensor_type(i1, (batch, 1, 1, rows))]
    module = module_of_types(types, lambda x: FlashAttentionOp(*x, scale=1.0, nan_guard=True))
    LegalizeAttentionPass().apply(Context(), module)
    module.verify()
    assert not any(isinstance(op, FlashAttentionOp) for op in module.walk())
    arrays = [random(2, 2, 3, 8, seed=i) for i in range(3)] + [np.ones((2, 1, 1, 3), np.bool_)]
    (found,) = run_function(module, arrays)
    assert found.shape == (2, 2, 3, 8)
