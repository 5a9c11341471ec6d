"""Recurrent layers: one product for the inputs of all steps, one a step for the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ge_dialect.interpreters.kernels.activations import logistic
from ge_dialect.interpreters.kernels.numeric import Array, iota, narrow, wide
from ge_dialect.interpreters.kernels.quantization import dynamic_quantize_linear

Function: TypeAlias = Callable[[Array], Array]
Gate: TypeAlias = tuple[str, float, float]
"""Name of a function as ONNX spells it, its alpha and its beta."""

State: TypeAlias = tuple[Array, ...]
Step: TypeAlias = Callable[[Array, State], State]
"""Makes the next state of the product of one step's input, biases added, and the state."""

Product: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True)
class Sweeps:
    """What the sweeps over a sequence have in common.

    Attributes:
        direction: `forward`, `reverse` or `bidirectional`.
        functions: Of the gates, those of the first sweep first.
        clip: Bound of the arguments of gate functions; None where there is none.
        lengths: Of each sequence of the batch, `[B]`; None where all are whole.
    """

    direction: str
    functions: Sequence[Gate]
    clip: float | None = None
    lengths: Array | None = None

    @property
    def count(self) -> int:
        """How many there are."""
        return 2 if self.direction == "bidirectional" else 1

    def gates(self, sweep: int) -> list[Function]:
        """Returns the functions of one sweep; only those of gates have their argument clipped."""
        each = len(self.functions) // self.count
        chosen = self.functions[sweep * each :][:each]
        clips = [self.clip] * 2 + [None]  # the third one is that of an LSTM's result
        return [_function(gate, clip) for gate, clip in zip(chosen, clips, strict=False)]

    def backward(self, sweep: int) -> bool:
        """Whether a sweep starts at the end."""
        return self.direction == "reverse" or sweep == 1


def _function(gate: Gate, clip: float | None) -> Function:
    name, alpha, beta = gate
    table: dict[str, Function] = {
        "Relu": lambda x: np.maximum(x, 0),
        "Tanh": np.tanh,
        "Sigmoid": logistic,
        "Affine": lambda x: alpha * x + beta,
        "LeakyRelu": lambda x: np.where(x < 0, alpha * x, x),
        "ThresholdedRelu": lambda x: np.where(x >= alpha, x, 0).astype(x.dtype),
        "ScaledTanh": lambda x: alpha * np.tanh(beta * x),
        "HardSigmoid": lambda x: np.clip(alpha * x + beta, 0, 1),
        "Elu": lambda x: np.where(x < 0, alpha * np.expm1(x), x),
        "Softsign": lambda x: x / (1 + np.abs(x)),
        "Softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    }
    function = table[name]
    if clip is None:
        return function
    return lambda x: function(np.clip(x, -clip, clip))


def _from_end(x: Array, lengths: Array | None) -> Array:
    """Returns `[S, B, ...]` with the steps of each sequence in the opposite order."""
    if lengths is None:
        return x[::-1]
    steps = iota(x.shape[0])[:, None]
    source = np.where(steps < lengths, lengths - 1 - steps, steps)
    return x[source, iota(x.shape[1])]


def _sweep(inputs: Array, states: State, step: Step, lengths: Array | None) -> tuple[Array, State]:
    """Returns the hidden state after every step, 0 after a sequence, and the last states.

    Args:
        inputs: `[S, B, G * H]`, the product of each step.
        states: `[B, H]` each, the hidden one first.
        step: From one step to the next.
        lengths: `[B]`, or None.
    """
    hidden = np.zeros((*inputs.shape[:2], states[0].shape[-1]), inputs.dtype)
    for index in range(inputs.shape[0]):
        found = step(inputs[index], states)
        if lengths is None:
            hidden[index] = found[0]
            states = found
            continue
        runs = (index < lengths)[:, None]
        hidden[index] = np.where(runs, found[0], 0)
        states = tuple(np.where(runs, new, old) for new, old in zip(found, states, strict=True))
    return hidden, states


def _run(
    x: Array,
    sweeps: Sweeps,
    states: Sequence[Array],
    inputs: Callable[[int], Product],
    steps: Callable[[int], Step],
) -> tuple[Array, ...]:
    """Returns `[S, D, B, H]` and the last states, `[D, B, H]` each, all wide."""
    found: list[Array] = []
    last: list[State] = []
    for sweep in range(sweeps.count):
        products = inputs(sweep)(x)
        backward = sweeps.backward(sweep)
        ordered = _from_end(products, sweeps.lengths) if backward else products
        first = tuple(state[sweep] for state in states)
        hidden, final = _sweep(ordered, first, steps(sweep), sweeps.lengths)
        found.append(_from_end(hidden, sweeps.lengths) if backward else hidden)
        last.append(final)
    return np.stack(found, axis=1), *(np.stack(state) for state in zip(*last, strict=True))


def _state(x: Array, given: Array | None, sweeps: Sweeps, hidden: int) -> Array:
    if given is not None:
        return wide(given)
    return np.zeros((sweeps.count, x.shape[1], hidden), x.dtype)


def _times(weights: Array) -> Product:
    transposed = wide(weights).T
    return lambda a: a @ transposed


def _biased(product: Product, bias: Array | None) -> Product:
    return product if bias is None else lambda a: product(a) + bias


def _biases(bias: Array | None, sweep: int) -> tuple[Array | None, Array | None]:
    """Returns those of the input and of the state."""
    if bias is None:
        return None, None
    first, second = np.split(wide(bias[sweep]), 2)
    return first, second


def rnn(
    x: Array,
    weights: Array,
    recurrent: Array,
    bias: Array | None = None,
    initial_h: Array | None = None,
    *,
    sweeps: Sweeps,
) -> tuple[Array, Array]:
    """Returns the hidden states `[S, D, B, H]` and the last ones `[D, B, H]` of a plain RNN.

    Args:
        x: `[S, B, I]`.
        weights: `[D, H, I]`.
        recurrent: `[D, H, H]`.
        bias: `[D, 2 * H]`.
        initial_h: `[D, B, H]`; 0 where absent.
        sweeps: Direction, functions, bound and lengths.
    """

    def inputs(sweep: int) -> Product:
        first, second = _biases(bias, sweep)
        total = first if first is None or second is None else first + second
        return _biased(_times(weights[sweep]), total)

    def steps(sweep: int) -> Step:
        (function,), product = sweeps.gates(sweep), _times(recurrent[sweep])
        return lambda given, state: (function(given + product(state[0])),)

    start = _state(wide(x), initial_h, sweeps, recurrent.shape[-1])
    hidden, last = _run(wide(x), sweeps, [start], inputs, steps)
    return narrow(hidden, x.dtype), narrow(last, x.dtype)


def gru(
    x: Array,
    weights: Array,
    recurrent: Array,
    bias: Array | None = None,
    initial_h: Array | None = None,
    *,
    sweeps: Sweeps,
    linear_before_reset: bool = False,
) -> tuple[Array, Array]:
    """Returns the hidden states `[S, D, B, H]` and the last ones `[D, B, H]` of a GRU.

    Args as of `rnn`, with weights of the gates z, r and h one below the other; with
    `linear_before_reset` the reset gate scales the product with the state, not the state.
    """
    size = recurrent.shape[-1]

    def inputs(sweep: int) -> Product:
        first, second = _biases(bias, sweep)
        if first is None or second is None:
            return _times(weights[sweep])
        inside = linear_before_reset  # there the bias of the hidden gate is scaled as well
        rest = np.concatenate([second[: 2 * size], np.zeros_like(second[2 * size :])])
        return _biased(_times(weights[sweep]), first + (rest if inside else second))

    def steps(sweep: int) -> Step:
        of_gate, of_hidden = sweeps.gates(sweep)
        gates = _times(recurrent[sweep][: 2 * size])
        hidden = _times(recurrent[sweep][2 * size :])
        inner = _biases(bias, sweep)[1]
        inner = np.zeros(size, wide(x).dtype) if inner is None else inner[2 * size :]

        def step(given: Array, state: State) -> State:
            h = state[0]
            both = of_gate(given[:, : 2 * size] + gates(h))
            update, reset = both[:, :size], both[:, size:]
            product = reset * (hidden(h) + inner) if linear_before_reset else hidden(reset * h)
            new = of_hidden(given[:, 2 * size :] + product)
            return ((1 - update) * new + update * h,)

        return step

    start = _state(wide(x), initial_h, sweeps, size)
    found, last = _run(wide(x), sweeps, [start], inputs, steps)
    return narrow(found, x.dtype), narrow(last, x.dtype)


@dataclass(frozen=True)
class LSTMState:
    """What an LSTM starts with, and how its gates see the cell; all may be absent.

    Attributes:
        initial_h: `[D, B, H]`.
        initial_c: `[D, B, H]`.
        peephole: `[D, 3 * H]`, of the input, output and forget gate.
        input_forget: Whether the forget gate is what the input gate leaves.
    """

    initial_h: Array | None = None
    initial_c: Array | None = None
    peephole: Array | None = None
    input_forget: bool = False


def lstm(
    x: Array,
    weights: Array,
    recurrent: Array,
    bias: Array | None = None,
    *,
    sweeps: Sweeps,
    state: LSTMState,
) -> tuple[Array, Array, Array]:
    """Returns the hidden states `[S, D, B, H]`, and the last hidden and cell states `[D, B, H]`.

    Args as of `rnn`, with weights of the gates i, o, f and c one below the other.
    """
    return _lstm(
        x,
        [_times(of_sweep) for of_sweep in weights],
        [_times(of_sweep) for of_sweep in recurrent],
        bias,
        recurrent.shape[-1],
        sweeps,
        state,
    )


def quantized_lstm(
    x: Array,
    weights: tuple[Array, Array, Array],
    recurrent: tuple[Array, Array, Array],
    bias: Array | None = None,
    *,
    sweeps: Sweeps,
    state: LSTMState,
) -> tuple[Array, Array, Array]:
    """Returns what `lstm` does, for weights of 8 bits, each with their scale and zero point.

    A scale is `[D]` or `[D, 4 * H]`, a zero point alike. The other factor of each product is
    quantised to u8 as a whole, its scale chosen so that it covers the values of that product.
    """
    return _lstm(
        x,
        [_quantized_times(*of_sweep) for of_sweep in zip(*weights, strict=True)],
        [_quantized_times(*of_sweep) for of_sweep in zip(*recurrent, strict=True)],
        bias,
        recurrent[0].shape[-1],
        sweeps,
        state,
    )


def _quantized_times(weights: Array, scale: Array, zero_point: Array) -> Product:
    levels = weights.astype(np.int32) - zero_point.astype(np.int32)[..., None]
    transposed = levels.T.astype(np.float64)  # sums of such products are exact there, and fast

    def product(a: Array) -> Array:
        found, of_a, zero = dynamic_quantize_linear(a)
        shifted = found.astype(np.float64) - float(zero)
        return (shifted @ transposed).astype(np.float32) * (of_a * scale)

    return product


def _lstm(
    x: Array,
    weights: Sequence[Product],
    recurrent: Sequence[Product],
    bias: Array | None,
    size: int,
    sweeps: Sweeps,
    state: LSTMState,
) -> tuple[Array, Array, Array]:
    def inputs(sweep: int) -> Product:
        first, second = _biases(bias, sweep)
        total = first if first is None or second is None else first + second
        return _biased(weights[sweep], total)

    def steps(sweep: int) -> Step:
        peephole = state.peephole if state.peephole is None else wide(state.peephole[sweep])
        return _lstm_step(sweeps, sweep, recurrent[sweep], peephole, state.input_forget)

    start = [_state(wide(x), given, sweeps, size) for given in (state.initial_h, state.initial_c)]
    hidden, last_h, last_c = _run(wide(x), sweeps, start, inputs, steps)
    return narrow(hidden, x.dtype), narrow(last_h, x.dtype), narrow(last_c, x.dtype)


def _lstm_step(
    sweeps: Sweeps, sweep: int, product: Product, peephole: Array | None, input_forget: bool
) -> Step:
    of_gate, of_cell, of_result = sweeps.gates(sweep)
    seen = None if peephole is None else np.split(peephole, 3)

    def step(given: Array, state: State) -> State:
        h, c = state
        into, out, forget, cell = np.split(given + product(h), 4, axis=-1)
        if seen is not None:
            into, forget = into + seen[0] * c, forget + seen[2] * c
        into = of_gate(into)
        kept = 1 - into if input_forget else of_gate(forget)
        c = kept * c + into * of_cell(cell)
        if seen is not None:
            out = out + seen[1] * c
        return of_gate(out) * of_result(c), c

    return step
