"""From the sums of an integer contraction to quantised numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, Signedness, UnitAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import FusionKind, GEOp, expect_float, flag_attr
from ge_dialect.ge.dims import expect_broadcasts_to
from ge_dialect.ge.dtypes import is_integer
from ge_dialect.ge.types import RankedTensor, num_elements, tensor_of, tensor_type, value_shape

_UI8 = IntegerType(8, Signedness.UNSIGNED)


@irdl_op_definition
class RequantizeOp(GEOp):
    """`saturate(round(input * multiplier + zero_point))`, in f64 and rounded once, halves to even.

    The tail of a quantised convolution or matrix product: `multiplier` is the product of the
    scales of its operands over the scale of its result. The zero point is added before the
    rounding, so that a half goes to the even level; with `zero_point_last` after it, as
    `ge.quantize_linear` does.

    | operand or result | shape                 | type                    |
    | ----------------- | --------------------- | ----------------------- |
    | `input`           | any                   | i32                     |
    | `multiplier`      | broadcasts to `input` | floats                  |
    | `zero_point`      | broadcasts to `input` | `Q`, 0 where absent     |
    | `result`          | of `input`            | `Q`: integers           |

    Constraints:
    - (C1) `input` holds i32, `multiplier` floats, the result integers.
    - (C2) `zero_point` has the element type of the result.
    - (C3) `multiplier` and `zero_point` broadcast to `input` without making it larger.

    Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient
    Integer-Arithmetic-Only Inference" (2017), equation 4.

    Example:
    ```mlir
    %y = ge.requantize %x, %m zero_point %z
      : (tensor<2x3xi32>, tensor<3xf32>, tensor<ui8>) -> tensor<2x3xui8>
    ```
    """

    name = "ge.requantize"
    GE_TYPE: ClassVar = "AscendRequant"
    GE_INPUTS: ClassVar = ("x0", "req_scale", "offset")
    FUSION_KIND: ClassVar = FusionKind.ELEMENTWISE

    input = operand_def(RankedTensor)
    multiplier = operand_def(RankedTensor)
    zero_point = opt_operand_def(RankedTensor)
    zero_point_last = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $multiplier (`zero_point` $zero_point^)?"
        " (`zero_point_last` $zero_point_last^)? attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        multiplier: SSAValue | Operation,
        zero_point: SSAValue | Operation | None = None,
        *,
        element_type: Attribute | None = None,
        zero_point_last: bool = False,
    ):
        """Builds the op; the result has the type of `zero_point`, else `element_type`, else ui8."""
        if zero_point is not None:
            element_type = tensor_of(SSAValue.get(zero_point)).element_type
        type_ = tensor_type(element_type or _UI8, value_shape(SSAValue.get(input)))
        last = {"zero_point_last": flag_attr(zero_point_last)}
        super().__init__([input, multiplier, zero_point], last, result_types=[type_])
        self.refine_types()  # it was given its type, and has checked nothing yet

    def infer_types(self) -> Sequence[Attribute]:
        if (found := tensor_of(self.input).element_type) != i32:  # (C1)
            raise VerifyException(f"expected 'input' of i32, got {found}")
        expect_float(self.multiplier, "multiplier")
        element_type = tensor_of(self.result).element_type
        if self.zero_point is not None:
            element_type = tensor_of(self.zero_point).element_type  # (C2)
        if not is_integer(element_type):
            raise VerifyException(f"expected 'result' of integers, got {element_type}")
        shape = value_shape(self.input)
        expect_broadcasts_to(self.multiplier, shape, "multiplier")  # (C3)
        expect_broadcasts_to(self.zero_point, shape, "zero_point")
        return (tensor_type(element_type, shape),)

    def flops(self) -> int:
        # Product, sum, rounding, and the two limits.
        return 5 * (num_elements(self.result.type) or 0)
