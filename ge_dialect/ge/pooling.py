"""Pooling: one number for each place of a window that slides over the spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    FusionKind,
    GEOp,
    I64ArrayAttr,
    I64Attr,
    expect_float,
    expect_min_rank,
    flag_attr,
    int_attr,
    ints_attr,
)
from ge_dialect.ge.convolution import check_window_properties, pad_pairs, spatial_defaults
from ge_dialect.ge.dims import window_size
from ge_dialect.ge.types import RankedTensor, Shape, num_elements, tensor_of, tensor_type


def _properties(
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    dilations: Sequence[int] | None,
    ceil_mode: bool,
) -> dict[str, Attribute | None]:
    return {
        "kernel": ints_attr(kernel),
        **spatial_defaults(len(kernel), strides, pads, dilations),
        "ceil_mode": flag_attr(ceil_mode),
    }


class PoolOp(GEOp):
    """A window of `kernel` elements over the spatial dimensions of `[N, C, D1, ..., Dn]`.

    | operand or result | shape                 | type        |
    | ----------------- | --------------------- | ----------- |
    | `input`           | `[N, C, D1, ..., Dn]` | numbers `T` |
    | `result`          | `[N, C, O1, ..., On]` | `T`         |

    `Oi = (Di + pad_begin + pad_end - (ki - 1) * dilation - 1) / stride + 1`, rounded down, or with
    `ceil_mode` up, where a window that would start in the padding after the input is left out.
    `pads` has all begins and then all ends.

    Constraints:
    - (C1) `input` has rank 3 or more.
    - (C2) `kernel`, `strides`, `dilations` and `pads` have a number of 1 or more (pads: 0) for each
      spatial dimension (pads: two).
    - (C3) The window has a place in the padded input.

    Source: Dumoulin, Visin, "A guide to convolution arithmetic for deep learning" (2016),
    relationship 15.

    Example:
    ```mlir
    %y = ge.max_pool %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    ```
    """

    FUSION_KIND: ClassVar = FusionKind.OPAQUE

    input = operand_def(RankedTensor)
    kernel = prop_def(I64ArrayAttr)
    strides = prop_def(I64ArrayAttr)
    pads = prop_def(I64ArrayAttr)
    dilations = prop_def(I64ArrayAttr)
    ceil_mode = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `kernel` $kernel `strides` $strides `pads` $pads `dilations` $dilations"
        " (`ceil_mode` $ceil_mode^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
    ):
        """Builds the op; strides and dilations are 1 and pads 0 where absent."""
        properties = _properties(kernel, strides, pads, dilations, ceil_mode)
        super().__init__([input], properties)

    def pooled_shape(self) -> Shape:
        """Returns the shape of the result.

        Raises:
            VerifyException: Shape and properties do not fit.
        """
        shape = expect_min_rank(self.input, 3, "input")  # (C1)
        kernel, rank = self.kernel.get_values(), len(shape) - 2
        if len(kernel) != rank or any(size < 1 for size in kernel):  # (C2)
            raise VerifyException(
                f"expected 'kernel' of {rank} numbers of 1 or more, got {list(kernel)}"
            )
        strides, dilations = self.strides.get_values(), self.dilations.get_values()
        pads = self.pads.get_values()
        check_window_properties(rank, strides, pads, dilations)
        spatial = [
            window_size(
                size,
                extent,
                stride=stride,
                pad=pad,
                dilation=dilation,
                ceil_mode=self.ceil_mode is not None,
            )  # (C3)
            for size, extent, stride, pad, dilation in zip(
                shape[2:], kernel, strides, pad_pairs(pads), dilations, strict=True
            )
        ]
        return (*shape[:2], *spatial)

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type(tensor_of(self.input).element_type, self.pooled_shape()),)

    def flops(self) -> int:
        return prod(self.kernel.get_values()) * (num_elements(self.result.type) or 0)


@irdl_op_definition
class MaxPoolOp(PoolOp):
    """The greatest element of each window; padding never wins, NaN does."""

    name = "ge.max_pool"
    GE_TYPE: ClassVar = "MaxPoolV3"


@irdl_op_definition
class MaxPoolWithIndicesOp(PoolOp):
    """`ge.max_pool`, and where each element was: its number among all elements of `input`, row by
    row; of equal elements the first.

    Constraints as of `ge.max_pool`.

    Example:
    ```mlir
    %y, %i = ge.max_pool_with_indices %x kernel [2] strides [2] pads [0, 0] dilations [1]
      : (tensor<1x3x8xf32>) -> (tensor<1x3x4xf32>, tensor<1x3x4xi64>)
    ```
    """

    name = "ge.max_pool_with_indices"
    GE_TYPE: ClassVar = "MaxPoolWithArgmaxV2"
    GE_OUTPUTS: ClassVar = ("y", "argmax")

    # All results again, since xDSL orders those of a base class last.
    result = result_def(RankedTensor)
    indices = result_def(RankedTensor)

    def __init__(
        self,
        input: SSAValue | Operation,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
    ):
        properties = _properties(kernel, strides, pads, dilations, ceil_mode)
        GEOp.__init__(self, [input], properties, num_results=2)

    def infer_types(self) -> Sequence[Attribute]:
        return (*super().infer_types(), tensor_type(i64, self.pooled_shape()))


@irdl_op_definition
class AveragePoolOp(PoolOp):
    """The mean of each window; padding counts only with `count_include_pad`, as zeros.

    Constraints as of `ge.max_pool`, and:
    - (C4) `input` holds floats.

    Example:
    ```mlir
    %y = ge.average_pool %x kernel [2] strides [2] pads [0, 0] dilations [1] count_include_pad
      : (tensor<1x3x8xf32>) -> tensor<1x3x4xf32>
    ```
    """

    name = "ge.average_pool"
    GE_TYPE: ClassVar = "AvgPoolV2"

    count_include_pad = opt_prop_def(UnitAttr)

    assembly_format = (
        "$input `kernel` $kernel `strides` $strides `pads` $pads `dilations` $dilations"
        " (`ceil_mode` $ceil_mode^)? (`count_include_pad` $count_include_pad^)? attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
        count_include_pad: bool = False,
    ):
        properties = _properties(kernel, strides, pads, dilations, ceil_mode)
        GEOp.__init__(
            self, [input], properties | {"count_include_pad": flag_attr(count_include_pad)}
        )

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.input, "input")  # (C4)
        return super().infer_types()


@irdl_op_definition
class LpPoolOp(PoolOp):
    """`sum(|x| ** p) ** (1 / p)` of each window; padding is 0.

    Constraints as of `ge.max_pool`, and:
    - (C4) `input` holds floats.
    - (C5) `p` is 1 or more.

    Example:
    ```mlir
    %y = ge.lp_pool %x p 2 kernel [2] strides [2] pads [0, 0] dilations [1]
      : (tensor<1x3x8xf32>) -> tensor<1x3x4xf32>
    ```
    """

    name = "ge.lp_pool"
    GE_TYPE: ClassVar = "LpPool"

    p = prop_def(I64Attr)

    assembly_format = (
        "$input `p` $p `kernel` $kernel `strides` $strides `pads` $pads `dilations` $dilations"
        " (`ceil_mode` $ceil_mode^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        kernel: Sequence[int],
        *,
        p: int = 2,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
    ):
        properties = _properties(kernel, strides, pads, dilations, ceil_mode)
        GEOp.__init__(self, [input], properties | {"p": int_attr(p)})

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.input, "input")  # (C4)
        if (p := self.p.value.data) < 1:  # (C5)
            raise VerifyException(f"expected 'p' of 1 or more, got {p}")
        return super().infer_types()

    def flops(self) -> int:
        return 2 * super().flops()
