"""Reference semantics of attention, rotary embedding and dropout."""

from __future__ import annotations

import numpy as np

from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.interpreters.kernels import attention as kernels
from ge_dialect.interpreters.registry import Array, semantics


@semantics(FlashAttentionOp)
def flash_attention(
    op: FlashAttentionOp, q: Array, k: Array, v: Array, mask: Array | None, sink: Array | None
) -> Array:
    """Evaluates `ge.flash_attention`."""
    return kernels.flash_attention(
        q,
        k,
        v,
        mask,
        sink=sink,
        scale=op.scale.value.data,
        causal=op.causal is not None,
        causal_offset=op.causal_offset.value.data if op.causal_offset else 0,
        softcap=op.softcap.value.data if op.softcap else 0.0,
        masked_fill=op.masked_score,
        nan_guard=op.nan_guard is not None,
        zero_nan=op.zero_nan is not None,
        accumulate=to_numpy(op.accumulate),
    )


@semantics(RotaryEmbeddingOp)
def rotary_embedding(
    op: RotaryEmbeddingOp, x: Array, cos: Array, sin: Array, position_ids: Array | None
) -> Array:
    """Evaluates `ge.rotary_embedding`."""
    return kernels.rotary_embedding(
        x,
        cos,
        sin,
        position_ids,
        interleaved=op.interleaved is not None,
        num_heads=op.num_heads.value.data,
        rotary_dim=op.rotary_dim.value.data,
    )


@semantics(DropoutOp)
def dropout(
    op: DropoutOp, x: Array, ratio: Array | None, training_mode: Array | None
) -> tuple[Array, Array]:
    """Evaluates `ge.dropout`; in training it keeps what `onnx.reference` keeps for that seed."""
    probability = 0.5 if ratio is None else float(ratio.reshape(-1)[0])
    training = training_mode is not None and bool(training_mode.reshape(-1)[0])
    if not training or probability == 0:
        return x, np.ones(x.shape, np.bool_)
    # The legacy generator, since that is the one whose numbers are fixed for all time.
    random = np.random.RandomState(op.seed.value.data % 2**32 if op.seed else 0)
    mask = np.asarray(random.uniform(0, 1.0, x.shape) >= probability)
    wide = np.where(mask, x.astype(np.float64) / (1.0 - probability), 0)
    return wide.astype(x.dtype), mask
