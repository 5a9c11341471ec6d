"""Convolutions over any number of spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    GEOp,
    I64ArrayAttr,
    I64Attr,
    expect_min_rank,
    expect_rank,
    int_attr,
    ints_attr,
    same_element_types,
)
from ge_dialect.ge.contractions import ContractionOp
from ge_dialect.ge.dims import expect_dim, map_dim, transposed_size, window_size
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    Shape,
    num_elements,
    static_shape,
    tensor_type,
    value_shape,
)


def pad_pairs(pads: Sequence[int]) -> list[tuple[int, int]]:
    """Returns ONNX's padding, all begins and then all ends, as one pair a dimension."""
    half = len(pads) // 2
    return list(zip(pads[:half], pads[half:], strict=True))


def check_window_properties(
    rank: int, strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int]
) -> None:
    """Checks the properties that all windows over `rank` spatial dimensions have.

    Raises:
        VerifyException: One has not a number for each dimension, or a number out of range.
    """
    for name, values, count, least in (
        ("strides", strides, rank, 1),
        ("pads", pads, 2 * rank, 0),
        ("dilations", dilations, rank, 1),
    ):
        if len(values) != count or any(value < least for value in values):
            raise VerifyException(
                f"expected '{name}' of {count} numbers of {least} or more, got {list(values)}"
            )


def spatial_defaults(
    rank: int,
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    dilations: Sequence[int] | None,
) -> dict[str, Attribute]:
    """Returns the properties of a window over `rank` dimensions, ONNX's defaults filled in."""
    return {
        "strides": ints_attr((1,) * rank if strides is None else strides),
        "pads": ints_attr((0,) * (2 * rank) if pads is None else pads),
        "dilations": ints_attr((1,) * rank if dilations is None else dilations),
    }


class WindowContractionOp(ContractionOp):
    """A convolution of `input` with `filter`: their shapes and the four properties.

    Ops with more operands define all of them again, since xDSL orders those of a base class last.
    """

    GE_INPUTS: ClassVar = ("x", "filter", "bias")

    input = operand_def(RankedTensor)
    filter = operand_def(RankedTensor)
    strides = prop_def(I64ArrayAttr)
    pads = prop_def(I64ArrayAttr)
    dilations = prop_def(I64ArrayAttr)
    group = prop_def(I64Attr)
    result = result_def(RankedTensor)

    def _channels(self) -> tuple[Shape, Shape, int]:
        """Returns the shapes of input and filter and the number of groups, checked."""
        shape = expect_min_rank(self.input, 3, "input")
        weights = expect_rank(self.filter, len(shape), "filter")
        check_window_properties(
            len(shape) - 2,
            self.strides.get_values(),
            self.pads.get_values(),
            self.dilations.get_values(),
        )
        if (group := self.group.value.data) < 1:
            raise VerifyException(f"expected 'group' of 1 or more, got {group}")
        return shape, weights, group

    def convolved_shape(self) -> Shape:
        """Returns the shape of the result of a convolution.

        Raises:
            VerifyException: Shapes and properties do not fit.
        """
        shape, weights, group = self._channels()
        inner = map_dim(weights[1], lambda dim: dim * group)
        expect_dim(shape[1], inner, "channels of 'input'")
        if isinstance(weights[0], int) and weights[0] % group:
            raise VerifyException(
                f"expected channels of the result in {group} groups, got {weights[0]}"
            )
        return (shape[0], weights[0], *self._spatial(shape[2:]))

    def _spatial(self, sizes: Shape) -> list[MaybeDim]:
        pairs = pad_pairs(self.pads.get_values())
        return [
            window_size(size, kernel, stride=stride, pad=pad, dilation=dilation)
            for size, kernel, stride, pad, dilation in zip(
                sizes,
                value_shape(self.filter)[2:],
                self.strides.get_values(),
                pairs,
                self.dilations.get_values(),
                strict=True,
            )
        ]

    def flops(self) -> int:
        weights, elements = static_shape(self.filter.type), num_elements(self.result.type)
        return 2 * prod(weights[1:]) * elements if weights and elements is not None else 0


def _check_bias(bias: SSAValue | None, channels: MaybeDim) -> None:
    if bias is not None:
        expect_dim(expect_rank(bias, 1, "bias")[0], channels, "'bias'")


def conv_ge_type(input: SSAValue, filter: SSAValue, group: int) -> str:
    """Returns GE's name of a convolution, by its spatial dimensions and groups."""
    weights = value_shape(filter)
    if len(weights) == 5:
        return "Conv3D"
    depthwise = group > 1 and weights[1] == 1 and value_shape(input)[1] == group
    return "DepthwiseConv2D" if depthwise else "Conv2D"


@irdl_op_definition
class ConvOp(WindowContractionOp):
    """A convolution (a cross-correlation, as everywhere in machine learning).

    | operand or result | shape                        | type        |
    | ----------------- | ---------------------------- | ----------- |
    | `input`           | `[N, C, D1, ..., Dn]`        | numbers `T` |
    | `filter`          | `[M, C / group, k1, ..., kn]` | `T`        |
    | `bias`            | `[M]`                        | `T`         |
    | `result`          | `[N, M, O1, ..., On]`        | `T`         |

    `Oi = (Di + pad_begin + pad_end - (ki - 1) * dilation - 1) / stride + 1`, rounded down. `pads`
    has all begins and then all ends.

    Constraints:
    - (C1) The element types are one.
    - (C2) `input` has rank 3 or more, `filter` the same rank.
    - (C3) `strides`, `dilations` and `pads` have a number of 1 or more (pads: 0) for each spatial
      dimension (pads: two).
    - (C4) The channels of `input` are `group` times those of `filter`, and M is a multiple of
      `group`.
    - (C5) `bias` has M elements.
    - (C6) The filter is not larger than the padded input.

    Source: Dumoulin, Visin, "A guide to convolution arithmetic for deep learning" (2016),
    relationship 15.

    Example:
    ```mlir
    %y = ge.conv %x, %w bias %b strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] group 1
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
    ```
    """

    name = "ge.conv"
    GE_TYPE: ClassVar = "Conv2D"

    input = operand_def(RankedTensor)
    filter = operand_def(RankedTensor)
    bias = opt_operand_def(RankedTensor)

    assembly_format = (
        "$input `,` $filter (`bias` $bias^)? `strides` $strides `pads` $pads"
        " `dilations` $dilations `group` $group attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        filter: SSAValue | Operation,
        bias: SSAValue | Operation | None = None,
        *,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        group: int = 1,
    ):
        rank = len(value_shape(SSAValue.get(input))) - 2
        GEOp.__init__(
            self,
            [input, filter, bias],
            {**spatial_defaults(rank, strides, pads, dilations), "group": int_attr(group)},
        )

    def ge_op_type(self) -> str:
        return conv_ge_type(self.input, self.filter, self.group.value.data)

    def infer_types(self) -> Sequence[Attribute]:
        element_type = same_element_types(*self.operands)  # (C1)
        shape = self.convolved_shape()  # (C2), (C3), (C4), (C6)
        _check_bias(self.bias, shape[1])  # (C5)
        return (tensor_type(element_type, shape),)


@irdl_op_definition
class ConvTransposeOp(WindowContractionOp):
    """The transpose of a convolution as a linear map: every input element adds a scaled filter.

    | operand or result | shape                         | type        |
    | ----------------- | ----------------------------- | ----------- |
    | `input`           | `[N, C, D1, ..., Dn]`         | numbers `T` |
    | `filter`          | `[C, M / group, k1, ..., kn]` | `T`         |
    | `bias`            | `[M]`                         | `T`         |
    | `result`          | `[N, M, O1, ..., On]`         | `T`         |

    `Oi = stride * (Di - 1) + output_padding + (ki - 1) * dilation + 1 - pad_begin - pad_end`.

    Constraints:
    - (C1) The element types are one.
    - (C2) `input` has rank 3 or more, `filter` the same rank.
    - (C3) `strides`, `dilations`, `pads` as of `ge.conv`; `output_padding` a number of 0 or more
      for each spatial dimension.
    - (C4) `filter` has as many input channels as `input`, a multiple of `group`.
    - (C5) `bias` has M elements.

    Source: Dumoulin, Visin, "A guide to convolution arithmetic for deep learning" (2016),
    relationship 14.

    Example:
    ```mlir
    %y = ge.conv_transpose %x, %w strides [2, 2] pads [0, 0, 0, 0]
      dilations [1, 1] output_padding [0, 0] group 1
      : (tensor<1x3x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x2x8x8xf32>
    ```
    """

    name = "ge.conv_transpose"
    GE_TYPE: ClassVar = "Conv2DTransposeD"

    input = operand_def(RankedTensor)
    filter = operand_def(RankedTensor)
    bias = opt_operand_def(RankedTensor)
    output_padding = prop_def(I64ArrayAttr)

    assembly_format = (
        "$input `,` $filter (`bias` $bias^)? `strides` $strides `pads` $pads"
        " `dilations` $dilations `output_padding` $output_padding `group` $group attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        filter: SSAValue | Operation,
        bias: SSAValue | Operation | None = None,
        *,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        output_padding: Sequence[int] | None = None,
        group: int = 1,
    ):
        rank = len(value_shape(SSAValue.get(input))) - 2
        GEOp.__init__(
            self,
            [input, filter, bias],
            {
                **spatial_defaults(rank, strides, pads, dilations),
                "output_padding": ints_attr(output_padding or (0,) * rank),
                "group": int_attr(group),
            },
        )

    def ge_op_type(self) -> str:
        return "Conv3DTransposeD" if len(value_shape(self.filter)) == 5 else self.GE_TYPE

    def infer_types(self) -> Sequence[Attribute]:
        element_type = same_element_types(*self.operands)  # (C1)
        shape, weights, group = self._channels()  # (C2), (C3)
        expect_dim(weights[0], shape[1], "input channels of 'filter'")  # (C4)
        if isinstance(shape[1], int) and shape[1] % group:
            raise VerifyException(f"expected channels in {group} groups, got {shape[1]}")
        extra = self.output_padding.get_values()
        if len(extra) != len(shape) - 2 or any(value < 0 for value in extra):  # (C3)
            raise VerifyException(
                f"expected 'output_padding' of {len(shape) - 2} numbers of 0 or more,"
                f" got {list(extra)}"
            )
        channels = map_dim(weights[1], lambda dim: dim * group)
        _check_bias(self.bias, channels)  # (C5)
        spatial = self._grown(shape[2:])
        return (tensor_type(element_type, (shape[0], channels, *spatial)),)

    def _grown(self, sizes: Shape) -> list[MaybeDim]:
        return [
            transposed_size(
                size, kernel, stride=stride, pad=pad, dilation=dilation, output_padding=extra
            )
            for size, kernel, stride, pad, dilation, extra in zip(
                sizes,
                value_shape(self.filter)[2:],
                self.strides.get_values(),
                pad_pairs(self.pads.get_values()),
                self.dilations.get_values(),
                self.output_padding.get_values(),
                strict=True,
            )
        ]

    def flops(self) -> int:
        weights, elements = static_shape(self.filter.type), num_elements(self.input.type)
        return 2 * prod(weights[1:]) * elements if weights and elements is not None else 0
