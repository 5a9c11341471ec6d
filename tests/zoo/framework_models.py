"""What models of other frameworks have in common, and those of PaddlePaddle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

Dims: TypeAlias = Sequence[int | str]
Model: TypeAlias = tuple[Callable[[], Any], Sequence[Dims]]
"""Makes a model; the shapes of its inputs, of which `BATCH` may be a symbol and `IDS` says that
they are numbers of words."""

BATCH, IDS = "B", "ids"
WORDS = 50
IMAGE: Dims = (BATCH, 3, 64, 64)


def paddle_models() -> Mapping[str, Model]:
    """Returns layers of PaddlePaddle by name."""
    nn: Any = import_module("paddle.nn")
    vision: Any = import_module("paddle.vision.models")

    def mlp(activation: str) -> Any:
        act = getattr(nn, activation)()
        return nn.Sequential(nn.Linear(16, 64), nn.LayerNorm(64), act, nn.Linear(64, 10))

    def encoder() -> Any:
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu")
        return nn.TransformerEncoder(layer, 3)

    activations = ("GELU", "Silu", "Mish", "Hardswish", "Hardsigmoid", "ELU", "SELU", "LeakyReLU")
    images = (
        "resnet18", "resnext50_32x4d", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_small",
        "squeezenet1_1", "shufflenet_v2_x0_25", "densenet121",
    )  # fmt: skip
    return {
        **{f"mlp-{name.lower()}": (partial(mlp, name), [(BATCH, 16)]) for name in activations},
        **{name: (getattr(vision, name), [IMAGE]) for name in images},
        "attention": (partial(nn.MultiHeadAttention, 32, 4), [(BATCH, 10, 32)] * 3),
        "encoder": (encoder, [(BATCH, 10, 32)]),
        "transformer": (partial(nn.Transformer, 32, 4, 2, 2, 64), [(2, 10, 32), (2, 7, 32)]),
        "lstm": (partial(nn.LSTM, 8, 16), [(2, 6, 8)]),
        "gru": (partial(nn.GRU, 8, 16), [(2, 6, 8)]),
    }
