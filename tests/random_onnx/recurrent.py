"""Recurrent layers, and transforms of signals."""

from __future__ import annotations

from typing import Any

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import F32, Value

# Op type -> gates, outputs.
_LAYERS = {"RNN": (1, 2), "GRU": (3, 2), "LSTM": (4, 3)}


@builds(*_LAYERS)
def recurrent(g: Grower, op_type: str) -> None:
    """Of one or both directions, with what is optional or without; time or batch first."""
    gates, outputs = _LAYERS[op_type]
    dtype = g.dtype(g.floats(op_type))
    length, batch, width, hidden = g.int(1, 3), g.int(1, 2), g.int(1, 3), g.int(1, 3)
    direction = g.one_of((None, "forward", "reverse", "bidirectional"))
    both = 2 if direction == "bidirectional" else 1
    first = g.opset >= 14 and g.flag()

    def fresh(*shape: int) -> Value:
        return g.fresh(dtype, shape, "normal")

    def state() -> Value | None:
        shape = (batch, both, hidden) if first else (both, batch, hidden)
        return g.maybe(fresh(*shape))

    operands: list[Value | None] = [
        fresh(batch, length, width) if first else fresh(length, batch, width),
        fresh(both, gates * hidden, width),
        fresh(both, gates * hidden, hidden),
        g.maybe(fresh(both, 2 * gates * hidden)),
        None,
        state(),
    ]
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    attributes["layout"] = 1 if first else None
    if op_type == "LSTM":
        operands += [state(), g.maybe(fresh(both, 3 * hidden))]
    if op_type == "GRU":
        attributes["linear_before_reset"] = g.one_of((None, 0, 1))
    g.emit(op_type, operands, g.int(1, outputs), **attributes)


@builds("STFT")
def stft(g: Grower, op_type: str) -> None:
    """Of real signals, in windows that overlap or do not."""
    frame = g.int(2, 4)
    signal = g.fresh(F32, (g.int(1, 2), frame + g.int(0, 5), 1), "normal")
    window = g.fresh(F32, (frame,), "positive")
    operands = [signal, g.number(g.int(1, 3)), window, g.number(frame)]
    g.emit(op_type, operands, onesided=g.int(0, 1))
