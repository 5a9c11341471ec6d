"""Contractions of bytes less their zero points, in i32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, Signedness, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import GEOp, expect_min_rank, int_attr
from ge_dialect.ge.contractions import ContractionOp, matmul_flops, matmul_ge_type, matmul_shape
from ge_dialect.ge.convolution import WindowContractionOp, conv_ge_type, spatial_defaults
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    num_elements,
    tensor_of,
    tensor_type,
    value_shape,
)

_BYTES = (IntegerType(8), IntegerType(8, Signedness.UNSIGNED))


def expect_narrow_integers(value: SSAValue, name: str) -> Attribute:
    """Returns the element type of an operand of `i8` or `ui8`.

    Raises:
        VerifyException: It has another.
    """
    element_type = tensor_of(value).element_type
    if element_type not in _BYTES:
        raise VerifyException(f"expected '{name}' of i8 or ui8, got {element_type}")
    return element_type


def check_zero_point(zero_point: SSAValue | None, value: SSAValue, name: str) -> None:
    """Checks that a zero point has the element type of the operand it belongs to.

    Raises:
        VerifyException: It has another.
    """
    if zero_point is None:
        return
    found, expected = tensor_of(zero_point).element_type, tensor_of(value).element_type
    if found != expected:
        raise VerifyException(f"expected '{name}' of {expected}, got {found}")


@irdl_op_definition
class MatmulIntegerOp(ContractionOp):
    """`(lhs - lhs_zero_point) @ (rhs - rhs_zero_point)` of bytes, in i32.

    A zero point is a scalar, or of `lhs` one a row (`[M]` or `[..., M, 1]`), of `rhs` one a column
    (`[N]` or `[..., 1, N]`).

    Constraints:
    - (C1) `lhs` and `rhs` hold i8 or ui8, and each zero point the type of its operand.
    - (C2) Shapes as of `ge.matmul`.
    - (C3) A zero point of rank 1 has 1 element, or one a row, or one a column.

    Example:
    ```mlir
    %y = ge.matmul_integer %a, %b rhs_zero_point %z : tensor<ui8>
      : (tensor<2x3xi8>, tensor<3x4xui8>) -> tensor<2x4xi32>
    ```
    """

    name = "ge.matmul_integer"
    GE_TYPE: ClassVar = "BatchMatMulV2"
    GE_INPUTS: ClassVar = ("x1", "x2", "offset_x1", "offset_x2")

    lhs = operand_def(RankedTensor)
    rhs = operand_def(RankedTensor)
    lhs_zero_point = opt_operand_def(RankedTensor)
    rhs_zero_point = opt_operand_def(RankedTensor)
    result = result_def(RankedTensor)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$lhs `,` $rhs (`lhs_zero_point` $lhs_zero_point^ `:` type($lhs_zero_point))?"
        " (`rhs_zero_point` $rhs_zero_point^ `:` type($rhs_zero_point))? attr-dict"
        " `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)"
    )

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        lhs_zero_point: SSAValue | Operation | None = None,
        rhs_zero_point: SSAValue | Operation | None = None,
    ):
        super().__init__([lhs, rhs, lhs_zero_point, rhs_zero_point])

    def ge_op_type(self) -> str:
        return matmul_ge_type(self.operands)

    def infer_types(self) -> Sequence[Attribute]:
        for name, operand in (("lhs", self.lhs), ("rhs", self.rhs)):
            expect_narrow_integers(operand, name)  # (C1)
            expect_min_rank(operand, 1, name)
        check_zero_point(self.lhs_zero_point, self.lhs, "lhs_zero_point")
        check_zero_point(self.rhs_zero_point, self.rhs, "rhs_zero_point")
        lhs, rhs = value_shape(self.lhs), value_shape(self.rhs)
        _expect_per_line(self.lhs_zero_point, lhs[-2] if len(lhs) > 1 else 1, "lhs_zero_point")
        _expect_per_line(self.rhs_zero_point, rhs[-1] if len(rhs) > 1 else 1, "rhs_zero_point")
        return (tensor_type(i32, matmul_shape(lhs, rhs)),)  # (C2)

    def flops(self) -> int:
        return matmul_flops(self.lhs.type, self.result.type)


def _expect_per_line(zero_point: SSAValue | None, lines: MaybeDim, name: str) -> None:
    shape = value_shape(zero_point) if zero_point is not None else ()
    if len(shape) == 1 and not _may_equal(shape[0], lines):  # (C3)
        raise VerifyException(f"expected '{name}' of 1 or {lines} elements, got {shape[0]}")


def _may_equal(size: MaybeDim, lines: MaybeDim) -> bool:
    return size == 1 or not isinstance(size, int) or not isinstance(lines, int) or size == lines


@irdl_op_definition
class ConvIntegerOp(WindowContractionOp):
    """A convolution of bytes, each less its zero point, in i32. Shapes as of `ge.conv`.

    Padding is the zero point of `input`, so that it counts for nothing.

    Constraints:
    - (C1) `input` and `filter` hold i8 or ui8, and each zero point the type of its operand.
    - (C2) `input_zero_point` is one number, `filter_zero_point` one, or one a result channel.
    - (C3) Shapes and properties as of `ge.conv`.

    Example:
    ```mlir
    %y = ge.conv_integer %x, %w input_zero_point %z : tensor<ui8> strides [1, 1]
      pads [0, 0, 0, 0] dilations [1, 1] group 1
      : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>) -> tensor<1x4x6x6xi32>
    ```
    """

    name = "ge.conv_integer"
    GE_TYPE: ClassVar = "Conv2D"
    GE_INPUTS: ClassVar = ("x", "filter", "offset_x", "offset_w")

    input = operand_def(RankedTensor)
    filter = operand_def(RankedTensor)
    input_zero_point = opt_operand_def(RankedTensor)
    filter_zero_point = opt_operand_def(RankedTensor)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$input `,` $filter (`input_zero_point` $input_zero_point^ `:` type($input_zero_point))?"
        " (`filter_zero_point` $filter_zero_point^ `:` type($filter_zero_point))?"
        " `strides` $strides `pads` $pads `dilations` $dilations `group` $group attr-dict"
        " `:` `(` type($input) `,` type($filter) `)` `->` type($result)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        filter: SSAValue | Operation,
        input_zero_point: SSAValue | Operation | None = None,
        filter_zero_point: SSAValue | Operation | None = None,
        *,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        group: int = 1,
    ):
        rank = len(value_shape(SSAValue.get(input))) - 2
        GEOp.__init__(
            self,
            [input, filter, input_zero_point, filter_zero_point],
            {**spatial_defaults(rank, strides, pads, dilations), "group": int_attr(group)},
        )

    def ge_op_type(self) -> str:
        return conv_ge_type(self.input, self.filter, self.group.value.data)

    def infer_types(self) -> Sequence[Attribute]:
        for name, operand in (("input", self.input), ("filter", self.filter)):
            expect_narrow_integers(operand, name)  # (C1)
        check_zero_point(self.input_zero_point, self.input, "input_zero_point")
        check_zero_point(self.filter_zero_point, self.filter, "filter_zero_point")
        shape = self.convolved_shape()  # (C3)
        self._check_zero_point_sizes(shape[1])  # (C2)
        return (tensor_type(i32, shape),)

    def _check_zero_point_sizes(self, channels: MaybeDim) -> None:
        for name, value, allowed in (
            ("input_zero_point", self.input_zero_point, (1,)),
            ("filter_zero_point", self.filter_zero_point, (1, channels)),
        ):
            size = None if value is None else num_elements(value.type)
            if size is not None and size not in allowed and None not in allowed:
                raise VerifyException(f"expected '{name}' of {allowed[-1]} elements, got {size}")
