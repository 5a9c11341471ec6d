"""`ge-fold-norm`: what scales and shifts the outputs of a linear op, done by its weights.

Before: `batch_norm(conv(x, w, b))`, `conv(x, w) * c`, `matmul(x * c, w)`. After: `conv(x, w', b')`,
`matmul(x, w')`, with the new weights computed in f64 and rounded once to their type.

Limits: weights and factors are constants, nobody else reads the weights or what is in between.
Lit: `tests/filecheck/passes/fold_norm.mlir`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import float_attr
from ge_dialect.ge.binary import AddOp, DivOp, MulOp, SubOp
from ge_dialect.ge.channel_normalization import BatchNormOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.contractions import GemmOp
from ge_dialect.ge.convolution import ConvOp, ConvTransposeOp
from ge_dialect.ge.elementwise import BinaryOp
from ge_dialect.ge.types import element_type_of, show_shape, value_shape
from ge_dialect.locations import fuse
from ge_dialect.passes.algebra.common import of_plain_floats
from ge_dialect.passes.driver import Driver
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.weights.budget import Budget, is_constant, wide_array
from ge_dialect.passes.weights.fold import NAME, Affine, Fold
from ge_dialect.passes.weights.linear import LINEAR, Linear, linear_of, per_place
from ge_dialect.remarks import ReasonClass

if TYPE_CHECKING:
    import numpy.typing as npt


class FoldAffineIntoWeights(Fold):
    """`f(x, w, b) * scale + shift` -> `f(x, w * scale, b * scale + shift)`.

    For f a convolution, its transpose, gemm or matmul; the affine part a batch norm, or a product,
    quotient, sum or difference with a constant that has a number for each output.
    """

    roots = (BatchNormOp, MulOp, DivOp, AddOp, SubOp)

    def fold(self, op: Operation) -> list[Operation] | None:
        value = _affine_input(op)
        linear = None if value is None else linear_of(value.owner)
        if value is None or linear is None or not of_plain_floats(value):
            return None
        if not _is_affine(op, value, linear):
            return None
        if (uses := value.uses.get_length()) > 1:
            text = f"the result of '{linear.op.name}' has other users"
            raise NearMissError(ReasonClass.USE, text, f"{uses} uses", "1 use")
        affine = _affine_of(op, value, linear)
        self._expect_allowed(affine, linear)
        new = self._rebuilt(affine, linear)
        new[-1].location = fuse([linear.op.location, op.location])
        return new

    def _expect_allowed(self, affine: Affine, linear: Linear) -> None:
        bias = linear.bias
        if affine.shift is not None and not linear.can_shift():
            text = "a product of more than two dimensions adds nothing"
            found, wanted = show_shape(value_shape(linear.op.result)), "rank 2"
            raise NearMissError(ReasonClass.SHAPE, text, found, wanted)
        if affine.scale is not None:
            self.expect_affordable(linear.weight)
        if not is_constant(bias):
            text = "the bias is not a constant"
            raise NearMissError(ReasonClass.CONST, text, "a value", "a constant")
        if self.exact and not _keeps_roundings(affine, linear):
            text = "weights would be rounded (option 'exact')"
            raise NearMissError(ReasonClass.DISABLED, text, "exact=true", "exact=false")

    def _rebuilt(self, affine: Affine, linear: Linear) -> list[Operation]:
        new: list[Operation] = []
        weight, bias = linear.weight, _wide_bias(linear)
        if affine.scale is not None:
            scaled = linear.scaled_outputs(wide_array(weight), affine.scale)
            new.append(self.constant(scaled, weight))
            weight = new[-1].results[0]
            bias = None if bias is None else bias * affine.scale
        if affine.shift is not None:
            bias = affine.shift if bias is None else bias + affine.shift
        bias_value = None
        if bias is not None:
            new.append(self.constant(bias, linear.weight))
            bias_value = new[-1].results[0]
        return [*new, linear.rebuilt(linear.op.operands[0], weight, bias_value)]


def _affine_input(op: Operation) -> SSAValue | None:
    """Returns what `op` scales or shifts; of a product or sum the operand that is no constant."""
    if isinstance(op, BatchNormOp):
        return op.input
    assert isinstance(op, BinaryOp)
    if isinstance(op.lhs.owner, LINEAR):
        return op.lhs
    commutes = isinstance(op, MulOp | AddOp) and isinstance(op.rhs.owner, LINEAR)
    return op.rhs if commutes else None


def _is_affine(op: Operation, value: SSAValue, linear: Linear) -> bool:
    """Whether what `op` does to `value` is known at compile time and keeps its shape."""
    others = [operand for operand in op.operands if operand is not value]
    if not others or not all(is_constant(other) for other in others):
        return False
    is_sum = isinstance(op, AddOp | SubOp)
    if is_sum and not linear.can_shift():
        return False
    return op.results[0].type == value.type and linear.outputs is not None


def _affine_of(op: Operation, value: SSAValue, linear: Linear) -> Affine:
    """Returns what `op` does to each output.

    Raises:
        NearMissError: It differs along other dimensions than that of the outputs.
    """
    outputs = linear.outputs
    assert outputs is not None
    if isinstance(op, BatchNormOp):
        return _affine_of_norm(op, linear)
    other = next(operand for operand in op.operands if operand is not value)
    factors = per_place(other, len(value_shape(value)), linear.axis, outputs)
    if factors is None:
        text = "the constant has not one number for each output"
        wanted = f"{outputs} numbers along dimension {linear.axis}"
        raise NearMissError(ReasonClass.SHAPE, text, show_shape(value_shape(other)), wanted)
    match op:
        case MulOp():
            return Affine(factors, None)
        case DivOp():
            _expect_finite(1 / factors if factors.all() else None)
            return Affine(1 / factors, None)
        case SubOp():
            return Affine(None, -factors)
        case _:
            return Affine(None, factors)


def _affine_of_norm(op: BatchNormOp, linear: Linear) -> Affine:
    import numpy as np

    if linear.axis != 1:
        text = "the norm is along another dimension than the outputs"
        raise NearMissError(ReasonClass.SHAPE, text, "dimension 1", f"dimension {linear.axis}")
    scale, bias, mean, variance = map(wide_array, (op.scale, op.bias, op.mean, op.variance))
    with np.errstate(all="ignore"):
        factors = scale / np.sqrt(variance + op.epsilon.value.data)
        shift = bias - mean * factors
    _expect_finite(factors)
    _expect_finite(shift)
    return Affine(factors, shift)


def _expect_finite(array: npt.NDArray[Any] | None) -> None:
    import numpy as np

    if array is None or not np.isfinite(array).all():
        text = "a factor or a shift is not finite"
        raise NearMissError(ReasonClass.CONST, text, "infinity or NaN", "finite numbers")


def _wide_bias(linear: Linear) -> npt.NDArray[Any] | None:
    """Returns what the op adds for each output.

    Raises:
        NearMissError: It adds different numbers in different rows.
    """
    if linear.bias is None:
        return None
    outputs, rank = linear.outputs, len(value_shape(linear.op.result))
    if not isinstance(linear.op, GemmOp):
        return wide_array(linear.bias)
    assert outputs is not None
    bias = per_place(linear.bias, rank, linear.axis, outputs)
    if bias is None:
        text = "the bias differs between rows"
        found = show_shape(value_shape(linear.bias))
        raise NearMissError(ReasonClass.SHAPE, text, found, f"[{outputs}]")
    return bias * linear.op.beta.value.data


def _keeps_roundings(affine: Affine, linear: Linear) -> bool:
    """Whether folding gives the same roundings: factors that only move the exponent, and a shift
    that is added to a sum in the type of the result, as before."""
    wide = isinstance(element_type_of(linear.weight), Float32Type | Float64Type)
    shifts = affine.shift is None or (wide and linear.bias is None and affine.scale is None)
    return affine.of_powers_of_two() and shifts


class FoldScaleOfInput(Fold):
    """`f(x * c, w)` -> `f(x, c * w)`, for f a matmul, gemm or convolution without groups.

    For a constant c that has a number for each input, where nobody else reads the product.
    """

    roots = LINEAR

    def fold(self, op: Operation) -> list[Operation] | None:
        linear, product = linear_of(op), op.operands[0].owner
        if linear is None or isinstance(op, ConvTransposeOp) or not isinstance(product, MulOp):
            return None
        if not of_plain_floats(product.result) or product.lhs.type != product.result.type:
            return None
        if not is_constant(product.rhs) or is_constant(product.lhs):
            return None
        axis = self._input_axis(op)
        size = value_shape(product.result)[axis] if axis is not None else None
        if axis is None or not isinstance(size, int):
            return None
        factors = per_place(product.rhs, len(value_shape(product.result)), axis, size)
        if factors is None:
            text = "the constant has not one number for each input"
            found = show_shape(value_shape(product.rhs))
            raise NearMissError(ReasonClass.SHAPE, text, found, f"{size} numbers")
        if not product.result.has_one_use():
            text, uses = "the product has other users", product.result.uses.get_length()
            raise NearMissError(ReasonClass.USE, text, f"{uses} uses", "1 use")
        _expect_finite(factors)
        self.expect_affordable(linear.weight)
        if self.exact and not Affine(factors, None).of_powers_of_two():
            text = "weights would be rounded (option 'exact')"
            raise NearMissError(ReasonClass.DISABLED, text, "exact=true", "exact=false")
        weight = self.constant(
            linear.scaled_inputs(wide_array(linear.weight), factors), linear.weight
        )
        new = op.clone()
        new.operands = [product.lhs, weight.result, *op.operands[2:]]
        new.location = fuse([product.location, op.location])
        return [weight, new]

    def _input_axis(self, op: Operation) -> int | None:
        """Returns the dimension of the left operand that is summed over."""
        match op:
            case ConvOp():
                return 1 if op.group.value.data == 1 else None
            case GemmOp():
                return 0 if op.trans_a is not None else 1
            case _:
                return len(value_shape(op.operands[0])) - 1


class FoldScaleIntoAttention(Fold):
    """`flash_attention(q * c, k, v) scale s` -> `flash_attention(q, k, v) scale s * c`; so for k.

    For one number c, where nobody else reads the product.
    """

    roots = (FlashAttentionOp,)

    def fold(self, op: Operation) -> list[Operation] | None:
        import numpy as np

        assert isinstance(op, FlashAttentionOp)
        for place, operand in enumerate((op.q, op.k)):
            product = operand.owner
            if not isinstance(product, MulOp) or product.lhs.type != operand.type:
                continue
            factor = constant_scalar(product.rhs)
            if factor is None or not isfinite(factor) or not factor:
                continue
            if not operand.has_one_use():
                text, uses = "the product has other users", operand.uses.get_length()
                raise NearMissError(ReasonClass.USE, text, f"{uses} uses", "1 use")
            scale = op.scale.value.data * factor
            if self.exact and abs(np.frexp(factor)[0]) != 0.5:
                text = "the scale would be rounded (option 'exact')"
                raise NearMissError(ReasonClass.DISABLED, text, "exact=true", "exact=false")
            if not isfinite(scale) or not float(np.float32(scale)):
                continue
            new = op.clone()
            new.operands[place] = product.lhs
            new.properties["scale"] = float_attr(scale)
            new.location = fuse([product.location, op.location])
            return [new]
        return None


@dataclass(frozen=True)
class FoldNormPass(ModulePass):
    """Folds norms, scales and shifts into the weights before or after them.

    Roundings change: a result is rounded where weights are computed and no longer between the ops,
    which in f16 is about as far from the exact value as before.

    Options:
    - `exact`: whether only factors that are powers of two are folded, and shifts that are added as
      before; results then differ only where one over- or underflows. Default false.
    - `max-bytes`: weights that may be computed anew, in all. Default 268435456.
    """

    name = NAME

    exact: bool = False
    max_bytes: int = 268435456

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        budget = Budget(self.max_bytes)
        folds = (FoldAffineIntoWeights, FoldScaleOfInput, FoldScaleIntoAttention)
        Driver(NAME, [fold(budget, self.exact) for fold in folds]).run(op)
