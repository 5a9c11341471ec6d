"""Reference semantics of elementwise ops: a table from op to kernel, and ops with parameters."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from ge_dialect.ge import activations as act
from ge_dialect.ge import binary as bin_
from ge_dialect.ge import unary as una
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.elementwise import CastOp, ClipOp, SelectOp
from ge_dialect.ge.types import tensor_of
from ge_dialect.interpreters.kernels import activations, elementwise, unary
from ge_dialect.interpreters.registry import Array, semantics

PLAIN: dict[type[Operation], Callable[..., Array]] = {
    una.AbsOp: unary.abs_,
    una.CeilOp: unary.ceil,
    una.FloorOp: unary.floor,
    una.RoundOp: unary.round_,
    una.SignOp: unary.sign,
    una.NegOp: unary.neg,
    una.BitwiseNotOp: unary.bitwise_not,
    una.ReciprocalOp: unary.reciprocal,
    una.SqrtOp: unary.sqrt,
    una.RsqrtOp: unary.rsqrt,
    una.ExpOp: unary.exp,
    una.LogOp: unary.log,
    una.ErfOp: unary.erf,
    una.SinOp: unary.sin,
    una.CosOp: unary.cos,
    una.TanOp: unary.tan,
    una.AtanOp: unary.atan,
    una.AsinOp: unary.asin,
    una.AcosOp: unary.acos,
    una.SinhOp: unary.sinh,
    una.CoshOp: unary.cosh,
    una.AsinhOp: unary.asinh,
    una.AcoshOp: unary.acosh,
    una.AtanhOp: unary.atanh,
    una.LogicalNotOp: unary.logical_not,
    una.IsNanOp: unary.is_nan,
    una.IsInfOp: unary.is_inf,
    act.TanhOp: activations.tanh,
    act.SigmoidOp: activations.sigmoid,
    act.ReluOp: activations.relu,
    act.HardSwishOp: activations.hard_swish,
    act.SiluOp: activations.silu,
    act.SoftplusOp: activations.softplus,
    act.SoftsignOp: activations.softsign,
    act.MishOp: activations.mish,
    bin_.AddOp: elementwise.add,
    bin_.SubOp: elementwise.sub,
    bin_.MulOp: elementwise.mul,
    bin_.DivOp: elementwise.div,
    bin_.ModOp: elementwise.mod,
    bin_.PowOp: elementwise.pow_,
    bin_.MaximumOp: elementwise.maximum,
    bin_.MinimumOp: elementwise.minimum,
    bin_.PreluOp: elementwise.prelu,
    bin_.BitwiseAndOp: elementwise.bitwise_and,
    bin_.BitwiseOrOp: elementwise.bitwise_or,
    bin_.BitwiseXorOp: elementwise.bitwise_xor,
    bin_.EqualOp: elementwise.equal,
    bin_.LessOp: elementwise.less,
    bin_.LessEqualOp: elementwise.less_equal,
    bin_.GreaterOp: elementwise.greater,
    bin_.GreaterEqualOp: elementwise.greater_equal,
    bin_.AndOp: elementwise.logical_and,
    bin_.OrOp: elementwise.logical_or,
    bin_.XorOp: elementwise.logical_xor,
    SelectOp: elementwise.where,
    ClipOp: elementwise.clip,
}
"""Ops whose kernel takes the operands and nothing else."""

WITH_ALPHA: dict[type[act.AlphaUnaryOp], Callable[..., Array]] = {
    act.LeakyReluOp: activations.leaky_relu,
    act.EluOp: activations.elu,
    act.CeluOp: activations.celu,
    act.QuickGeluOp: activations.quick_gelu,
}


def _register_plain(op_class: type[Operation], kernel: Callable[..., Array]) -> None:
    @semantics(op_class)
    def apply(_: Operation, *operands: Array | None) -> Array:
        return kernel(*operands)


def _register_with_alpha(op_class: type[act.AlphaUnaryOp], kernel: Callable[..., Array]) -> None:
    @semantics(op_class)
    def apply(op: act.AlphaUnaryOp, x: Array) -> Array:
        return kernel(x, alpha=op.alpha.value.data)


for _op_class, _kernel in PLAIN.items():
    _register_plain(_op_class, _kernel)
for _op_class, _kernel in WITH_ALPHA.items():
    _register_with_alpha(_op_class, _kernel)


@semantics(bin_.FmodOp)
def fmod(_: bin_.FmodOp, lhs: Array, rhs: Array) -> Array:
    """Evaluates `ge.fmod`."""
    return elementwise.mod(lhs, rhs, fmod=True)


@semantics(act.HardSigmoidOp)
def hard_sigmoid(op: act.HardSigmoidOp, x: Array) -> Array:
    """Evaluates `ge.hard_sigmoid`."""
    return activations.hard_sigmoid(x, alpha=op.alpha.value.data, beta=op.beta.value.data)


@semantics(act.SeluOp)
def selu(op: act.SeluOp, x: Array) -> Array:
    """Evaluates `ge.selu`, whose `beta` is ONNX's gamma."""
    return activations.selu(x, alpha=op.alpha.value.data, gamma=op.beta.value.data)


@semantics(act.GeluOp)
def gelu(op: act.GeluOp, x: Array) -> Array:
    """Evaluates `ge.gelu`."""
    return activations.gelu(x, approximate=op.approximate.data)


@semantics(CastOp)
def cast(op: CastOp, x: Array) -> Array:
    """Evaluates `ge.cast`."""
    return elementwise.cast(x, to_numpy(tensor_of(op.result).element_type))
