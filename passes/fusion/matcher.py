"""The search for a pattern: every way in which it could fit, the likeliest first, within a budget.

Where nobody asks why, a way is given up at the first thing that does not fit; else it is followed
to its end, so that the best partial match can be told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import constant_attr, constant_scalar
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.locations import location_name
from ge_dialect.passes.fusion.match import Failure, Match, Repair
from ge_dialect.passes.fusion.pattern import (
    Any,
    Const,
    Maybe,
    Node,
    Nothing,
    OneOf,
    Pattern,
    Weight,
    shown,
)
from ge_dialect.passes.fusion.rule import FusionRule, Rule
from ge_dialect.remarks import ReasonClass

MAX_WAYS = 256
"""Ways that one pattern may fit at one op; a pattern of eight commutative ops has as many."""

MAX_CASTS = 4
"""Casts in a row that a tolerant rule looks through."""


_Pair: TypeAlias = tuple[Pattern, SSAValue | None]
"""What an operand has to be, and what it is."""


@dataclass(frozen=True)
class Matcher:
    """Matches the patterns of one rule.

    Attributes:
        rule: Whose patterns they are.
        explain: Whether ways that do not fit are followed and given as well.
    """

    rule: Rule
    explain: bool

    def matches(self, pattern: Node, root: GEOp) -> Iterator[Match]:
        """Yields the ways in which a pattern fits at an op, those that do not fit if asked for."""
        return islice(self._node(pattern, root, Match()), MAX_WAYS)

    def _node(self, pattern: Node, op: GEOp, so_far: Match) -> Iterator[Match]:
        failures = self._attributes(pattern, op)
        ways = self._ways(pattern, op)
        if not self.explain and (failures or not ways):
            return
        if id(pattern) in self.rule.shared_nodes:
            if (known := so_far.shared.get(id(pattern), op)) is not op:
                yield from self._stop(so_far, _two_ops(pattern, op, known))
                return
            so_far = so_far.copy()
            so_far.shared[id(pattern)] = op
        so_far = so_far.copy()
        so_far.ops.append(op)
        if pattern.name:
            so_far.named[pattern.name] = op
        so_far.failures += failures
        for pairs in ways:
            if len(pairs) < len(pattern.operands):
                yield from self._stop(so_far, self._too_few(pattern, op))
            else:
                yield from self._operands(pairs, op, so_far)

    def _ways(self, pattern: Node, op: GEOp) -> list[list[_Pair]]:
        """Returns the orders of operands, each with what it has to be; where nobody asks why, those
        alone that fit as far as one look tells, which are few."""
        operands = operands_of(op)
        orders = [operands]
        if pattern.commutes and len(operands) == 2:
            orders.append(operands[::-1])
        if len(operands) < len(pattern.operands):
            return [[] for _ in orders]
        ways: list[list[_Pair]] = []
        for values in orders:
            pairs: list[_Pair] = list(zip(pattern.operands, values, strict=False))
            pairs += [(inner, getattr(op, port)) for port, inner in pattern.ports.items()]
            if self.explain or self._may_fit(pairs, op):
                ways.append(pairs)
        return ways

    def _may_fit(self, pairs: Sequence[_Pair], reader: GEOp) -> bool:
        """Whether each operand is the result of such an op as it has to be."""
        for pattern, value in pairs:
            if value is None or not isinstance(pattern, Node):
                continue
            if self._producer(value, pattern, reader) is None:
                return False
        return True

    def _operands(self, pairs: Sequence[_Pair], reader: GEOp, so_far: Match) -> Iterator[Match]:
        if not pairs:
            yield so_far
            return
        (pattern, value), *others = pairs
        for found in self._value(pattern, value, reader, so_far):
            yield from self._operands(others, reader, found)

    def _value(
        self, pattern: Pattern, value: SSAValue | None, reader: GEOp, so_far: Match
    ) -> Iterator[Match]:
        if value is None or isinstance(pattern, Nothing):
            yield from self._optional(pattern, value, reader, so_far)
            return
        match pattern:
            case Any():
                yield from self._capture(pattern.name, value, reader, so_far)
            case Weight() | Const():
                yield from self._constant(pattern, value, reader, so_far)
            case OneOf():
                if self.explain and self._none_fits(pattern, value, reader):
                    ops = [one.op for one in pattern.choices if isinstance(one, Node)]
                    yield from self._stop(so_far, self._another_op(ops, 0, value, reader))
                    return
                for choice in pattern.choices:
                    yield from self._value(choice, value, reader, so_far)
            case Maybe():
                if self._producer(value, pattern.node, reader) is not None:
                    yield from self._value(pattern.node, value, reader, so_far)
                yield from self._value(pattern.node.operands[0], value, reader, so_far)
            case Node():
                yield from self._producing(pattern, value, reader, so_far)

    def _producing(
        self, pattern: Node, value: SSAValue, reader: GEOp, so_far: Match
    ) -> Iterator[Match]:
        if (found := self._producer(value, pattern, reader)) is None:
            if self.explain:
                failure = self._another_op([pattern.op], pattern.result, value, reader)
                yield from self._stop(so_far, failure)
            return
        op, casts = found
        if casts and not self._tolerant:
            if not self.explain:
                return
            so_far = so_far.copy()
            so_far.failures.append(_cast_between(casts, op, reader))
        so_far = so_far.copy()
        so_far.ops += casts
        so_far.casts += len(casts)
        yield from self._node(pattern, op, so_far)

    @property
    def _tolerant(self) -> bool:
        return isinstance(self.rule, FusionRule) and self.rule.cast_tolerant

    def _producer(
        self, value: SSAValue, pattern: Node, reader: GEOp
    ) -> tuple[GEOp, list[CastOp]] | None:
        """Returns the op of a node that gives a value, and the casts between, from reader on.

        Only the result that the node names counts: others mean other things. All stand in the
        block of the reader: a kernel in a loop would repeat what is done once outside.
        """
        casts: list[CastOp] = []
        while True:
            owner: Operation | Block = value.owner
            if not isinstance(owner, GEOp) or owner.parent is not reader.parent:
                return None
            index = value.index if isinstance(value, OpResult) else -1
            if isinstance(owner, pattern.op) and index == pattern.result:
                return owner, casts
            looks_on = self._tolerant or self.explain
            if not looks_on or not isinstance(owner, CastOp) or len(casts) == MAX_CASTS:
                return None
            if not is_float(element_type_of(owner.input)) or not is_float(element_type_of(value)):
                return None
            casts.append(owner)
            value = owner.input

    def _attributes(self, pattern: Node, op: GEOp) -> list[Failure]:
        failures: list[Failure] = []
        for name, spec in pattern.attrs.items():
            verdict = spec.test(op.properties.get(name))
            if not verdict.holds:
                fixes = dict(self.rule.fixes) if isinstance(self.rule, FusionRule) else {}
                failures.append(
                    Failure(
                        op,
                        ReasonClass.ATTR,
                        f"attribute '{name}' of '{op.name}' does not match",
                        verdict.found,
                        verdict.wanted,
                        fixes.get(f"{op.name}.{name}", ""),
                        Repair(name, spec),
                    )
                )
        return failures

    def _capture(self, name: str, value: SSAValue, reader: GEOp, so_far: Match) -> Iterator[Match]:
        if not name:
            so_far = so_far.copy()
        elif (known := so_far.captures.get(name, value)) is not value:
            message = f"'{reader.name}' reads another value where the rule wants '{name}' again"
            found = (_producer_name(value), _producer_name(known))
            yield from self._stop(so_far, Failure(reader, ReasonClass.USE, message, *found))
            return
        else:
            so_far = so_far.copy()
            so_far.captures[name] = value
        so_far.inputs.append(value)
        yield so_far

    def _not_constant(
        self, pattern: Weight | Const, value: SSAValue, reader: GEOp, so_far: Match
    ) -> Iterator[Match]:
        if not self.explain:
            return
        name = pattern.name or ("weight" if isinstance(pattern, Weight) else shown(pattern.value))
        message = f"operand '{name}' of '{reader.name}' is no constant"
        failure = Failure(reader, ReasonClass.CONST, message, "a computed value", "a constant")
        so_far = so_far.copy()
        so_far.failures.append(failure)
        yield from self._capture(pattern.name, value, reader, so_far)

    def _constant(
        self, pattern: Weight | Const, value: SSAValue, reader: GEOp, so_far: Match
    ) -> Iterator[Match]:
        if constant_attr(value) is None:
            yield from self._not_constant(pattern, value, reader, so_far)
            return
        if isinstance(pattern, Weight):
            yield from self._capture(pattern.name, value, reader, so_far)
            return
        found = constant_scalar(value)
        wanted = in_type_of(pattern.value, value)
        if found == wanted and found is not None:
            yield from self._capture(pattern.name, value, reader, so_far)
        elif self.explain:
            so_far = so_far.copy()
            message = f"a constant operand of '{reader.name}' has another value"
            what = "several elements" if found is None else shown(found)
            so_far.failures.append(Failure(reader, ReasonClass.CONST, message, what, shown(wanted)))
            yield from self._capture(pattern.name, value, reader, so_far)

    def _optional(
        self, pattern: Pattern, value: SSAValue | None, reader: GEOp, so_far: Match
    ) -> Iterator[Match]:
        """Matches an operand that may not be there."""
        if value is None and isinstance(pattern, Nothing):
            yield so_far
            return
        there = "not there" if value is None else "there"
        message = f"an optional operand of '{reader.name}' is {there}"
        wanted = "there" if value is None else "not there"
        yield from self._stop(so_far, Failure(reader, ReasonClass.SHAPE, message, there, wanted))

    def _stop(self, so_far: Match, failure: Failure) -> Iterator[Match]:
        """Yields the match as one whose structure is not whole."""
        if self.explain:
            so_far = so_far.copy()
            so_far.structural = False
            so_far.failures.append(failure)
            yield so_far

    def _too_few(self, pattern: Node, op: GEOp) -> Failure:
        found, wanted = len(op.operands), len(pattern.operands)
        message = f"'{op.name}' has {found} operands, the rule wants {wanted}"
        return Failure(op, ReasonClass.SHAPE, message, str(found), str(wanted))

    def _none_fits(self, pattern: OneOf, value: SSAValue, reader: GEOp) -> bool:
        """Whether all choices are ops, and the value is the result of none of them."""
        return all(
            isinstance(choice, Node) and self._producer(value, choice, reader) is None
            for choice in pattern.choices
        )

    def _another_op(
        self, ops: Sequence[type[GEOp]], result: int, value: SSAValue, reader: GEOp
    ) -> Failure:
        name, names = _producer_name(value), list(dict.fromkeys(op.name for op in ops))
        reason = ReasonClass.ORDER if isinstance(value.owner, Operation) else ReasonClass.SHAPE
        wanted = " or ".join(f"'{one}'" for one in names)
        message = f"'{reader.name}' reads '{name}' where the rule wants {wanted}"
        if isinstance(value.owner, tuple(ops)):
            message += " in the same block" if value.owner.parent is not reader.parent else ""
            message += f" result {result}" if len(value.owner.results) > 1 else ""
        missing = " or ".join(names)
        return Failure(reader, reason, message, name, missing, missing=missing, at=value)


def in_type_of(number: float, value: SSAValue) -> float:
    """Returns a number as the element type of a tensor holds it."""
    from xdsl.dialects.builtin import AnyFloat, FloatAttr

    element_type = element_type_of(value)
    if not isinstance(element_type, AnyFloat):
        return number
    return FloatAttr(number, element_type).value.data


def _cast_between(casts: Sequence[CastOp], op: GEOp, reader: GEOp) -> Failure:
    types = [element_type_of(casts[-1].input), element_type_of(casts[0].result)]
    between = f"{types[0]} to {types[1]}"
    message = f"a cast from {between} stands between '{op.name}' and '{reader.name}'"
    fix = "let the rule be cast-tolerant, or run ge-canonicalize on a model of one type"
    return Failure(casts[0], ReasonClass.DTYPE, message, between, "no cast", fix)


def _two_ops(pattern: Node, op: GEOp, known: GEOp) -> Failure:
    what = f"'{pattern.name}'" if pattern.name else f"'{op.name}'"
    message = f"the rule wants one op {what} in two places, the graph has two"
    places = [location_name(one) or one.name for one in (known, op)]
    return Failure(op, ReasonClass.USE, message, " and ".join(places), "one op with two readers")


def _producer_name(value: SSAValue) -> str:
    return value.owner.name if isinstance(value.owner, Operation) else "an argument"
