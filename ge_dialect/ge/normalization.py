"""Normalisations along axes: statistics in f32 (f64 of f64), the result rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    F32Attr,
    FusionKind,
    GEOp,
    I64Attr,
    expect_float,
    expect_min_rank,
    float_attr,
    int_attr,
    same_element_types,
)
from ge_dialect.ge.dims import expect_broadcasts_to
from ge_dialect.ge.types import (
    RankedTensor,
    normalize_axis,
    num_elements,
    value_shape,
)


class NormalizationOp(GEOp):
    """An op whose result has the type of its first operand, and needs numbers about its rows.

    Ops with more operands define all of them again, since xDSL orders those of a base class last.
    """

    FUSION_KIND: ClassVar = FusionKind.REDUCTION
    FLOPS_PER_ELEMENT: ClassVar[int] = 8
    """Sum, square, sum, difference, product with the root, scale, shift, share of the root."""

    input = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.input, "input")
        same_element_types(*self.operands)
        self.check_shapes()
        return (self.input.type,)

    def check_shapes(self) -> None:
        """Checks shapes and properties.

        Raises:
            VerifyException: They do not fit the op.
        """

    def flops(self) -> int:
        return self.FLOPS_PER_ELEMENT * (num_elements(self.input.type) or 0)


def expect_epsilon(epsilon: float) -> None:
    """Checks what is added under a root.

    Raises:
        VerifyException: It is negative or NaN.
    """
    if not epsilon >= 0:
        raise VerifyException(f"expected 'epsilon' of 0 or more, got {epsilon}")


@irdl_op_definition
class LayerNormOp(NormalizationOp):
    """`(input - mean) / sqrt(variance + epsilon) * scale + bias` over dimensions from `axis` on.

    | operand or result | shape                        | type       |
    | ----------------- | ---------------------------- | ---------- |
    | `input`, `result` | `[*, D...]`, D from `axis` on | floats `T` |
    | `scale`, `bias`   | broadcasts to `input`        | `T`        |

    Constraints:
    - (C1) `input` holds floats, and all operands one element type.
    - (C2) `axis` is in `[-rank, rank)`.
    - (C3) `epsilon` is 0 or more. In squared units of `input`.
    - (C4) `scale` and `bias` broadcast to `input` without making it larger.

    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016), equations 3 and 4.

    Example:
    ```mlir
    %y = ge.layer_norm %x scale %s : tensor<8xf32> bias %b : tensor<8xf32> axis -1
      epsilon 1.000000e-05
      : tensor<4x8xf32> -> tensor<4x8xf32>
    ```
    """

    name = "ge.layer_norm"
    GE_TYPE: ClassVar = "LayerNorm"
    GE_INPUTS: ClassVar = ("x", "gamma", "beta")

    input = operand_def(RankedTensor)
    scale = opt_operand_def(RankedTensor)
    bias = opt_operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    epsilon = prop_def(F32Attr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$input (`scale` $scale^ `:` type($scale))? (`bias` $bias^ `:` type($bias))?"
        " `axis` $axis `epsilon` $epsilon attr-dict `:` type($input) `->` type($result)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        scale: SSAValue | Operation | None = None,
        bias: SSAValue | Operation | None = None,
        *,
        axis: int = -1,
        epsilon: float = 1e-5,
    ):
        GEOp.__init__(
            self,
            [input, scale, bias],
            {"axis": int_attr(axis), "epsilon": float_attr(epsilon)},
        )

    def check_shapes(self) -> None:
        normalize_axis(self.axis.value.data, len(value_shape(self.input)))  # (C2)
        expect_epsilon(self.epsilon.value.data)  # (C3)
        expect_broadcasts_to(self.scale, value_shape(self.input), "scale")  # (C4)
        expect_broadcasts_to(self.bias, value_shape(self.input), "bias")


@irdl_op_definition
class RMSNormOp(NormalizationOp):
    """`input / sqrt(mean(input ** 2) + epsilon) * scale`, over all dimensions from `axis` on.

    Shapes and types as of `ge.layer_norm`.

    Constraints:
    - (C1) `input` holds floats, and all operands one element type.
    - (C2) `axis` is in `[-rank, rank)`.
    - (C3) `epsilon` is 0 or more. In squared units of `input`.
    - (C4) `scale` broadcasts to `input` without making it larger.

    Source: Zhang, Sennrich, "Root Mean Square Layer Normalization" (2019), equation 4.

    Example:
    ```mlir
    %y = ge.rms_norm %x scale %s axis -1 epsilon 1.000000e-06
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "ge.rms_norm"
    GE_TYPE: ClassVar = "RmsNorm"
    GE_INPUTS: ClassVar = ("x", "gamma")
    FLOPS_PER_ELEMENT: ClassVar = 4

    input = operand_def(RankedTensor)
    scale = opt_operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    epsilon = prop_def(F32Attr)

    assembly_format = (
        "$input (`scale` $scale^)? `axis` $axis `epsilon` $epsilon attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        scale: SSAValue | Operation | None = None,
        *,
        axis: int = -1,
        epsilon: float = 1e-5,
    ):
        GEOp.__init__(
            self, [input, scale], {"axis": int_attr(axis), "epsilon": float_attr(epsilon)}
        )

    def check_shapes(self) -> None:
        normalize_axis(self.axis.value.data, len(value_shape(self.input)))  # (C2)
        expect_epsilon(self.epsilon.value.data)  # (C3)
        expect_broadcasts_to(self.scale, value_shape(self.input), "scale")  # (C4)


@irdl_op_definition
class LpNormOp(NormalizationOp):
    """`input` over its L1 (`p` = 1) or L2 (`p` = 2) norm along `axis`; 0 where the norm is 0.

    Constraints:
    - (C1) `input` holds floats.
    - (C2) `axis` is in `[-rank, rank)`.
    - (C3) `p` is 1 or 2.

    Example:
    ```mlir
    %y = ge.lp_norm %x axis -1 p 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "ge.lp_norm"
    GE_TYPE: ClassVar = "LpNormalization"
    FLOPS_PER_ELEMENT: ClassVar = 3

    axis = prop_def(I64Attr)
    p = prop_def(I64Attr)

    assembly_format = "$input `axis` $axis `p` $p attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation, *, axis: int = -1, p: int = 2):
        GEOp.__init__(self, [input], {"axis": int_attr(axis), "p": int_attr(p)})

    def check_shapes(self) -> None:
        normalize_axis(self.axis.value.data, len(value_shape(self.input)))  # (C2)
        if (p := self.p.value.data) not in (1, 2):  # (C3)
            raise VerifyException(f"expected 'p' to be 1 or 2, got {p}")


@irdl_op_definition
class LRNOp(NormalizationOp):
    """`input / (bias + alpha / size * squares) ** beta`, with the sum of squares over `size`
    neighbouring channels, one more after the channel than before it where `size` is even.

    Constraints:
    - (C1) `input` holds floats.
    - (C2) `input` has rank 2 or more, `[N, C, ...]`.
    - (C3) `size` is 1 or more.

    Source: Krizhevsky, Sutskever, Hinton, "ImageNet Classification with Deep Convolutional Neural
    Networks" (2012), section 3.3.

    Example:
    ```mlir
    %y = ge.lrn %x size 3 alpha 1.000000e-04 beta 7.500000e-01 bias 1.000000e+00
      : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    ```
    """

    name = "ge.lrn"
    GE_TYPE: ClassVar = "LRN"
    FLOPS_PER_ELEMENT: ClassVar = 12

    size = prop_def(I64Attr)
    alpha = prop_def(F32Attr)
    beta = prop_def(F32Attr)
    bias = prop_def(F32Attr)

    assembly_format = (
        "$input `size` $size `alpha` $alpha `beta` $beta `bias` $bias attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        *,
        size: int,
        alpha: float = 1e-4,
        beta: float = 0.75,
        bias: float = 1.0,
    ):
        GEOp.__init__(
            self,
            [input],
            {
                "size": int_attr(size),
                "alpha": float_attr(alpha),
                "beta": float_attr(beta),
                "bias": float_attr(bias),
            },
        )

    def check_shapes(self) -> None:
        expect_min_rank(self.input, 2, "input")  # (C2)
        if (size := self.size.value.data) < 1:  # (C3)
            raise VerifyException(f"expected 'size' of 1 or more, got {size}")
