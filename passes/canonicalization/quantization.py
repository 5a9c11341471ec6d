"""Quantisations of what was dequantised, where every level comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.ge.constants import constant_array, constant_attr
from ge_dialect.ge.dtypes import dtype_of, is_float, to_numpy
from ge_dialect.ge.quantization import DequantizeLinearOp, QuantizeLinearOp, ScaledOp
from ge_dialect.ge.types import element_type_of, normalize_axis, num_elements, value_shape
from ge_dialect.passes.driver import Rewrite

if TYPE_CHECKING:
    import numpy.typing as npt

_PASS = "ge-canonicalize"
_MOST_SCALES = 1 << 20
_MOST_ENUMERATED = 4096


class ElideRequantization(Rewrite):
    """`quantize(dequantize(q))` -> `q`, with the same constant scales, zero points and type.

    Applies where every level comes back as itself. For integers that is proved: let `z` be the
    zero point, `n = q - z`, `|n| < 2**bits`, and `u = 2**-p` the unit roundoff of the one float
    type of scale `s`, product and quotient (`p` is 24 for f32, 11 for f16, 8 for bf16).

    - `n` is exact in f32, for `bits <= 16`.
    - `s` is a normal positive number and `(2**bits - 1) * s` is finite, so that `n * s` is 0 or
      normal, and the product is `n * s * (1 + e)`. With the quotient's rounding the result is
      `n * (1 + d)`, `|d| < 3 * u`: two roundings, each perhaps by way of f32.
    - Where `3 * (2**bits - 1) * u < 1/2`, it rounds to `n`, and `n + z = q` is in range.

    So f32 takes up to 16 bits, f16 up to 8, bf16 up to 4. For narrow floats, whose spacing
    varies, all levels are tried with each scale: those of f8E5M2, which has infinities and many
    NaN, never all come back. The other way round, a quantisation rounds, and always stays.
    """

    roots = (QuantizeLinearOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, QuantizeLinearOp)
        inner = op.input.owner
        if not isinstance(inner, DequantizeLinearOp) or op.result.type != inner.input.type:
            return
        if (reason := self.refusal(inner, op)) is not None:
            why = remarks.ReasonClass.CONST
            remarks.missed(_PASS, type(self).__name__, op, reason, reason=why)
            return
        rewriter.replace(op, (), [inner.input])

    def refusal(self, inner: DequantizeLinearOp, outer: QuantizeLinearOp) -> str | None:
        """Says why a level might not come back, or None where all do."""
        if not _same_value(inner.scale, outer.scale):
            return "the scales are not known to be equal"
        if not _same_value(inner.zero_point, outer.zero_point):
            return "the zero points are not known to be equal"
        if not _same_places(inner, outer):
            return "the scales belong to other places"
        scale = constant_array(inner.scale, _MOST_SCALES)
        if scale is None:
            return f"the scale is no constant of at most {_MOST_SCALES} elements"
        if is_float(element_type_of(inner.input)):
            return _narrow_float_refusal(inner, outer, scale)
        return _integer_refusal(inner, outer, scale)


def _same_value(first: SSAValue | None, second: SSAValue | None) -> bool:
    """Whether two values are the same one, or equal constants of one type."""
    if first is None or second is None or first is second:
        return first is second
    constant = constant_attr(first)
    return constant is not None and constant == constant_attr(second) and first.type == second.type


def _same_places(first: ScaledOp, second: ScaledOp) -> bool:
    """Whether equal scales of two ops on one shape belong to the same elements."""
    if first.block_size != second.block_size:
        return False
    if num_elements(first.scale.type) == 1 and first.block_size.value.data == 0:
        return True
    rank = len(value_shape(first.input))
    axes = [normalize_axis(op.axis.value.data, rank) for op in (first, second)]
    return axes[0] == axes[1]


def _integer_refusal(
    inner: DequantizeLinearOp, outer: QuantizeLinearOp, scale: npt.NDArray[Any]
) -> str | None:
    import ml_dtypes

    real = element_type_of(inner.scale)
    quotient = real if outer.precision is None else outer.precision
    if not real == quotient == element_type_of(inner.result):
        return "scale, product and quotient are of several types"
    info = cast(Any, ml_dtypes.finfo(to_numpy(real)))
    largest = 2 ** dtype_of(element_type_of(inner.input)).bits - 1
    if 3 * largest >= 2**info.nmant:  # nmant = p - 1
        return f"{real} is too narrow to tell {largest + 1} levels apart"
    values = scale.astype("float64")
    if not bool((values >= float(info.smallest_normal)).all()):
        return "a scale is not positive, or not a normal number"
    if not bool((values * largest <= float(info.max)).all()):
        return "a scale is so large that levels overflow"
    return None


def _narrow_float_refusal(
    inner: DequantizeLinearOp, outer: QuantizeLinearOp, scale: npt.NDArray[Any]
) -> str | None:
    zero_point = None
    if inner.zero_point is not None:
        zero_point = constant_array(inner.zero_point, _MOST_ENUMERATED)
        if zero_point is None:
            return "the zero point is no constant that all levels could be tried with"
    if scale.size > _MOST_ENUMERATED:
        return f"{scale.size} scales, all levels are tried with at most {_MOST_ENUMERATED}"
    precision = None if outer.precision is None else to_numpy(outer.precision)
    real = to_numpy(element_type_of(inner.result))
    levels = _all_levels(element_type_of(inner.input), scale.size)
    if _come_back(levels, scale, zero_point, real, precision, outer.unsaturated is None):
        return None
    return "a level does not come back as itself"


def _all_levels(element_type: Attribute, rows: int) -> npt.NDArray[Any]:
    """Returns every value of a narrow type, NaN included, once a row."""
    import numpy as np

    codes = np.arange(2 ** dtype_of(element_type).bits, dtype=np.uint8)
    return np.tile(codes.view(to_numpy(element_type)), (rows, 1))


def _come_back(
    levels: npt.NDArray[Any],
    scale: npt.NDArray[Any],
    zero_point: npt.NDArray[Any] | None,
    real: Any,
    precision: Any,
    saturate: bool,
) -> bool:
    """Whether all levels, one row a scale, are the same bits after both steps."""
    from ge_dialect.interpreters.kernels import quantization

    scale = scale.reshape(-1)
    zero_point = None if zero_point is None else zero_point.reshape(-1)
    numbers = quantization.dequantize_linear(levels, scale, zero_point, axis=0, dtype=real)
    back = quantization.quantize_linear(
        numbers,
        scale,
        zero_point,
        axis=0,
        dtype=levels.dtype,
        precision=precision,
        saturate=saturate,
    )
    return back.tobytes() == levels.tobytes()


QUANTIZATION_PATTERNS = (ElideRequantization,)
