"""Elementwise ops: one result element from the elements of the same place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    FusionKind,
    GEOp,
    expect_float,
    same_element_types,
    same_type_pairs,
)
from ge_dialect.ge.dtypes import is_bool
from ge_dialect.ge.types import (
    RankedTensor,
    broadcast_shapes,
    num_elements,
    tensor_of,
    tensor_type,
    value_shape,
)


class UnaryOp(GEOp):
    """`result[i] = f(input[i])`, of the operand's type."""

    FUSION_KIND: ClassVar = FusionKind.ELEMENTWISE
    FLOPS_PER_ELEMENT: ClassVar[int] = 1

    input = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation):
        super().__init__([input])

    def infer_types(self) -> Sequence[Attribute]:
        return (self.input.type,)

    def flops(self) -> int:
        return self.FLOPS_PER_ELEMENT * (num_elements(self.result.type) or 0)

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        return same_type_pairs(self)


class FloatUnaryOp(UnaryOp):
    """A unary op on floats."""

    FLOPS_PER_ELEMENT: ClassVar = 8
    """Instructions of the vector unit for one element: a polynomial of about eight terms.

    An assumption of the machine model, which ranks plans and does not measure kernels.
    """

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.input, "input")
        return (self.input.type,)


class TestUnaryOp(UnaryOp):
    """`result[i] = test(input[i])`, a truth value."""

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type(i1, value_shape(self.input)),)


class BinaryOp(GEOp):
    """`result[i] = f(lhs[i], rhs[i])` with broadcasting, both operands of one element type."""

    GE_INPUTS: ClassVar = ("x1", "x2")
    FUSION_KIND: ClassVar = FusionKind.ELEMENTWISE

    lhs = operand_def(RankedTensor)
    rhs = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        super().__init__([lhs, rhs])

    def infer_types(self) -> Sequence[Attribute]:
        element_type = same_element_types(self.lhs, self.rhs)
        shape = broadcast_shapes([value_shape(self.lhs), value_shape(self.rhs)])
        return (tensor_type(element_type, shape),)

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        return same_type_pairs(self)


class CompareOp(BinaryOp):
    """`result[i] = lhs[i] <relation> rhs[i]` with broadcasting, a truth value."""

    def infer_types(self) -> Sequence[Attribute]:
        same_element_types(self.lhs, self.rhs)
        shape = broadcast_shapes([value_shape(self.lhs), value_shape(self.rhs)])
        return (tensor_type(i1, shape),)


class LogicalOp(BinaryOp):
    """A truth function of two truth values, with broadcasting."""

    def infer_types(self) -> Sequence[Attribute]:
        for name, value in (("lhs", self.lhs), ("rhs", self.rhs)):
            if not is_bool(tensor_of(value).element_type):
                raise VerifyException(
                    f"expected '{name}' of i1, got {tensor_of(value).element_type}"
                )
        return super().infer_types()


@irdl_op_definition
class SelectOp(GEOp):
    """Takes `on_true` where `condition` holds, else `on_false`; all three broadcast.

    Example:
    ```mlir
    %y = ge.select %c, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    """

    name = "ge.select"
    GE_TYPE: ClassVar = "SelectV2"
    GE_INPUTS: ClassVar = ("condition", "then", "else")
    GE_OUTPUTS: ClassVar = ("result",)
    FUSION_KIND: ClassVar = FusionKind.ELEMENTWISE

    condition = operand_def(RankedTensor)
    on_true = operand_def(RankedTensor)
    on_false = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$condition `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        condition: SSAValue | Operation,
        on_true: SSAValue | Operation,
        on_false: SSAValue | Operation,
    ):
        super().__init__([condition, on_true, on_false])

    def infer_types(self) -> Sequence[Attribute]:
        if not is_bool(found := tensor_of(self.condition).element_type):
            raise VerifyException(f"expected 'condition' of i1, got {found}")
        element_type = same_element_types(self.on_true, self.on_false)
        shape = broadcast_shapes([value_shape(operand) for operand in self.operands])
        return (tensor_type(element_type, shape),)

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        # Never the condition: its element is read again for every choice.
        return tuple(pair for pair in same_type_pairs(self) if pair[0] > 0)


@irdl_op_definition
class ClipOp(GEOp):
    """Limits `input` to `[min, max]`, each a scalar tensor and each optional.

    Example:
    ```mlir
    %y = ge.clip %x min %lo : tensor<f32> max %hi : tensor<f32> : tensor<4xf32> -> tensor<4xf32>
    ```
    """

    name = "ge.clip"
    GE_TYPE: ClassVar = "ClipByValueV2"
    GE_INPUTS: ClassVar = ("x", "clip_value_min", "clip_value_max")
    FUSION_KIND: ClassVar = FusionKind.ELEMENTWISE

    input = operand_def(RankedTensor)
    min = opt_operand_def(RankedTensor)
    max = opt_operand_def(RankedTensor)
    result = result_def(RankedTensor)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    assembly_format = (
        "$input (`min` $min^ `:` type($min))? (`max` $max^ `:` type($max))? attr-dict"
        " `:` type($input) `->` type($result)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        min: SSAValue | Operation | None = None,
        max: SSAValue | Operation | None = None,
    ):
        super().__init__([input, min, max])

    def infer_types(self) -> Sequence[Attribute]:
        same_element_types(*self.operands)
        for name, limit in (("min", self.min), ("max", self.max)):
            if limit is not None and value_shape(limit) not in ((), (1,)):
                raise VerifyException(f"expected '{name}' to be a scalar, got {limit.type}")
        return (self.input.type,)

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        return ((0, 0),)


@irdl_op_definition
class CastOp(GEOp):
    """Converts every element to another element type, as ONNX `Cast`.

    float -> integer truncates toward zero; anything -> `i1` is `x != 0`.

    Example:
    ```mlir
    %y = ge.cast %x : (tensor<4xf32>) -> tensor<4xf16>
    ```
    """

    name = "ge.cast"
    GE_TYPE: ClassVar = "Cast"
    FUSION_KIND: ClassVar = FusionKind.ELEMENTWISE

    input = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation, element_type: Attribute):
        value = SSAValue.get(input)
        super().__init__([value], result_types=[tensor_type(element_type, value_shape(value))])

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type(tensor_of(self.result).element_type, value_shape(self.input)),)
