"""Reference semantics of recurrent layers."""

from __future__ import annotations

from ge_dialect.ge.lstm import DynamicQuantizeLSTMOp, LSTMBase, LSTMOp
from ge_dialect.ge.recurrent import GRUOp, RecurrentOp, RNNOp
from ge_dialect.interpreters.kernels import recurrent as kernels
from ge_dialect.interpreters.registry import Array, semantics


def _sweeps(op: RecurrentOp, lengths: Array | None) -> kernels.Sweeps:
    clip = None if op.clip is None else op.clip.value.data
    return kernels.Sweeps(op.direction.data, op.gate_functions(), clip, lengths)


def _state(
    op: LSTMBase, initial_h: Array | None, initial_c: Array | None, peephole: Array | None
) -> kernels.LSTMState:
    return kernels.LSTMState(initial_h, initial_c, peephole, op.input_forget is not None)


@semantics(RNNOp)
def rnn(
    op: RNNOp,
    x: Array,
    weights: Array,
    recurrent: Array,
    bias: Array | None,
    lengths: Array | None,
    initial_h: Array | None,
) -> tuple[Array, Array]:
    """Evaluates `ge.rnn`."""
    return kernels.rnn(x, weights, recurrent, bias, initial_h, sweeps=_sweeps(op, lengths))


@semantics(GRUOp)
def gru(
    op: GRUOp,
    x: Array,
    weights: Array,
    recurrent: Array,
    bias: Array | None,
    lengths: Array | None,
    initial_h: Array | None,
) -> tuple[Array, Array]:
    """Evaluates `ge.gru`."""
    return kernels.gru(
        x,
        weights,
        recurrent,
        bias,
        initial_h,
        sweeps=_sweeps(op, lengths),
        linear_before_reset=op.linear_before_reset is not None,
    )


@semantics(LSTMOp)
def lstm(
    op: LSTMOp,
    x: Array,
    weights: Array,
    recurrent: Array,
    bias: Array | None,
    lengths: Array | None,
    *states: Array | None,
) -> tuple[Array, Array, Array]:
    """Evaluates `ge.lstm`."""
    return kernels.lstm(
        x, weights, recurrent, bias, sweeps=_sweeps(op, lengths), state=_state(op, *states)
    )


@semantics(DynamicQuantizeLSTMOp)
def dynamic_quantize_lstm(
    op: DynamicQuantizeLSTMOp,
    x: Array,
    weights: Array,
    recurrent: Array,
    bias: Array | None,
    lengths: Array | None,
    initial_h: Array | None,
    initial_c: Array | None,
    peephole: Array | None,
    weights_scale: Array,
    weights_zero_point: Array,
    recurrent_scale: Array,
    recurrent_zero_point: Array,
) -> tuple[Array, Array, Array]:
    """Evaluates `ge.dynamic_quantize_lstm`."""
    return kernels.quantized_lstm(
        x,
        (weights, weights_scale, weights_zero_point),
        (recurrent, recurrent_scale, recurrent_zero_point),
        bias,
        sweeps=_sweeps(op, lengths),
        state=_state(op, initial_h, initial_c, peephole),
    )
