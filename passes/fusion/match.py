"""Matching a rule at an op: a match, or the best partial one with the reason it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import constant_attr
from ge_dialect.passes.fusion.pattern import Any, Maybe, Node, Pattern, Weight
from ge_dialect.passes.fusion.rule import Condition, FusionRule, SiblingRule
from ge_dialect.remarks import ReasonClass


@dataclass(frozen=True)
class Failure:
    """Why a match is not one.

    Attributes:
        op: Where it stopped.
        reason: The class of the reason.
        message: One line.
        found: What was there.
        wanted: What was needed.
        fix: What would help, or empty.
    """

    op: Operation
    reason: ReasonClass
    message: str
    found: str = ""
    wanted: str = ""
    fix: str = ""


@dataclass
class Match:
    """Ops of a graph that fit a pattern, root first.

    Attributes:
        ops: The matched ops.
        named: Matched ops by the name of their node.
        captures: Values from outside by name.
        inputs: Values from outside, those without a name as well.
        failures: What does not fit although the structure does.
        structural: Whether every op of the pattern was found.
    """

    ops: list[GEOp] = field(default_factory=list[GEOp])
    named: dict[str, GEOp] = field(default_factory=dict[str, GEOp])
    captures: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    inputs: list[SSAValue] = field(default_factory=list[SSAValue])
    failures: list[Failure] = field(default_factory=list[Failure])
    structural: bool = True

    @property
    def ok(self) -> bool:
        """Whether the rule may fire."""
        return self.structural and not self.failures

    @property
    def score(self) -> tuple[bool, int, int]:
        """Orders attempts: whole structure first, then more ops, then fewer failures."""
        return (self.structural, len(self.ops), -len(self.failures))

    def copy(self) -> Match:
        """Returns an independent copy, for trying an alternative."""
        return Match(
            list(self.ops),
            dict(self.named),
            dict(self.captures),
            list(self.inputs),
            list(self.failures),
            self.structural,
        )


def match_rule(rule: FusionRule, root: GEOp) -> Match:
    """Returns the best match of a rule whose result is `root`'s."""
    fixes = dict(rule.fixes)
    found = _match_node(rule.pattern, root, Match(), fixes)
    if not found.structural:
        return found
    found.failures += outside_uses(found.ops) + inner_inputs(found)
    found.failures += failed_conditions(rule.conditions, found)
    return found


def match_sibling(rule: SiblingRule, op: GEOp) -> Match:
    """Returns the match of one sibling; what else it is used for does not matter."""
    found = _match_node(rule.pattern, op, Match(), {})
    found.failures += failed_conditions(rule.conditions, found)
    return found


def failed_conditions(conditions: Sequence[Condition], match: Match) -> list[Failure]:
    """Returns a failure for each condition that does not hold."""
    failures: list[Failure] = []
    for condition in conditions:
        verdict = condition.test(match)
        if not verdict.holds:
            failures.append(
                Failure(
                    match.ops[0],
                    condition.reason,
                    f"condition '{condition.name}' does not hold",
                    verdict.found,
                    verdict.wanted,
                    condition.fix,
                )
            )
    return failures


def outside_uses(ops: Sequence[GEOp]) -> list[Failure]:
    """Returns a failure for each inner value that somebody outside the kernel reads."""
    inside = set(ops)
    failures: list[Failure] = []
    for op in ops[1:]:
        for result in op.results:
            outside = [use.operation for use in result.uses if use.operation not in inside]
            if outside:
                uses = result.uses.get_length()
                message = (
                    f"the result of '{op.name}' has {uses} uses, {len(outside)} outside:"
                    f" {outside[0].name}"
                )
                failures.append(
                    Failure(op, ReasonClass.USE, message, f"{uses} uses", "uses inside only")
                )
    return failures


def inner_inputs(match: Match) -> list[Failure]:
    """Returns a failure where the kernel would read a value that it computes itself."""
    inside = set(match.ops)
    root = match.ops[0]
    return [
        Failure(
            root,
            ReasonClass.OVERLAP,
            f"an input of the kernel is the result of '{value.owner.name}', which is part of it",
        )
        for value in dict.fromkeys(match.inputs)
        if value.owner in inside and isinstance(value.owner, Operation)
    ]


def _match(
    pattern: Pattern, value: SSAValue, reader: GEOp, so_far: Match, fixes: Mapping[str, str]
) -> Match:
    match pattern:
        case Any():
            return _capture(pattern.name, value, so_far)
        case Weight():
            if constant_attr(value) is None:
                so_far.failures.append(
                    Failure(
                        reader,
                        ReasonClass.CONST,
                        f"operand '{pattern.name or 'weight'}' of '{reader.name}' is no constant",
                        "a computed value",
                        "a constant",
                    )
                )
            return _capture(pattern.name, value, so_far)
        case Maybe():
            without = pattern.node.operands[0]
            if (op := _producer(value, pattern.node)) is None:
                return _match(without, value, reader, so_far, fixes)
            found = _match_node(pattern.node, op, so_far.copy(), fixes)
            if found.ok:
                return found
            other = _match(without, value, reader, so_far.copy(), fixes)
            return max(found, other, key=lambda attempt: attempt.score)
        case Node():
            if (op := _producer(value, pattern)) is not None:
                return _match_node(pattern, op, so_far, fixes)
            return _stop(pattern, value, reader, so_far)


def _producer(value: SSAValue, pattern: Node) -> GEOp | None:
    """Returns the op of a node that gives a value as its first result: others mean other things."""
    first = isinstance(value, OpResult) and value.index == 0
    return value.owner if first and isinstance(value.owner, pattern.op) else None


def _stop(pattern: Node, value: SSAValue, reader: GEOp, so_far: Match) -> Match:
    """Records that another op stands where the pattern wants one."""
    so_far.structural = False
    name = value.owner.name if isinstance(value.owner, Operation) else "an argument"
    so_far.failures.append(
        Failure(
            reader,
            ReasonClass.SHAPE if not isinstance(value.owner, Operation) else ReasonClass.ORDER,
            f"'{reader.name}' reads '{name}' where the rule wants '{pattern.op.name}'",
            name,
            pattern.op.name,
        )
    )
    return so_far


def _capture(name: str, value: SSAValue, so_far: Match) -> Match:
    so_far.inputs.append(value)
    if name and so_far.captures.setdefault(name, value) is not value:
        so_far.structural = False
    return so_far


def _match_node(pattern: Node, op: GEOp, so_far: Match, fixes: Mapping[str, str]) -> Match:
    so_far.ops.append(op)
    if pattern.name:
        so_far.named[pattern.name] = op
    for name, spec in pattern.attrs.items():
        verdict = spec.test(op.properties.get(name))
        if not verdict.holds:
            so_far.failures.append(
                Failure(
                    op,
                    ReasonClass.ATTR,
                    f"attribute '{name}' of '{op.name}' does not match",
                    verdict.found,
                    verdict.wanted,
                    fixes.get(f"{op.name}.{name}", ""),
                )
            )
    attempts = [_match_operands(pattern.operands, op.operands, op, so_far.copy(), fixes)]
    if pattern.commutes and not attempts[0].ok:
        swapped = (op.operands[1], op.operands[0])
        attempts.append(_match_operands(pattern.operands, swapped, op, so_far.copy(), fixes))
    return max(attempts, key=lambda attempt: attempt.score)


def _match_operands(
    patterns: Sequence[Pattern],
    values: Sequence[SSAValue],
    reader: GEOp,
    so_far: Match,
    fixes: Mapping[str, str],
) -> Match:
    if len(values) < len(patterns):
        so_far.structural = False
        return so_far
    for pattern, value in zip(patterns, values, strict=False):
        so_far = _match(pattern, value, reader, so_far, fixes)
    return so_far
