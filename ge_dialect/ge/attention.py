"""Attention and rotary position embedding."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.attention_dims import attention_dims
from ge_dialect.ge.base import (
    Engine,
    F32Attr,
    FusionKind,
    GEOp,
    I64Attr,
    expect_float,
    expect_integer,
    expect_rank,
    flag_attr,
    float_attr,
    int_attr,
    same_element_types,
)
from ge_dialect.ge.dims import expect_broadcasts_to, merge_dims
from ge_dialect.ge.dtypes import is_bool, is_float
from ge_dialect.ge.indexing import expect_shape
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    Shape,
    num_elements,
    static_shape,
    tensor_of,
    tensor_type,
    value_shape,
)


@irdl_op_definition
class FlashAttentionOp(GEOp):
    """`softmax(scale * q @ k^T, masked) @ v` for each head; scores never leave the chip.

    | operand or result | shape                         | type                       |
    | ----------------- | ----------------------------- | -------------------------- |
    | `q`               | `[B, H, S, D]`                | floats `T`                 |
    | `k`               | `[B, Hk, T, D]`               | `T`                        |
    | `v`               | `[B, Hk, T, Dv]`              | `T`                        |
    | `mask`            | broadcasts to `[B, H, S, T]`  | i1 (true keeps), or floats |
    | `sink`            | `[H]`                         | floats                     |
    | `result`          | `[B, H, S, Dv]`               | `T`                        |

    In this order: scores are multiplied by `scale`; with `softcap` c they become
    `c * tanh(score / c)`; a mask of floats is added, a mask of i1 takes keys away; with `causal`
    query i keeps only keys `j <= i + causal_offset` (absent: 0, which is ONNX's rule for attention
    without a past; with a past of P keys the offset is P). What takes a key away adds minus
    infinity to its score, as in ONNX, so that a score of NaN shows; with `masked_fill` it puts
    minus infinity in its place, or the number `fill`, of which the weights of a query without keys
    are all the same. A query that keeps no key gives NaN, as softmax does, or 0 with
    `nan_guard`; with `zero_nan` weights that are NaN become 0, whatever made them so.
    `sink` is the score of one key more of each head, as it is, whose value is 0: what a query does
    not want to give to any key goes there.
    Where H is greater than Hk, groups of H / Hk consecutive query heads share a key head. Scores,
    softmax and sums are of the type `accumulate`; one rounding to `T` at the end.

    Constraints:
    - (C1) `q`, `k` and `v` hold floats of one element type.
    - (C2) They have rank 4 and agree in B, D, T and Hk.
    - (C3) H is a multiple of Hk.
    - (C4) `mask` holds i1 or floats and broadcasts to `[B, H, S, T]` without making it larger.
    - (C5) `accumulate` is f32 or f64, f64 if `T` is.
    - (C6) `softcap` is greater than 0; `causal_offset` comes with `causal`; there is at most one of
      `nan_guard` and `zero_nan`.
    - (C7) `sink` holds floats, one a head.
    - (C8) `fill` comes with `masked_fill`; it is finite.

    Source: Dao et al., "FlashAttention" (2022), section 3; ONNX `Attention`, version 24; of sinks
    OpenAI, "gpt-oss-120b & gpt-oss-20b Model Card" (2025), section 2.

    Example:
    ```mlir
    %o = ge.flash_attention %q, %k, %v scale 1.250000e-01 causal
      : (tensor<1x4x8x64xf16>, tensor<1x2x8x64xf16>, tensor<1x2x8x64xf16>) -> tensor<1x4x8x64xf16>
    ```
    """

    name = "ge.flash_attention"
    GE_TYPE: ClassVar = "FlashAttentionScore"
    GE_INPUTS: ClassVar = ("query", "key", "value", "atten_mask", "sink")
    GE_OUTPUTS: ClassVar = ("attention_out",)
    FUSION_KIND: ClassVar = FusionKind.CONTRACTION
    ENGINE: ClassVar = Engine.CUBE

    q = operand_def(RankedTensor)
    k = operand_def(RankedTensor)
    v = operand_def(RankedTensor)
    mask = opt_operand_def(RankedTensor)
    sink = opt_operand_def(RankedTensor)
    scale = prop_def(F32Attr)
    causal = opt_prop_def(UnitAttr)
    causal_offset = opt_prop_def(I64Attr)
    softcap = opt_prop_def(F32Attr)
    masked_fill = opt_prop_def(UnitAttr)
    fill = opt_prop_def(F32Attr)
    nan_guard = opt_prop_def(UnitAttr)
    zero_nan = opt_prop_def(UnitAttr)
    accumulate = prop_def(eq(f32) | eq(f64), default_value=f32)
    result = result_def(RankedTensor)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    assembly_format = (
        "$q `,` $k `,` $v (`mask` $mask^)? (`sink` $sink^ `:` type($sink))? `scale` $scale"
        " (`causal` $causal^)? (`causal_offset` $causal_offset^)? (`softcap` $softcap^)?"
        " (`masked_fill` $masked_fill^)? (`fill` $fill^)? (`nan_guard` $nan_guard^)?"
        " (`zero_nan` $zero_nan^)? (`accumulate` $accumulate^)? attr-dict"
        " `:` `(` type($q) `,` type($k) `,` type($v) (`,` type($mask)^)? `)` `->` type($result)"
    )

    def __init__(
        self,
        q: SSAValue | Operation,
        k: SSAValue | Operation,
        v: SSAValue | Operation,
        mask: SSAValue | Operation | None = None,
        *,
        scale: float,
        sink: SSAValue | Operation | None = None,
        causal: bool = False,
        causal_offset: int | None = None,
        softcap: float | None = None,
        masked_fill: bool = False,
        fill: float | None = None,
        nan_guard: bool = False,
        zero_nan: bool = False,
        accumulate: Attribute | None = None,
    ):
        """Builds the op; `accumulate` is by default f64 for operands of f64, else f32."""
        wide = tensor_of(SSAValue.get(q)).element_type == f64
        super().__init__(
            [q, k, v, mask, sink],
            {
                "scale": float_attr(scale),
                "causal": flag_attr(causal),
                "causal_offset": None if causal_offset is None else int_attr(causal_offset),
                "softcap": None if softcap is None else float_attr(softcap),
                "masked_fill": flag_attr(masked_fill),
                "fill": None if fill is None else float_attr(fill),
                "nan_guard": flag_attr(nan_guard),
                "zero_nan": flag_attr(zero_nan),
                "accumulate": accumulate or (f64 if wide else f32),
            },
        )

    @property
    def masked_score(self) -> float | None:
        """What takes the place of the score of a key that is taken away; None adds -inf to it."""
        if self.masked_fill is None:
            return None
        return -inf if self.fill is None else self.fill.value.data

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.q, "q")
        element_type = same_element_types(self.q, self.k, self.v)  # (C1)
        batch, heads, rows, columns, depth = attention_dims(self.q, self.k, self.v)  # (C2, C3)
        self._check_mask((batch, heads, rows, columns))
        self._check_sink(heads)
        if element_type == f64 and self.accumulate != f64:  # (C5)
            raise VerifyException(f"expected 'accumulate' f64 for f64, got {self.accumulate}")
        if self.softcap is not None and not self.softcap.value.data > 0:  # (C6)
            raise VerifyException(f"expected 'softcap' > 0, got {self.softcap.value.data}")
        if self.causal_offset is not None and self.causal is None:
            raise VerifyException("expected 'causal' with 'causal_offset'")
        if self.nan_guard is not None and self.zero_nan is not None:
            raise VerifyException("expected at most one of 'nan_guard' and 'zero_nan'")
        self._check_fill()
        return (tensor_type(element_type, (batch, heads, rows, depth)),)

    def _check_fill(self) -> None:
        if self.fill is not None and (
            self.masked_fill is None or not isfinite(self.fill.value.data)
        ):
            found = self.fill.value.data  # (C8)
            raise VerifyException(f"expected 'masked_fill' with a finite 'fill', got {found}")

    def _check_mask(self, scores: Shape) -> None:
        if self.mask is None:
            return
        element_type = tensor_of(self.mask).element_type
        if not is_bool(element_type) and not is_float(element_type):  # (C4)
            raise VerifyException(f"expected 'mask' of i1 or floats, got {element_type}")
        expect_broadcasts_to(self.mask, scores, "mask")

    def _check_sink(self, heads: MaybeDim) -> None:
        if self.sink is None:
            return
        expect_float(self.sink, "sink")  # (C7)
        expect_shape(self.sink, (heads,), "sink")

    def flops(self) -> int:
        """Both products, and the softmax as `ge.softmax` counts it; the causal half is counted."""
        query, value = static_shape(self.q.type), static_shape(self.v.type)
        if query is None or value is None:
            return 0
        scores = query[0] * query[1] * query[2] * value[2]
        return scores * (2 * query[3] + 2 * value[3] + 12)


@irdl_op_definition
class RotaryEmbeddingOp(GEOp):
    """Rotates pairs of features by the angle of their position.

    `(a, b) -> (a * cos - b * sin, a * sin + b * cos)`, where a pair is feature i of the first and
    of the second half, or with `interleaved` two neighbours.

    | operand or result | shape                                              | type       |
    | ----------------- | -------------------------------------------------- | ---------- |
    | `input`, `result` | `[B, H, S, D]`, or `[B, S, H * D]` with `num_heads` | floats `T` |
    | `cos`, `sin`      | `[B, S, R / 2]`, or `[positions, R / 2]`           | `T`        |
    | `position_ids`    | `[B, S]`, rows of `cos` and `sin`                  | integers   |

    R is `rotary_dim`, or D where that is 0: the features after the first R stay as they are. Tables
    of rank 3 whose first dimension is 1 serve the whole batch.

    Constraints:
    - (C1) `input`, `cos` and `sin` hold floats of one element type.
    - (C2) `input` has rank 4, or rank 3 and `num_heads`, of which its last dimension is a multiple.
    - (C3) `cos` and `sin` have rank 3, with `position_ids` rank 2.
    - (C4) `position_ids` holds integers and has rank 2.
    - (C5) The last dimension of `cos` and `sin` is R / 2, and R is even and at most D.

    Source: Su et al., "RoFormer" (2021), equation 34; ONNX `RotaryEmbedding`, version 23.

    Example:
    ```mlir
    %y = ge.rotary_embedding %x, %c, %s num_heads 0 rotary_dim 0
      : (tensor<1x4x8x64xf16>, tensor<1x8x32xf16>, tensor<1x8x32xf16>) -> tensor<1x4x8x64xf16>
    ```
    """

    name = "ge.rotary_embedding"
    GE_TYPE: ClassVar = "RotaryPositionEmbedding"
    GE_INPUTS: ClassVar = ("x", "cos", "sin", "position_ids")

    input = operand_def(RankedTensor)
    cos = operand_def(RankedTensor)
    sin = operand_def(RankedTensor)
    position_ids = opt_operand_def(RankedTensor)
    interleaved = opt_prop_def(UnitAttr)
    num_heads = prop_def(I64Attr)
    rotary_dim = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $cos `,` $sin (`position_ids` $position_ids^)? (`interleaved` $interleaved^)?"
        " `num_heads` $num_heads `rotary_dim` $rotary_dim attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        cos: SSAValue | Operation,
        sin: SSAValue | Operation,
        position_ids: SSAValue | Operation | None = None,
        *,
        interleaved: bool = False,
        num_heads: int = 0,
        rotary_dim: int = 0,
    ):
        super().__init__(
            [input, cos, sin, position_ids],
            {
                "interleaved": flag_attr(interleaved),
                "num_heads": int_attr(num_heads),
                "rotary_dim": int_attr(rotary_dim),
            },
        )

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.input, "input")
        same_element_types(self.input, self.cos, self.sin)  # (C1)
        if self.position_ids is not None:
            expect_integer(self.position_ids, "position_ids")  # (C4)
            expect_rank(self.position_ids, 2, "position_ids")
        self._check_half(self._head_size())
        return (self.input.type,)

    def _head_size(self) -> MaybeDim:
        shape, heads = value_shape(self.input), self.num_heads.value.data
        if len(shape) == 4:  # (C2)
            return shape[3]
        last = expect_rank(self.input, 3, "input")[2]
        if heads < 1 or (isinstance(last, int) and last % heads):
            raise VerifyException(f"expected 'num_heads' to divide {last}, got {heads}")
        return last // heads if isinstance(last, int) else None

    def _check_half(self, head_size: MaybeDim) -> None:
        rotated = self.rotary_dim.value.data or head_size
        too_large = isinstance(rotated, int) and isinstance(head_size, int) and rotated > head_size
        if isinstance(rotated, int) and (rotated < 0 or rotated % 2 or too_large):  # (C5)
            raise VerifyException(
                f"expected an even number of rotated features of {head_size}, got {rotated}"
            )
        half = rotated // 2 if isinstance(rotated, int) else None
        rank = 3 if self.position_ids is None else 2
        for name, table in (("cos", self.cos), ("sin", self.sin)):
            last = expect_rank(table, rank, name)[-1]  # (C3)
            merge_dims(last, half, f"'{name}' and half of the rotated features")

    def flops(self) -> int:
        return 3 * (num_elements(self.input.type) or 0)
