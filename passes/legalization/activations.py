"""`ge-legalize-activation`: gated and piecewise activations by their formulas.

Each formula is computed in the order of the reference semantics, so that all but `gelu` by the
error function agree to the bit; that one takes `1 + erf(x)`, since there is no op for `erfc(-x)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.ge.activations import (
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    MishOp,
    QuickGeluOp,
    SigmoidOp,
    SiluOp,
    SoftplusOp,
    SoftsignOp,
    TanhOp,
)
from ge_dialect.ge.binary import AddOp, DivOp, LessOp, MulOp, PreluOp
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.elementwise import ClipOp, SelectOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.ge.unary import AbsOp, ErfOp
from ge_dialect.passes.driver import Driver
from ge_dialect.passes.legalization.common import (
    Formula,
    LegalizeByFormula,
    Steps,
    chosen,
)
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.remarks import ReasonClass

NAME = "ge-legalize-activation"

_CUBIC = 0.044715


def _gelu(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, GeluOp)
    half = steps.add(MulOp(x, steps.number(0.5, x)))
    if op.approximate.data == "none":
        bent = steps.add(ErfOp(steps.add(MulOp(x, steps.number(math.sqrt(0.5), x)))))
    else:
        cubic = steps.add(MulOp(x, steps.number(_CUBIC, x)))
        cubic = steps.add(MulOp(steps.add(MulOp(cubic, x)), x))
        inner = steps.add(AddOp(x, cubic))
        bent = steps.add(TanhOp(steps.add(MulOp(inner, steps.number(math.sqrt(2 / math.pi), x)))))
    return steps.add(MulOp(half, steps.add(AddOp(bent, steps.number(1.0, x)))))


def _silu(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    return steps.add(MulOp(x, steps.add(SigmoidOp(x))))


def _quick_gelu(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, QuickGeluOp)
    scaled = steps.add(MulOp(x, steps.number(op.alpha.value.data, x)))
    return steps.add(MulOp(x, steps.add(SigmoidOp(scaled))))


def _mish(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    return steps.add(MulOp(x, steps.add(TanhOp(steps.add(SoftplusOp(x))))))


def _unit_clip(value: SSAValue, steps: Steps) -> SSAValue:
    return steps.add(ClipOp(value, steps.number(0.0, value), steps.number(1.0, value)))


def _hard_swish(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    sixth = steps.add(DivOp(x, steps.number(6.0, x)))
    gate = _unit_clip(steps.add(AddOp(sixth, steps.number(0.5, x))), steps)
    return steps.add(MulOp(x, gate))


def _hard_sigmoid(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, HardSigmoidOp)
    scaled = steps.add(MulOp(x, steps.number(op.alpha.value.data, x)))
    return _unit_clip(steps.add(AddOp(scaled, steps.number(op.beta.value.data, x))), steps)


def _slope(x: SSAValue, slope: SSAValue, steps: Steps) -> SSAValue:
    below = steps.add(LessOp(x, steps.number(0.0, x)))
    return steps.add(SelectOp(below, steps.add(MulOp(x, slope)), x))


def _leaky_relu(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, LeakyReluOp)
    return _slope(x, steps.number(op.alpha.value.data, x), steps)


def _prelu(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    assert isinstance(op, PreluOp)
    return _slope(x, steps.cast(op.rhs, element_type_of(x)), steps)


def _softsign(op: Operation, x: SSAValue, steps: Steps) -> SSAValue:
    below = steps.add(AddOp(steps.add(AbsOp(x)), steps.number(1.0, x)))
    return steps.add(DivOp(x, below))


_FORMULAS: dict[type[Operation], Formula] = {
    GeluOp: _gelu,
    SiluOp: _silu,
    QuickGeluOp: _quick_gelu,
    MishOp: _mish,
    HardSwishOp: _hard_swish,
    HardSigmoidOp: _hard_sigmoid,
    LeakyReluOp: _leaky_relu,
    PreluOp: _prelu,
    SoftsignOp: _softsign,
}
ACTIVATIONS = tuple(op_class.name.removeprefix("ge.") for op_class in _FORMULAS)
"""What the option of the pass may name."""


@dataclass
class LegalizeActivation(LegalizeByFormula):
    """`silu(x)` -> `x * sigmoid(x)`, and the like."""

    names: tuple[str, ...] = ACTIVATIONS

    roots = tuple(_FORMULAS)
    formulas = _FORMULAS
    pass_name = NAME

    def expand(self, op: Operation, steps: Steps) -> SSAValue:
        element_type = element_type_of(op.operands[0])
        if not is_float(element_type):
            found = str(element_type)
            raise NearMissError(ReasonClass.DTYPE, "the input is not of floats", found, "floats")
        return super().expand(op, steps)


@dataclass(frozen=True)
class LegalizeActivationPass(ModulePass):
    """Spells activations out in arithmetic, sigmoid, tanh and error function.

    Options:
    - `ops`: which to expand, by name. Default all that are known.
    """

    name = NAME

    ops: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = tuple(chosen(NAME, self.ops, ACTIVATIONS))
        Driver(NAME, [LegalizeActivation(names)]).run(op)
