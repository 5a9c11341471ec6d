"""Functions of JAX and modules of Flax, for `tests.zoo.export_frameworks`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from tests.zoo.framework_models import BATCH, IDS, WORDS, Dims, Model

ACTIVATIONS = ("gelu", "relu", "silu", "softplus", "elu", "selu", "hard_swish", "mish")
HEADS: Dims = (2, 10, 4, 16)
KEYS: Dims = (2, 10, 2, 16)


class JaxModels:
    """Makes them; JAX and Flax are loaded with it."""

    def __init__(self) -> None:
        self.jax: Any = import_module("jax")
        self.jnp: Any = import_module("jax.numpy")
        self.nnx: Any = import_module("flax.nnx")
        self.rngs = self.nnx.Rngs(0)

    def models(self) -> Mapping[str, Model]:
        """Returns all models by name."""
        primitive = partial(getattr, self.jax.nn, "dot_product_attention")
        return {
            **{f"mlp-{name}": (partial(self.mlp, name), [(BATCH, 16)]) for name in ACTIVATIONS},
            "block": (self.block, [(BATCH, 12, 32)]),
            "block-rms": (partial(self.block, norm="RMSNorm"), [(BATCH, 12, 32)]),
            "block-causal": (partial(self.block, causal=True), [(2, 12, 32)]),
            "gpt": (self.gpt, [(2, 12, IDS)]),
            "vit": (self.vit, [(2, 32, 32, 3)]),
            "cnn": (self.cnn, [(BATCH, 32, 32, 3)]),
            "decoder": (self.decoder, [(2, 10, 32)]),
            "attention": (self.attention, [HEADS] * 3),
            "attention-causal": (partial(self.attention, is_causal=True), [HEADS] * 3),
            "attention-grouped": (self.attention, [HEADS, KEYS, KEYS]),
            "attention-primitive": (primitive, [HEADS] * 3),
            "gru": (partial(self.scan, "GRUCell"), [(2, 6, 8)]),
            "lstm": (partial(self.scan, "LSTMCell"), [(2, 6, 8)]),
            "loop": (self.loop, [(4, 4)]),
            "upsample": (
                partial(self.nnx.ConvTranspose, 4, 8, (3, 3), 2, rngs=self.rngs),
                [(2, 8, 8, 4)],
            ),
        }

    def linear(self, rows: int, columns: int) -> Any:
        """Returns a layer with weights `[rows, columns]`."""
        return self.nnx.Linear(rows, columns, rngs=self.rngs)

    def mlp(self, activation: str) -> Callable[[Any], Any]:
        """Two layers, a norm and an activation between them."""
        norm, act = self.nnx.LayerNorm(64, rngs=self.rngs), getattr(self.jax.nn, activation)
        first, last = self.linear(16, 64), self.linear(64, 10)

        def call(x: Any) -> Any:
            return last(act(norm(first(x))))

        return call

    def attention(self, **options: Any) -> Callable[[Any, Any, Any], Any]:
        """Attention of `[B, S, H, D]`, which jax2onnx knows where it is called in a function."""

        def call(query: Any, key: Any, value: Any) -> Any:
            return self.jax.nn.dot_product_attention(query, key, value, **options)

        return call

    def block(self, causal: bool = False, norm: str = "LayerNorm") -> Callable[[Any], Any]:
        """A block of a transformer, norms first."""
        nnx = self.nnx
        norms = [getattr(nnx, norm)(32, rngs=self.rngs) for _ in range(2)]
        attention = nnx.MultiHeadAttention(4, 32, qkv_features=32, decode=False, rngs=self.rngs)
        wide, narrow = self.linear(32, 128), self.linear(128, 32)

        def call(x: Any) -> Any:
            mask = nnx.make_causal_mask(self.jnp.ones(x.shape[:2])) if causal else None
            x = x + attention(norms[0](x), mask=mask)
            return x + narrow(nnx.gelu(wide(norms[1](x))))

        return call

    def gpt(self) -> Callable[[Any], Any]:
        """Three causal blocks between words."""
        words, out = self.nnx.Embed(WORDS, 32, rngs=self.rngs), self.linear(32, WORDS)
        blocks = [self.block(causal=True) for _ in range(3)]

        def call(ids: Any) -> Any:
            x = words(ids)
            for one in blocks:
                x = one(x)
            return out(x)

        return call

    def vit(self) -> Callable[[Any], Any]:
        """Patches of images, and two blocks."""
        nnx, blocks = self.nnx, [self.block(), self.block()]
        patches = nnx.Conv(3, 32, (4, 4), strides=4, rngs=self.rngs)
        norm, out = nnx.LayerNorm(32, rngs=self.rngs), self.linear(32, 10)

        def call(x: Any) -> Any:
            x = patches(x).reshape(x.shape[0], -1, 32)
            for one in blocks:
                x = one(x)
            return out(norm(x).mean(1))

        return call

    def cnn(self) -> Callable[[Any], Any]:
        """Two convolutions, channels last, with batch and group norm."""
        nnx, rngs, out = self.nnx, self.rngs, self.linear(32, 10)
        convs = [nnx.Conv(3, 16, (3, 3), rngs=rngs), nnx.Conv(16, 32, (3, 3), 2, rngs=rngs)]
        batch = nnx.BatchNorm(16, use_running_average=True, rngs=rngs)
        groups = nnx.GroupNorm(32, num_groups=8, rngs=rngs)

        def call(x: Any) -> Any:
            x = nnx.max_pool(nnx.relu(batch(convs[0](x))), window_shape=(2, 2), strides=(2, 2))
            return out(nnx.silu(groups(convs[1](x))).mean((1, 2)))

        return call

    def rotated(self, x: Any) -> Any:
        """Turns the features of `[B, S, H, D]`, in halves."""
        jnp, half = self.jnp, x.shape[-1] // 2
        angles = jnp.arange(x.shape[1])[:, None] / 1e4 ** (jnp.arange(half) / half)
        cos, sin = jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]
        left, right = x[..., :half], x[..., half:]
        return jnp.concatenate([left * cos - right * sin, right * cos + left * sin], -1)

    def decoder(self) -> Callable[[Any], Any]:
        """A block with RMS norms, rotary embedding, shared keys and a gate, all spelled out."""
        jnp, nn = self.jnp, self.jax.nn
        query, key, value, out = (self.linear(32, size) for size in (32, 16, 16, 32))
        gate, up, down = self.linear(32, 64), self.linear(32, 64), self.linear(64, 32)

        def norm(x: Any) -> Any:
            return x * self.jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)

        def call(x: Any) -> Any:
            (batch, rows, _), y = x.shape, norm(x)
            q = self.rotated(query(y).reshape(batch, rows, 4, 8))
            k = self.rotated(key(y).reshape(batch, rows, 2, 8))
            k, v = (jnp.repeat(one, 2, 2) for one in (k, value(y).reshape(batch, rows, 2, 8)))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8**0.5
            scores = jnp.where(jnp.tril(jnp.ones((rows, rows), bool)), scores, -1e9)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores, -1), v)
            x = x + out(mixed.reshape(batch, rows, 32))
            y = norm(x)
            return x + down(nn.silu(gate(y)) * up(y))

        return call

    def scan(self, cell: str) -> Callable[[Any], Any]:
        """A recurrent cell along the second dimension."""
        one: Any = getattr(self.nnx, cell)(8, 16, rngs=self.rngs)

        def call(x: Any) -> Any:
            zero = self.jnp.zeros((x.shape[0], 16))
            start = (zero, zero) if cell == "LSTMCell" else zero
            return self.jax.lax.scan(one, start, x.transpose(1, 0, 2))[1]

        return call

    def loop(self) -> Callable[[Any], Any]:
        """Five turns, of which each knows its number."""

        def turn(index: Any, x: Any) -> Any:
            return x @ x * 0.1 + index

        def call(x: Any) -> Any:
            return self.jax.lax.fori_loop(0, 5, turn, x)

        return call
