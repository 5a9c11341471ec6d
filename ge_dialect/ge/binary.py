"""Binary arithmetic, comparison and logic, with broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition

from ge_dialect.ge.base import same_element_types
from ge_dialect.ge.dims import expect_broadcasts_to
from ge_dialect.ge.elementwise import BinaryOp, CompareOp, LogicalOp
from ge_dialect.ge.types import broadcast_shapes, tensor_of, tensor_type, value_shape


@irdl_op_definition
class AddOp(BinaryOp):
    """`lhs + rhs`; integers wrap."""

    name = "ge.add"
    GE_TYPE: ClassVar = "Add"


@irdl_op_definition
class SubOp(BinaryOp):
    """`lhs - rhs`; integers wrap."""

    name = "ge.sub"
    GE_TYPE: ClassVar = "Sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """`lhs * rhs`; integers wrap."""

    name = "ge.mul"
    GE_TYPE: ClassVar = "Mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """`lhs / rhs`; integers truncate toward zero."""

    name = "ge.div"
    GE_TYPE: ClassVar = "RealDiv"


@irdl_op_definition
class ModOp(BinaryOp):
    """The remainder with the sign of `rhs`, as ONNX `Mod` with `fmod = 0`."""

    name = "ge.mod"
    GE_TYPE: ClassVar = "FloorMod"


@irdl_op_definition
class FmodOp(BinaryOp):
    """The remainder with the sign of `lhs`, as C's `fmod`."""

    name = "ge.fmod"
    GE_TYPE: ClassVar = "Mod"


@irdl_op_definition
class MaximumOp(BinaryOp):
    """The greater; NaN where one is NaN."""

    name = "ge.maximum"
    GE_TYPE: ClassVar = "Maximum"


@irdl_op_definition
class MinimumOp(BinaryOp):
    """The lesser; NaN where one is NaN."""

    name = "ge.minimum"
    GE_TYPE: ClassVar = "Minimum"


@irdl_op_definition
class PreluOp(BinaryOp):
    """`lhs` where it is not negative, else `lhs * rhs`.

    Constraints:
    - (C1) Element types are equal.
    - (C2) `rhs` broadcasts to `lhs`, which it does not make larger.

    Example:
    ```mlir
    %y = ge.prelu %x, %slope : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```

    Source: He et al., "Delving Deep into Rectifiers" (2015), equation 1.
    """

    name = "ge.prelu"
    GE_TYPE: ClassVar = "PRelu"

    def infer_types(self) -> Sequence[Attribute]:
        element_type = same_element_types(self.lhs, self.rhs)  # (C1)
        shape = value_shape(self.lhs)
        expect_broadcasts_to(self.rhs, shape, "rhs")  # (C2)
        slope = (1,) * (len(shape) - len(value_shape(self.rhs))) + value_shape(self.rhs)
        known = tuple(
            # A slope of one number a place says how many places there are.
            size if isinstance(size, int) and size > 1 else dim
            for dim, size in zip(shape, slope, strict=True)
        )
        return (tensor_type(element_type, known),)


@irdl_op_definition
class BitwiseAndOp(BinaryOp):
    """Both bits, of integers."""

    name = "ge.bitwise_and"
    GE_TYPE: ClassVar = "BitwiseAnd"


@irdl_op_definition
class BitwiseOrOp(BinaryOp):
    """Either bit, of integers."""

    name = "ge.bitwise_or"
    GE_TYPE: ClassVar = "BitwiseOr"


@irdl_op_definition
class BitwiseXorOp(BinaryOp):
    """One bit but not both, of integers."""

    name = "ge.bitwise_xor"
    GE_TYPE: ClassVar = "BitwiseXor"


@irdl_op_definition
class EqualOp(CompareOp):
    """`lhs = rhs`; NaN equals nothing."""

    name = "ge.equal"
    GE_TYPE: ClassVar = "Equal"


@irdl_op_definition
class LessOp(CompareOp):
    """`lhs < rhs`."""

    name = "ge.less"
    GE_TYPE: ClassVar = "Less"


@irdl_op_definition
class LessEqualOp(CompareOp):
    """`lhs <= rhs`."""

    name = "ge.less_equal"
    GE_TYPE: ClassVar = "LessEqual"


@irdl_op_definition
class GreaterOp(CompareOp):
    """`lhs > rhs`."""

    name = "ge.greater"
    GE_TYPE: ClassVar = "Greater"


@irdl_op_definition
class GreaterEqualOp(CompareOp):
    """`lhs >= rhs`."""

    name = "ge.greater_equal"
    GE_TYPE: ClassVar = "GreaterEqual"


@irdl_op_definition
class AndOp(LogicalOp):
    """Both hold."""

    name = "ge.and"
    GE_TYPE: ClassVar = "LogicalAnd"


@irdl_op_definition
class OrOp(LogicalOp):
    """One holds or both."""

    name = "ge.or"
    GE_TYPE: ClassVar = "LogicalOr"


@irdl_op_definition
class XorOp(LogicalOp):
    """One holds but not both."""

    name = "ge.xor"
    GE_TYPE: ClassVar = "LogicalXor"


@irdl_op_definition
class PowOp(BinaryOp):
    """`lhs ** rhs`, of the type of `lhs`; `rhs` may have another element type, as in ONNX."""

    name = "ge.pow"
    GE_TYPE: ClassVar = "Pow"

    def infer_types(self) -> Sequence[Attribute]:
        shape = broadcast_shapes([value_shape(self.lhs), value_shape(self.rhs)])
        return (tensor_type(tensor_of(self.lhs).element_type, shape),)

    def flops(self) -> int:
        return 16 * super().flops()
