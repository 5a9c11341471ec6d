"""Reductions along axes, and softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from ge_dialect.ge.base import (
    FusionKind,
    GEOp,
    I1Attr,
    I64ArrayAttr,
    I64Attr,
    bool_attr,
    expect_float,
    int_attr,
    ints_attr,
)
from ge_dialect.ge.types import (
    RankedTensor,
    Shape,
    normalize_axes,
    normalize_axis,
    num_elements,
    tensor_of,
    tensor_type,
    value_shape,
)


class ReduceOp(GEOp):
    """Makes one element of all elements along `axes`.

    The reduced dimensions become 1 where `keepdims` holds, else they go. Where `axes` is empty
    nothing is reduced: each element is a group of its own.

    | operand or result | shape                               | type         |
    | ----------------- | ----------------------------------- | ------------ |
    | `input`           | any                                 | numbers `T`  |
    | `result`          | of `input`, with `axes` at 1 or gone | `T`         |

    Constraints:
    - (C1) Every axis is in `[-rank, rank)`, none twice.

    Floats narrower than f32 are summed in f32 and rounded once.

    Example:
    ```mlir
    %y = ge.reduce_sum %x axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
    ```
    """

    FUSION_KIND: ClassVar = FusionKind.REDUCTION
    FLOPS_PER_ELEMENT: ClassVar[int] = 1

    input = operand_def(RankedTensor)
    axes = prop_def(I64ArrayAttr)
    keepdims = prop_def(I1Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `axes` $axes `keepdims` $keepdims attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, axes: Sequence[int], keepdims: bool = True):
        super().__init__([input], {"axes": ints_attr(axes), "keepdims": bool_attr(keepdims)})

    @property
    def reduced_axes(self) -> tuple[int, ...]:
        """The axes counted from the front, in the order given."""
        return normalize_axes(self.axes.get_values(), len(value_shape(self.input)))  # (C1)

    def infer_types(self) -> Sequence[Attribute]:
        shape = reduced_shape(value_shape(self.input), self.reduced_axes, bool(self.keepdims))
        return (tensor_type(tensor_of(self.input).element_type, shape),)

    def flops(self) -> int:
        return self.FLOPS_PER_ELEMENT * (num_elements(self.input.type) or 0)


def reduced_shape(shape: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """Returns `shape` with `axes`, counted from the front, at 1 or gone."""
    if keepdims:
        return tuple(1 if i in axes else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in axes)


@irdl_op_definition
class ReduceSumOp(ReduceOp):
    """The sum; 0 of nothing."""

    name = "ge.reduce_sum"
    GE_TYPE: ClassVar = "ReduceSumD"


@irdl_op_definition
class ReduceMeanOp(ReduceOp):
    """The sum over the number of elements."""

    name = "ge.reduce_mean"
    GE_TYPE: ClassVar = "ReduceMeanD"


@irdl_op_definition
class ReduceMaxOp(ReduceOp):
    """The greatest; NaN where one is NaN, the least value of the type of nothing."""

    name = "ge.reduce_max"
    GE_TYPE: ClassVar = "ReduceMaxD"


@irdl_op_definition
class ReduceMinOp(ReduceOp):
    """The least; NaN where one is NaN, the greatest value of the type of nothing."""

    name = "ge.reduce_min"
    GE_TYPE: ClassVar = "ReduceMinD"


@irdl_op_definition
class ReduceProdOp(ReduceOp):
    """The product; 1 of nothing."""

    name = "ge.reduce_prod"
    GE_TYPE: ClassVar = "ReduceProdD"


@irdl_op_definition
class ReduceL1Op(ReduceOp):
    """The sum of absolute values."""

    name = "ge.reduce_l1"
    GE_TYPE: ClassVar = "ReduceL1"
    FLOPS_PER_ELEMENT: ClassVar = 2


@irdl_op_definition
class ReduceL2Op(ReduceOp):
    """The square root of the sum of squares."""

    name = "ge.reduce_l2"
    GE_TYPE: ClassVar = "ReduceL2"
    FLOPS_PER_ELEMENT: ClassVar = 2


@irdl_op_definition
class ReduceSumSquareOp(ReduceOp):
    """The sum of squares."""

    name = "ge.reduce_sum_square"
    GE_TYPE: ClassVar = "SquareSumV1"
    FLOPS_PER_ELEMENT: ClassVar = 2


@irdl_op_definition
class ReduceLogSumOp(ReduceOp):
    """`log(sum(x))`."""

    name = "ge.reduce_log_sum"
    GE_TYPE: ClassVar = "ReduceLogSum"


@irdl_op_definition
class ReduceLogSumExpOp(ReduceOp):
    """`log(sum(exp(x)))`, computed from the greatest element so that nothing overflows."""

    name = "ge.reduce_log_sum_exp"
    GE_TYPE: ClassVar = "ReduceLogSumExp"
    FLOPS_PER_ELEMENT: ClassVar = 10


class AxisSoftmaxOp(GEOp):
    """A softmax along one axis, with the greatest element subtracted first, in f32 or wider.

    | operand or result | shape | type       |
    | ----------------- | ----- | ---------- |
    | `input`, `result` | any   | floats `T` |

    Constraints:
    - (C1) `input` holds floats.
    - (C2) `axis` is in `[-rank, rank)`.

    Source: Milakov, Gimelshein, "Online normalizer calculation for softmax" (2018), section 2,
    the safe softmax.

    Example:
    ```mlir
    %y = ge.softmax %x axis -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    FUSION_KIND: ClassVar = FusionKind.REDUCTION
    FLOPS_PER_ELEMENT: ClassVar[int] = 12
    """Greatest, difference, exp (8, as `FloatUnaryOp`), sum, quotient."""

    input = operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input `axis` $axis attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation, axis: int = -1):
        super().__init__([input], {"axis": int_attr(axis)})

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.input, "input")  # (C1)
        normalize_axis(self.axis.value.data, len(value_shape(self.input)))  # (C2)
        return (self.input.type,)

    def flops(self) -> int:
        return self.FLOPS_PER_ELEMENT * (num_elements(self.input.type) or 0)


@irdl_op_definition
class SoftmaxOp(AxisSoftmaxOp):
    """`exp(x) / sum(exp(x))` along `axis`."""

    name = "ge.softmax"
    GE_TYPE: ClassVar = "SoftmaxV2"


@irdl_op_definition
class LogSoftmaxOp(AxisSoftmaxOp):
    """`x - log(sum(exp(x)))` along `axis`."""

    name = "ge.log_softmax"
    GE_TYPE: ClassVar = "LogSoftmaxV2"
