"""Normalisations."""

from __future__ import annotations

from typing import Any

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import Value
from tests.random_onnx.windows import image

_EPSILONS = (None, 1e-5, 1e-3, 0.1)


@builds("LayerNormalization", "RMSNormalization")
def layer_norm(g: Grower, op_type: str) -> None:
    """From any axis on, with scale and bias of the normalised dimensions."""
    value = g.operand(g.floats(op_type), (1, 4), empty=False, finite=True)
    axis = g.axis(value.rank)
    rest = value.shape[axis % value.rank :]
    scale = g.fresh(value.dtype, rest, "normal")
    operands: list[Value | None] = [value, scale]
    outputs = 1
    if op_type == "LayerNormalization":
        operands.append(g.maybe(g.fresh(value.dtype, rest, "normal")))
        outputs = 3 if g.rarely() else 1
    axis = axis if rest != value.shape[-1:] or g.flag() else None
    g.emit(op_type, operands, outputs, axis=axis, epsilon=g.one_of(_EPSILONS))


@builds("GroupNormalization")
def group_norm(g: Grower, op_type: str) -> None:
    """Before opset 21 scale and bias are those of groups, from then on those of channels."""
    groups = g.int(1, 3)
    value = image(g, g.floats(op_type), groups * g.int(1, 2))
    count = groups if g.version(op_type) < 21 else value.shape[1]
    operands = [g.fresh(value.dtype, (count,), "normal") for _ in range(2)]
    g.emit(op_type, [value, *operands], num_groups=groups, epsilon=g.one_of(_EPSILONS))


@builds("InstanceNormalization")
def instance_norm(g: Grower, op_type: str) -> None:
    """Each channel of each image on its own."""
    value = image(g, g.floats(op_type))
    operands = [g.fresh(value.dtype, (value.shape[1],), "normal") for _ in range(2)]
    g.emit(op_type, [value, *operands], epsilon=g.one_of(_EPSILONS))


@builds("BatchNormalization")
def batch_norm(g: Grower, op_type: str) -> None:
    """In inference, of two dimensions and more."""
    value = g.operand(g.floats(op_type), (2, 4), empty=False, finite=True)
    kinds = ("normal", "normal", "normal", "positive")
    operands = [g.fresh(value.dtype, (value.shape[1],), kind) for kind in kinds]
    g.emit(op_type, [value, *operands], epsilon=g.one_of(_EPSILONS))


@builds("LpNormalization")
def lp_norm(g: Grower, op_type: str) -> None:
    """L1 and L2, of rows that are not 0."""
    p = g.one_of((None, 1, 2))
    value = g.operand(
        g.floats(op_type),
        (1, 3),
        kind="positive" if p == 1 else "normal",
        empty=False,
        finite=True,
        test=lambda v: bool((v.array > 0).all() if p == 1 else v.array.all()),
    )
    g.emit(op_type, [value], axis=g.maybe(g.axis(value.rank)), p=p)


@builds("LRN")
def lrn(g: Grower, op_type: str) -> None:
    """Windows of odd and even size over the channels."""
    count = g.int(1, 4)
    value = g.fresh(g.dtype(g.floats(op_type)), (count, count, 2, 3), "normal")
    factors: dict[str, Any] = {
        name: g.one_of((None, 0.5, 1.0)) for name in ("alpha", "beta", "bias")
    }
    g.emit(op_type, [value], size=g.int(1, 5), **factors)
