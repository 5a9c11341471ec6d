"""Exponential linear units, and softplus that does not overflow, as `jax.nn` spells them.

Source of the formulas: the docstrings of `ge_dialect.ge.activations`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.activations import CeluOp, EluOp, ReluOp, SeluOp, SoftplusOp
from ge_dialect.ge.binary import (
    AddOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    SubOp,
)
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.elementwise import BinaryOp, SelectOp
from ge_dialect.ge.unary import AbsOp, ExpOp, LogOp, NegOp
from ge_dialect.passes.algebra.common import uniform
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.match import Found, Raise, near, scaled, with_scalar
from ge_dialect.passes.values import commuted, owner
from ge_dialect.remarks import ReasonClass


@dataclass
class _Unit(Found):
    """An activation; `make` builds its op."""

    make: Callable[[], Operation]

    def build(self) -> list[Operation]:
        return [self.make()]


@dataclass
class _Decay:
    """`alpha * (exp(argument) - 1)`, and the ops that it is made of."""

    argument: SSAValue
    alpha: float
    ops: list[Operation]


def _decay(value: SSAValue) -> _Decay | None:
    """Returns what a value is where it is a scaled exponential less one."""
    alpha, ops = 1.0, list[Operation]()
    if (part := scaled(value)) is not None and owner(value, NegOp) is None:
        alpha, scale = part[1], value.owner
        assert isinstance(scale, Operation)
        ops.append(scale)
        value = part[0]
    less = owner(value, SubOp)
    if less is not None and constant_scalar(less.rhs) == 1:
        exp = owner(less.lhs, ExpOp)
    else:
        less = owner(value, AddOp)
        part = None if less is None else with_scalar(less)
        exp = None if part is None or part[1] != -1 else owner(part[0], ExpOp)
    if less is None or exp is None or less.results[0].type != exp.result.type:
        return None
    return _Decay(exp.input, alpha, [*ops, less, exp])


def _is_positive(test: SSAValue, x: SSAValue) -> Operation | None:
    """Returns the op that says whether `x` is positive, or not negative."""
    op = owner(test, GreaterOp) or owner(test, GreaterEqualOp)
    if op is None or op.lhs is not x or constant_scalar(op.rhs) != 0:
        return None
    return op


def _not_positive(value: SSAValue, x: SSAValue) -> list[Operation] | None:
    """Returns the ops of `min(x, 0)`, or of 0 where `x` is positive; none of `x` itself."""
    if value is x:
        return []
    if (least := owner(value, MinimumOp)) is not None:
        part = with_scalar(least)
        return [least] if part is not None and part[0] is x and part[1] == 0 else None
    choice = owner(value, SelectOp)
    if choice is None or choice.on_false is not x or uniform(choice.on_true) != 0:
        return None
    test = _is_positive(choice.condition, x)
    return None if test is None else [choice, test]


class RaiseElu(Raise):
    """`select(x > 0, x, alpha * (exp(min(x, 0)) - 1))` -> `elu(x)`, with or without the minimum.

    Close to 0 the op is more exact than a difference from 1, and it keeps the sign of 0.
    """

    roots = (SelectOp,)
    reads = (GreaterOp, GreaterEqualOp)
    composite: ClassVar = "elu"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, SelectOp)
        x = op.on_true
        test = _is_positive(op.condition, x)
        if test is None or (decay := _decay(op.on_false)) is None or x.type != op.result.type:
            return None
        if (guard := _not_positive(decay.argument, x)) is None:
            text = "the exponential is of something else than what is selected"
            raise NearMissError(ReasonClass.CONST, text)
        alpha, tests = decay.alpha, [test, *(one for one in guard if one is not test)]
        inside = [one for one in tests if not isinstance(one, GreaterOp | GreaterEqualOp)]
        feeders = [one for one in tests if one not in inside]
        return _Unit(lambda: EluOp(x, alpha), ops=[op, *decay.ops, *inside], feeders=feeders)


class RaiseSelu(Raise):
    """`elu(x) * gamma` -> `selu(x)`."""

    roots = (MulOp,)
    reads = (EluOp,)
    composite: ClassVar = "elu"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, MulOp)
        part = with_scalar(op)
        unit = None if part is None else owner(part[0], EluOp)
        if part is None or unit is None:
            return None
        alpha, gamma = unit.alpha.value.data, part[1]
        return _Unit(lambda: SeluOp(unit.input, alpha, gamma), ops=[op, unit])


class RaiseCelu(Raise):
    """`max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)` -> `celu(x)`.

    Close to 0 the op is more exact than a difference from 1.
    """

    roots = (AddOp,)
    reads = (MaximumOp, ReluOp)
    composite: ClassVar = "elu"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, AddOp)
        for most, other in commuted(op):
            x, decay = _not_negative(most), _decay(other)
            if x is None or decay is None or x.type != op.result.type:
                continue
            argument, divide = decay.argument, list[Operation]()
            if (part := scaled(argument)) is not None:
                assert isinstance(argument.owner, Operation)
                argument, divide = part[0], [argument.owner]
            guard = None if argument is x else _not_positive(argument, x)
            factor = 1.0 if part is None else part[1]
            if not guard or decay.alpha <= 0 or not near(factor, 1 / decay.alpha, x):
                continue
            assert isinstance(most.owner, Operation)
            alpha, ops = decay.alpha, [op, most.owner, *decay.ops, *divide, *guard]
            return _Unit(lambda x=x, alpha=alpha: CeluOp(x, alpha), ops=ops)
        return None


def _not_negative(value: SSAValue) -> SSAValue | None:
    """Returns x where a value is `max(x, 0)`."""
    if (relu := owner(value, ReluOp)) is not None:
        return relu.input
    most = owner(value, MaximumOp)
    part = None if most is None else with_scalar(most)
    return part[0] if part is not None and part[1] == 0 else None


class RaiseStableSoftplus(Raise):
    """`max(x, 0) + log(1 + exp(-|x|))` -> `softplus(x)`."""

    roots = (AddOp,)
    reads = (LogOp,)
    composite: ClassVar = "softplus"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, AddOp)
        for most, other in commuted(op):
            x, log = _not_negative(most), owner(other, LogOp)
            if x is None or log is None or x.type != op.result.type:
                continue
            one = owner(log.input, AddOp)
            part = None if one is None else with_scalar(one)
            if one is None or part is None or part[1] != 1:
                continue
            chain = _chain(part[0], (ExpOp, NegOp, AbsOp))
            if chain is None or chain[-1].operands[0] is not x:
                continue
            assert isinstance(most.owner, Operation)
            ops = [op, most.owner, log, one, *chain]
            return _Unit(lambda x=x: SoftplusOp(x), ops=ops)
        return None


def _chain(value: SSAValue, kinds: Sequence[type[Operation]]) -> list[Operation] | None:
    """Returns the ops of some kinds that a value is made by, one of the other."""
    found: list[Operation] = []
    for kind in kinds:
        if (op := owner(value, kind)) is None:
            return None
        found.append(op)
        value = op.operands[0]
    return found


class AbsorbNanTest(Raise):
    """`select(x == x, softplus(x), x + 0)` -> `softplus(x)`, which is NaN of NaN by itself."""

    roots = (SelectOp,)
    reads = (EqualOp,)
    composite: ClassVar = "softplus"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, SelectOp)
        test, unit = owner(op.condition, EqualOp), owner(op.on_true, SoftplusOp)
        if test is None or unit is None or not test.lhs is test.rhs is unit.input:
            return None
        ops: list[Operation] = [op]
        if op.on_false is not unit.input:
            rest = owner(op.on_false, AddOp)
            part = None if rest is None else _of_scalar(rest)
            if rest is None or part is not unit.input:
                return None
            ops.append(rest)
        if op.result.type != unit.result.type:
            return None
        x = unit.input
        return _Unit(lambda: SoftplusOp(x), ops=[*ops, test], feeders=[unit])


def _of_scalar(op: BinaryOp) -> SSAValue | None:
    part = with_scalar(op)
    return None if part is None else part[0]
