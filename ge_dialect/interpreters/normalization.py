"""Reference semantics of normalisations."""

from __future__ import annotations

from ge_dialect.ge.channel_normalization import BatchNormOp, GroupNormOp, InstanceNormOp
from ge_dialect.ge.normalization import LayerNormOp, LpNormOp, LRNOp, RMSNormOp
from ge_dialect.interpreters.kernels import normalization as kernels
from ge_dialect.interpreters.registry import Array, semantics


@semantics(LayerNormOp)
def layer_norm(op: LayerNormOp, x: Array, scale: Array | None, bias: Array | None) -> Array:
    """Evaluates `ge.layer_norm`."""
    axis, eps = op.axis.value.data, op.epsilon.value.data
    return kernels.layer_norm(x, scale, bias, axis=axis, eps=eps)


@semantics(RMSNormOp)
def rms_norm(op: RMSNormOp, x: Array, scale: Array | None) -> Array:
    """Evaluates `ge.rms_norm`."""
    return kernels.rms_norm(x, scale, axis=op.axis.value.data, eps=op.epsilon.value.data)


@semantics(GroupNormOp)
def group_norm(op: GroupNormOp, x: Array, scale: Array, bias: Array) -> Array:
    """Evaluates `ge.group_norm`."""
    groups, eps = op.num_groups.value.data, op.epsilon.value.data
    return kernels.group_norm(x, scale, bias, groups=groups, eps=eps)


@semantics(InstanceNormOp)
def instance_norm(op: InstanceNormOp, x: Array, scale: Array, bias: Array) -> Array:
    """Evaluates `ge.instance_norm`."""
    return kernels.instance_norm(x, scale, bias, eps=op.epsilon.value.data)


@semantics(BatchNormOp)
def batch_norm(
    op: BatchNormOp, x: Array, scale: Array, bias: Array, mean: Array, variance: Array
) -> Array:
    """Evaluates `ge.batch_norm`."""
    return kernels.batch_norm(x, scale, bias, mean, variance, eps=op.epsilon.value.data)


@semantics(LpNormOp)
def lp_norm(op: LpNormOp, x: Array) -> Array:
    """Evaluates `ge.lp_norm`."""
    return kernels.lp_normalization(x, axis=op.axis.value.data, p=op.p.value.data)


@semantics(LRNOp)
def lrn(op: LRNOp, x: Array) -> Array:
    """Evaluates `ge.lrn`."""
    return kernels.lrn(
        x,
        size=op.size.value.data,
        alpha=op.alpha.value.data,
        beta=op.beta.value.data,
        bias=op.bias.value.data,
    )
