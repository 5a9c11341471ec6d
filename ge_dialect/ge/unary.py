"""Unary arithmetic and tests, an op an element function."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from ge_dialect.ge.elementwise import FloatUnaryOp, TestUnaryOp, UnaryOp


@irdl_op_definition
class AbsOp(UnaryOp):
    """`|x|`."""

    name = "ge.abs"
    GE_TYPE: ClassVar = "Abs"


@irdl_op_definition
class CeilOp(FloatUnaryOp):
    """The least whole number not below `x`."""

    name = "ge.ceil"
    GE_TYPE: ClassVar = "Ceil"


@irdl_op_definition
class FloorOp(FloatUnaryOp):
    """The greatest whole number not above `x`."""

    name = "ge.floor"
    GE_TYPE: ClassVar = "Floor"


@irdl_op_definition
class RoundOp(FloatUnaryOp):
    """The nearest whole number, halves to even."""

    name = "ge.round"
    GE_TYPE: ClassVar = "Round"


@irdl_op_definition
class SignOp(UnaryOp):
    """-1, 0 or 1, by the sign of `x`; NaN stays NaN."""

    name = "ge.sign"
    GE_TYPE: ClassVar = "Sign"


@irdl_op_definition
class NegOp(UnaryOp):
    """`-x`."""

    name = "ge.neg"
    GE_TYPE: ClassVar = "Neg"


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """Every bit of an integer inverted."""

    name = "ge.bitwise_not"
    GE_TYPE: ClassVar = "Invert"


@irdl_op_definition
class ReciprocalOp(FloatUnaryOp):
    """`1 / x`."""

    name = "ge.reciprocal"
    GE_TYPE: ClassVar = "Reciprocal"


@irdl_op_definition
class SqrtOp(FloatUnaryOp):
    """The square root; NaN below zero."""

    name = "ge.sqrt"
    GE_TYPE: ClassVar = "Sqrt"


@irdl_op_definition
class RsqrtOp(FloatUnaryOp):
    """`1 / sqrt(x)`."""

    name = "ge.rsqrt"
    GE_TYPE: ClassVar = "Rsqrt"


@irdl_op_definition
class ExpOp(FloatUnaryOp):
    """`e ** x`."""

    name = "ge.exp"
    GE_TYPE: ClassVar = "Exp"


@irdl_op_definition
class LogOp(FloatUnaryOp):
    """The natural logarithm; NaN below zero."""

    name = "ge.log"
    GE_TYPE: ClassVar = "Log"


@irdl_op_definition
class ErfOp(FloatUnaryOp):
    """The error function."""

    name = "ge.erf"
    GE_TYPE: ClassVar = "Erf"


@irdl_op_definition
class SinOp(FloatUnaryOp):
    """The sine of radians."""

    name = "ge.sin"
    GE_TYPE: ClassVar = "Sin"


@irdl_op_definition
class CosOp(FloatUnaryOp):
    """The cosine of radians."""

    name = "ge.cos"
    GE_TYPE: ClassVar = "Cos"


@irdl_op_definition
class TanOp(FloatUnaryOp):
    """The tangent of radians."""

    name = "ge.tan"
    GE_TYPE: ClassVar = "Tan"


@irdl_op_definition
class AtanOp(FloatUnaryOp):
    """The arc tangent, in radians."""

    name = "ge.atan"
    GE_TYPE: ClassVar = "Atan"


@irdl_op_definition
class AsinOp(FloatUnaryOp):
    """The arc sine, in radians; NaN beyond -1 and 1."""

    name = "ge.asin"
    GE_TYPE: ClassVar = "Asin"


@irdl_op_definition
class AcosOp(FloatUnaryOp):
    """The arc cosine, in radians; NaN beyond -1 and 1."""

    name = "ge.acos"
    GE_TYPE: ClassVar = "Acos"


@irdl_op_definition
class SinhOp(FloatUnaryOp):
    """The hyperbolic sine."""

    name = "ge.sinh"
    GE_TYPE: ClassVar = "Sinh"


@irdl_op_definition
class CoshOp(FloatUnaryOp):
    """The hyperbolic cosine."""

    name = "ge.cosh"
    GE_TYPE: ClassVar = "Cosh"


@irdl_op_definition
class AsinhOp(FloatUnaryOp):
    """The inverse of the hyperbolic sine."""

    name = "ge.asinh"
    GE_TYPE: ClassVar = "Asinh"


@irdl_op_definition
class AcoshOp(FloatUnaryOp):
    """The inverse of the hyperbolic cosine; NaN below 1."""

    name = "ge.acosh"
    GE_TYPE: ClassVar = "Acosh"


@irdl_op_definition
class AtanhOp(FloatUnaryOp):
    """The inverse of the hyperbolic tangent; NaN beyond -1 and 1."""

    name = "ge.atanh"
    GE_TYPE: ClassVar = "Atanh"


@irdl_op_definition
class LogicalNotOp(TestUnaryOp):
    """`not x` of a truth value."""

    name = "ge.logical_not"
    GE_TYPE: ClassVar = "LogicalNot"


@irdl_op_definition
class IsNanOp(TestUnaryOp):
    """Whether `x` is not a number."""

    name = "ge.is_nan"
    GE_TYPE: ClassVar = "IsNan"


@irdl_op_definition
class IsInfOp(TestUnaryOp):
    """Whether `x` is an infinity of either sign."""

    name = "ge.is_inf"
    GE_TYPE: ClassVar = "IsInf"
