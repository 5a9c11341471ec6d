"""Recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from xdsl.ir import Attribute, SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.base import expect_min_rank
from ge_dialect.ge.lstm import DynamicQuantizeLSTMOp, LSTMOp
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.recurrent import (
    ACTIVATIONS,
    DIRECTIONS,
    GRUOp,
    RecurrentOp,
    RNNOp,
    activation_properties,
)

_ALPHAS = {"LeakyRelu": 0.01, "ThresholdedRelu": 1.0, "HardSigmoid": 0.2, "Elu": 1.0}
_BETAS = {"HardSigmoid": 0.5}
"""Defaults of ONNX's ops of these names."""

_WITH_ALPHA = frozenset((*_ALPHAS, "Affine", "ScaledTanh"))
_WITH_BETA = frozenset((*_BETAS, "Affine", "ScaledTanh"))

_BATCH_FIRST = (1, 0, 2)
_NAMES = {name.lower(): name for name in ACTIVATIONS}


@converts("RNN")
def rnn(node: Node) -> list[SSAValue]:
    """`RNN`."""
    op = RNNOp(
        *_weights(node),
        node.optional(3),
        node.optional(4),
        _state(node, 5),
        **_common(node, RNNOp),
    )
    return _results(node, op)


@converts("GRU")
def gru(node: Node) -> list[SSAValue]:
    """`GRU`."""
    op = GRUOp(
        *_weights(node),
        node.optional(3),
        node.optional(4),
        _state(node, 5),
        linear_before_reset=node.get_flag("linear_before_reset"),
        **_common(node, GRUOp),
    )
    return _results(node, op)


@converts("LSTM")
def lstm(node: Node) -> list[SSAValue]:
    """`LSTM`."""
    op = LSTMOp(
        *_weights(node),
        _options(node),
        input_forget=node.get_flag("input_forget"),
        **_common(node, LSTMOp),
    )
    return _results(node, op)


@converts("DynamicQuantizeLSTM", domain="com.microsoft")
def dynamic_quantize_lstm(node: Node) -> list[SSAValue]:
    """`DynamicQuantizeLSTM`, whose weights are stored `[D, I, 4 * H]`."""
    input, weights, recurrent = _weights(node)
    turned = [node.emit(TransposeOp(value, (0, 2, 1))) for value in (weights, recurrent)]
    op = DynamicQuantizeLSTMOp(
        input,
        (turned[0], node[8], node[9]),
        (turned[1], node[10], node[11]),
        _options(node),
        input_forget=node.get_flag("input_forget"),
        **_common(node, DynamicQuantizeLSTMOp),
    )
    return _results(node, op)


def _batch_first(node: Node) -> bool:
    return node.get_flag("layout")


def _weights(node: Node) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Returns the input with steps first, and both weights.

    Raises:
        OnHost: Only `hidden_size` says the hidden size, which `ge` has of the weights.
    """
    if node.has("hidden_size") and not isinstance(expect_min_rank(node[2], 1, "R")[-1], int):
        raise OnHost("the hidden size is an attribute only")
    input = node[0]
    if _batch_first(node):
        input = node.emit(TransposeOp(input, _BATCH_FIRST))
    return input, node[1], node[2]


def _state(node: Node, slot: int) -> SSAValue | None:
    value = node.optional(slot)
    if value is None or not _batch_first(node):
        return value
    return node.emit(TransposeOp(value, _BATCH_FIRST))


def _options(node: Node) -> list[SSAValue | None]:
    """Returns bias, lengths, first states and peepholes of an LSTM."""
    return [
        node.optional(3),
        node.optional(4),
        _state(node, 5),
        _state(node, 6),
        node.optional(7),
    ]


def _results(node: Node, op: RecurrentOp) -> list[SSAValue]:
    values = node.emit_all(op)
    if _batch_first(node):
        values[0] = node.emit(TransposeOp(values[0], (2, 0, 1, 3)))
        values[1:] = [node.emit(TransposeOp(value, _BATCH_FIRST)) for value in values[1:]]
    return values[: len(node.used)]


class _Common(TypedDict):
    """What every recurrent op is built with."""

    direction: str
    clip: float | None
    gates: dict[str, Attribute | None]


def _common(node: Node, op_class: type[RecurrentOp]) -> _Common:
    clip = node.get_float("clip") if node.has("clip") else None
    return {"direction": _direction(node), "clip": clip, "gates": _gates(node, op_class)}


def _direction(node: Node) -> str:
    direction = node.get_string("direction", DIRECTIONS[0])
    if direction not in DIRECTIONS:
        node.fail(f"expected 'direction' to be one of {', '.join(DIRECTIONS)}, got {direction}")
    return direction


def _gates(node: Node, op_class: type[RecurrentOp]) -> dict[str, Attribute | None]:
    """Returns the gate functions where they are not the op's own, each with its parameters.

    Parameters are handed out in order to the functions that take one.
    """
    names = [_known(node, name) for name in node.get_strings("activations")]
    sweeps = 2 if _direction(node) == DIRECTIONS[2] else 1
    if not names or names == [*op_class.DEFAULT_ACTIVATIONS] * sweeps:
        return {}
    if len(names) != len(op_class.DEFAULT_ACTIVATIONS) * sweeps:
        wanted = len(op_class.DEFAULT_ACTIVATIONS) * sweeps
        node.fail(f"expected {wanted} 'activations', got {len(names)}")
    alphas = _parameters(node, names, "activation_alpha", _WITH_ALPHA, _ALPHAS)
    betas = _parameters(node, names, "activation_beta", _WITH_BETA, _BETAS)
    return activation_properties(names, alphas, betas)


def _known(node: Node, name: str) -> str:
    if (found := _NAMES.get(name.lower())) is None:
        node.fail(f"expected 'activations' of {', '.join(ACTIVATIONS)}, got {name}")
    return found


def _parameters(
    node: Node,
    names: Sequence[str],
    attribute: str,
    takers: frozenset[str],
    defaults: dict[str, float],
) -> list[float]:
    given = iter(node.get_floats(attribute) or ())
    found: list[float] = []
    for name in names:
        value = next(given, defaults.get(name)) if name in takers else 0.0
        if value is None:
            node.fail(f"expected '{attribute}' for {name}, got none")
        found.append(value)
    return found
