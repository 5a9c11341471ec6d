"""Activations: functions of one element, some with parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import F32Attr, GEOp, float_attr
from ge_dialect.ge.elementwise import FloatUnaryOp, UnaryOp


@irdl_op_definition
class TanhOp(FloatUnaryOp):
    """The hyperbolic tangent."""

    name = "ge.tanh"
    GE_TYPE: ClassVar = "Tanh"


@irdl_op_definition
class SigmoidOp(FloatUnaryOp):
    """`1 / (1 + exp(-x))`."""

    name = "ge.sigmoid"
    GE_TYPE: ClassVar = "Sigmoid"


@irdl_op_definition
class ReluOp(UnaryOp):
    """`max(x, 0)`; NaN stays NaN."""

    name = "ge.relu"
    GE_TYPE: ClassVar = "Relu"


@irdl_op_definition
class HardSwishOp(FloatUnaryOp):
    """`x * max(0, min(1, x / 6 + 1 / 2))`."""

    name = "ge.hard_swish"
    GE_TYPE: ClassVar = "HardSwish"


@irdl_op_definition
class SiluOp(FloatUnaryOp):
    """`x * sigmoid(x)`."""

    name = "ge.silu"
    GE_TYPE: ClassVar = "Swish"


@irdl_op_definition
class SoftplusOp(FloatUnaryOp):
    """`log(1 + exp(x))`."""

    name = "ge.softplus"
    GE_TYPE: ClassVar = "Softplus"


@irdl_op_definition
class SoftsignOp(FloatUnaryOp):
    """`x / (1 + |x|)`."""

    name = "ge.softsign"
    GE_TYPE: ClassVar = "Softsign"


@irdl_op_definition
class MishOp(FloatUnaryOp):
    """`x * tanh(softplus(x))`."""

    name = "ge.mish"
    GE_TYPE: ClassVar = "Mish"


class AlphaUnaryOp(FloatUnaryOp):
    """A unary op on floats with one parameter."""

    alpha = prop_def(F32Attr)

    assembly_format = "$input `alpha` $alpha attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation, alpha: float):
        GEOp.__init__(self, [input], {"alpha": float_attr(alpha)})


@irdl_op_definition
class LeakyReluOp(AlphaUnaryOp):
    """`x` where it is not negative, else `alpha * x`."""

    name = "ge.leaky_relu"
    GE_TYPE: ClassVar = "LeakyRelu"


@irdl_op_definition
class EluOp(AlphaUnaryOp):
    """`x` where it is not negative, else `alpha * (exp(x) - 1)`."""

    name = "ge.elu"
    GE_TYPE: ClassVar = "Elu"


@irdl_op_definition
class CeluOp(AlphaUnaryOp):
    """`max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`."""

    name = "ge.celu"
    GE_TYPE: ClassVar = "CeluV2"


@irdl_op_definition
class QuickGeluOp(AlphaUnaryOp):
    """`x * sigmoid(alpha * x)`.

    Source: Hendrycks, Gimpel, "Gaussian Error Linear Units" (2016), with alpha = 1.702.
    """

    name = "ge.quick_gelu"
    GE_TYPE: ClassVar = "FastGelu"


class AlphaBetaUnaryOp(FloatUnaryOp):
    """A unary op on floats with two parameters."""

    alpha = prop_def(F32Attr)
    beta = prop_def(F32Attr)

    assembly_format = (
        "$input `alpha` $alpha `beta` $beta attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, alpha: float, beta: float):
        GEOp.__init__(self, [input], {"alpha": float_attr(alpha), "beta": float_attr(beta)})


@irdl_op_definition
class HardSigmoidOp(AlphaBetaUnaryOp):
    """`max(0, min(1, alpha * x + beta))`."""

    name = "ge.hard_sigmoid"
    GE_TYPE: ClassVar = "HardSigmoid"


@irdl_op_definition
class SeluOp(AlphaBetaUnaryOp):
    """`beta * x` where x is positive, else `beta * alpha * (exp(x) - 1)`; beta is ONNX's gamma."""

    name = "ge.selu"
    GE_TYPE: ClassVar = "Selu"


@irdl_op_definition
class GeluOp(FloatUnaryOp):
    """The Gaussian error linear unit, `x * P(X <= x)` for a standard normal X.

    `approximate`: `none` by the error function, `tanh` by
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`.

    Constraints:
    - (C1) `approximate` is `none` or `tanh`.

    Source: Hendrycks, Gimpel, "Gaussian Error Linear Units" (2016), section 2.

    Example:
    ```mlir
    %y = ge.gelu %x approximate "tanh" : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "ge.gelu"
    GE_TYPE: ClassVar = "Gelu"

    approximate = prop_def(StringAttr)

    assembly_format = (
        "$input `approximate` $approximate attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, approximate: str = "none"):
        GEOp.__init__(self, [input], {"approximate": StringAttr(approximate)})

    def infer_types(self) -> Sequence[Attribute]:
        if (mode := self.approximate.data) not in ("none", "tanh"):  # (C1)
            raise VerifyException(f"expected 'approximate' to be none or tanh, got {mode}")
        return super().infer_types()
