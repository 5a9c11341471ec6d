"""Products of dequantised bytes, as tools that insert pairs of quantisations spell them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects.builtin import IntegerType, Signedness, f32
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.binary import AddOp, MaximumOp, MulOp
from ge_dialect.ge.constants import array_constant, constant_array, constant_attr, constant_scalar
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.convolution import ConvOp
from ge_dialect.ge.dtypes import is_integer, to_numpy
from ge_dialect.ge.elementwise import CastOp, ClipOp
from ge_dialect.ge.integer_contractions import ConvIntegerOp, MatmulIntegerOp
from ge_dialect.ge.quantization import DequantizeLinearOp, QuantizeLinearOp, ScaledOp
from ge_dialect.ge.requantization import RequantizeOp
from ge_dialect.ge.types import (
    element_type_of,
    normalize_axis,
    num_elements,
    static_shape,
    value_shape,
)
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.gemm import MOST_BYTES
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.values import commuted, owner
from ge_dialect.remarks import ReasonClass

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

BYTES = (IntegerType(8), IntegerType(8, Signedness.UNSIGNED))
_MOST_SCALES = 1 << 16
_LARGEST_SUM = 2**31
_LARGEST_TERM = 255 * 255


@dataclass(frozen=True)
class _Factor:
    """A dequantised operand: `(levels - zero) * scale`; `scale` has one number, or one a column."""

    levels: SSAValue
    scale: Array
    zero: SSAValue | None


@dataclass(frozen=True)
class _Tail:
    """What follows a product.

    Attributes:
        ops: The last one first; the product is none of them.
        bias: One number a column, or None.
        quantize: The quantisation at the end, if there is one.
        relu: Whether a relu comes before it, or a clip from 0 to what is no lower than its top.
    """

    ops: list[Operation]
    bias: Array | None
    quantize: QuantizeLinearOp | None = None
    relu: bool = False


@dataclass
class _FoundProduct(Found):
    product: ConvOp | MatmulOp | GemmOp
    left: _Factor
    right: _Factor
    tail: _Tail
    whole_bias: Array | None

    def build(self) -> list[Operation]:
        chain = Chain()
        sums = chain.add(self._sums(chain))
        if self.tail.quantize is not None:
            self._requantize(chain, sums, self.tail.quantize)
            return chain.ops
        scale = (self.left.scale.astype("float64") * self.right.scale).astype("float32")
        floats = chain.add(MulOp(chain.add(CastOp(sums, f32)), self._columns(chain, scale)))
        if self.tail.bias is not None:
            chain.add(AddOp(floats, self._columns(chain, self.tail.bias)))
        return chain.ops

    def _sums(self, chain: Chain) -> ConvIntegerOp | MatmulIntegerOp:
        product, left, right = self.product, self.left, self.right
        if isinstance(product, ConvOp):
            return ConvIntegerOp(
                left.levels,
                right.levels,
                left.zero,
                right.zero,
                strides=product.strides.get_values(),
                pads=product.pads.get_values(),
                dilations=product.dilations.get_values(),
                group=product.group.value.data,
            )
        levels = right.levels
        if isinstance(product, GemmOp) and product.trans_b is not None:
            array = constant_array(levels)
            assert array is not None
            levels = chain.add(array_constant(array.T.copy()))
        return MatmulIntegerOp(left.levels, levels, left.zero, right.zero)

    def _requantize(self, chain: Chain, sums: SSAValue, quantize: QuantizeLinearOp) -> None:
        over = constant_array(quantize.scale, 1)
        assert over is not None
        scale = self.left.scale.astype("float64") * self.right.scale / over.reshape(())
        if self.whole_bias is not None:
            sums = chain.add(AddOp(sums, self._columns(chain, self.whole_bias)))
        zero = quantize.zero_point
        if zero is not None and value_shape(zero):
            zero = chain.reshape(zero, ())
        element_type = element_type_of(quantize.result)
        multiplier = self._columns(chain, scale.astype("float32"))
        # Only an odd zero point makes another level even, where that of a half goes.
        last = _zero_of(quantize) % 2 == 1
        levels = chain.add(
            RequantizeOp(sums, multiplier, zero, element_type=element_type, zero_point_last=last)
        )
        if self.tail.relu and not _is_lowest(quantize):
            if zero is None:
                import numpy as np

                zero = chain.add(array_constant(np.zeros((), to_numpy(element_type))))
            chain.add(MaximumOp(levels, zero))

    def _columns(self, chain: Chain, numbers: Array) -> SSAValue:
        """Returns one number, or one a column, in a shape that broadcasts to the sums."""
        if numbers.size == 1:
            return chain.add(array_constant(numbers.reshape(())))
        trailing = len(value_shape(self.product.result)) - 2
        shape = (-1, *(1,) * trailing) if isinstance(self.product, ConvOp) else (-1,)
        return chain.add(array_constant(numbers.reshape(shape)))


def _zero_of(quantize: QuantizeLinearOp) -> int:
    """Returns the zero point of a quantisation that has a constant one, or none."""
    if quantize.zero_point is None:
        return 0
    zero = constant_scalar(quantize.zero_point)
    assert zero is not None
    return int(zero)


def _is_highest(quantize: QuantizeLinearOp, limit: float) -> bool:
    """Whether what is above a limit is above the highest level as well, or at it."""
    import ml_dtypes
    import numpy as np

    scale = constant_scalar(quantize.scale)
    if limit == inf or not scale or not scale > 0:
        return limit == inf
    level = float(np.rint(np.float32(limit) / np.float32(scale))) + _zero_of(quantize)
    return level >= ml_dtypes.iinfo(to_numpy(element_type_of(quantize.result))).max


def _is_lowest(quantize: QuantizeLinearOp) -> bool:
    """Whether what is below 0 is below the lowest level as well."""
    import ml_dtypes

    dtype = to_numpy(element_type_of(quantize.result))
    return _zero_of(quantize) == ml_dtypes.iinfo(dtype).min


class RaiseQuantizedProduct(Raise):
    """`quantize(conv(dequantize(x), dequantize(w), b))` -> `requantize(conv_integer(x, w) + b)`

    So are products of matrices, also with a relu. Without a quantisation, or with a bias that is no
    multiple of the scale of the sums, a product by constants is `conv_integer(x, w) * scale + b`.
    Sums of bytes are exact, so that only roundings differ.
    """

    roots = (ConvOp, MatmulOp, GemmOp)
    reads = (DequantizeLinearOp,)
    composite: ClassVar = "quantized_product"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, ConvOp | MatmulOp | GemmOp)
        left, right = op.operands[:2]
        x, w = owner(left, DequantizeLinearOp), owner(right, DequantizeLinearOp)
        if x is None or w is None or not _is_plain(op, w):
            return None
        if len(op.operands) > 2 and _bias_of(op) is None:
            return None
        inputs, weights = _factor(x, None), _factor(w, _column_axis(op))
        if inputs is None or weights is None:
            return None
        largest = _largest_sum(op)
        tail = _tail(op)
        whole = _whole_bias(tail.bias, inputs, weights, largest)
        if tail.quantize is None or (tail.bias is not None and whole is None):
            if constant_attr(w.input) is None:
                return None  # attention is worth more than its scores in bytes
            tail = _Tail([], _bias_of(op))
        ops = [*tail.ops, op]
        return _FoundProduct(op, inputs, weights, tail, whole, ops=ops, feeders=[x, w])


def _is_plain(op: ConvOp | MatmulOp | GemmOp, w: DequantizeLinearOp) -> bool:
    """Whether a product has no factors, and its weight is transposed only where that is cheap."""
    if not isinstance(op, GemmOp):
        return True
    if op.trans_a is not None or op.alpha.value.data != 1:
        return False
    if op.c is not None and op.beta.value.data != 1:
        return False
    small = (num_elements(w.input.type) or 0) <= MOST_BYTES
    return op.trans_b is None or (small and constant_attr(w.input) is not None)


def _column_axis(op: ConvOp | MatmulOp | GemmOp) -> int:
    """Returns the dimension of the weight that columns of the result come of."""
    if isinstance(op, MatmulOp):
        return len(value_shape(op.rhs)) - 1
    return 0 if isinstance(op, ConvOp) or op.trans_b is not None else 1


def _factor(op: DequantizeLinearOp, axis: int | None) -> _Factor | None:
    """Returns an operand as bytes, or None where it is something else.

    Args:
        op: The dequantisation.
        axis: Along which scales may follow; None where there has to be one for all.
    """
    if element_type_of(op.input) not in BYTES or element_type_of(op.result) != f32:
        return None
    scale = constant_array(op.scale, _MOST_SCALES)
    if scale is None or scale.dtype != "float32" or not _serves(op, axis):
        return None
    zero = op.zero_point
    if zero is not None:
        numbers = constant_array(zero, _MOST_SCALES)
        if numbers is None:
            return None
        zero = zero if numbers.any() else None
    return _Factor(op.input, scale.reshape(-1), zero)


def _serves(op: ScaledOp, axis: int | None) -> bool:
    """Whether an op has one scale for all, or one for each place along `axis`."""
    if op.block_size.value.data:
        return False
    if num_elements(op.scale.type) == 1:
        return True
    found = normalize_axis(op.axis.value.data, len(value_shape(op.input)))
    return found == axis


def _largest_sum(op: ConvOp | MatmulOp | GemmOp) -> int:
    """Returns a bound of the sums of a product of bytes.

    Raises:
        NearMissError: They may be too large for 32 bits, or their number is not known.
    """
    weight = static_shape(op.operands[1].type)
    if weight is None:
        raise NearMissError(ReasonClass.SYMBOL, "the number of products in a sum is not known")
    if isinstance(op, ConvOp):
        count = prod(weight[1:])
    elif isinstance(op, GemmOp):
        count = weight[1 - _column_axis(op)]
    else:
        count = weight[max(len(weight) - 2, 0)]
    if count * _LARGEST_TERM >= _LARGEST_SUM:
        raise NearMissError(ReasonClass.SHAPE, "sums may be too large for 32 bits", count)
    return count * _LARGEST_TERM


def _bias_of(op: ConvOp | MatmulOp | GemmOp) -> Array | None:
    """Returns the constant bias that an op has itself, one number a column; else None."""
    if isinstance(op, GemmOp):
        return None if op.c is None else _numbers(op.c, len(value_shape(op.c)) - 1)
    if isinstance(op, MatmulOp) or op.bias is None:
        return None
    return _numbers(op.bias, 0)


def _numbers(bias: SSAValue, place: int) -> Array | None:
    """Returns a constant with one number, or one for each place along a dimension; else None.

    Args:
        bias: Anything.
        place: The dimension; negative where the value has none of that kind.
    """
    array = constant_array(bias, _MOST_SCALES)
    if array is None or array.dtype != "float32":
        return None
    others = [size for index, size in enumerate(array.shape) if index != place]
    return array.reshape(-1) if all(size == 1 for size in others) else None


def _added(op: ConvOp | MatmulOp | GemmOp, add: AddOp, value: SSAValue) -> Array | None:
    """Returns what is added to a product, one number or one a column, if it is that; else None."""
    other = next((second for first, second in commuted(add) if first is value), None)
    if other is None or add.result.type != value.type:
        return None
    rank, behind = len(value_shape(other)), len(value_shape(value)) - 2
    return _numbers(other, rank - 1 - (behind if isinstance(op, ConvOp) else 0))


def _tail(op: ConvOp | MatmulOp | GemmOp) -> _Tail:
    """Returns what follows a product, up to a quantisation with one scale."""
    ops: list[Operation] = []
    bias, value, most = _bias_of(op), op.result, None
    while (user := _only_user(value)) is not None:
        if isinstance(user, AddOp) and not ops and bias is None:
            if (bias := _added(op, user, value)) is None:
                break
        elif most is None and (found := _limit(user)) is not None:
            most = found
        elif isinstance(user, QuantizeLinearOp) and _is_simple(user, value):
            if most is not None and not _is_highest(user, most):
                break
            return _Tail([user, *ops], bias, user, most is not None)
        else:
            break
        ops.insert(0, user)
        value = user.results[0]
    return _Tail([], _bias_of(op))


def _limit(op: Operation) -> float | None:
    """Returns what an op limits its operand to that makes it 0 at least; else None."""
    if isinstance(op, ReluOp):
        return inf
    if not isinstance(op, ClipOp) or op.min is None or constant_scalar(op.min) != 0:
        return None
    return inf if op.max is None else constant_scalar(op.max)


def _only_user(value: SSAValue) -> Operation | None:
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def _is_simple(op: QuantizeLinearOp, value: SSAValue) -> bool:
    """Whether an op quantises `value` with one constant scale to integers."""
    scale = constant_array(op.scale, 1)
    zero = op.zero_point is None or constant_array(op.zero_point, 1) is not None
    return (
        op.input is value
        and zero
        and op.precision is None
        and scale is not None
        and scale.dtype == "float32"
        and is_integer(element_type_of(op.result))
        and _serves(op, None)
    )


def _whole_bias(bias: Array | None, left: _Factor, right: _Factor, largest: int) -> Array | None:
    """Returns a bias in steps of the scale of the sums; None where it is not whole, or too large.

    A tool dequantises it from just that, so that no number needs more than one rounding.
    """
    import numpy as np

    if bias is None:
        return None
    scale = (left.scale * right.scale).astype(np.float32)
    with np.errstate(all="ignore"):
        steps = np.rint(bias.astype(np.float64) / scale)
    if not np.isfinite(steps).all() or np.abs(steps).max(initial=0) + largest >= _LARGEST_SUM:
        return None
    if not (steps.astype(np.float32) * scale == bias).all():
        return None
    return steps.astype(np.int32)
