"""Matching a rule at an op: a match, or the best partial one with the reason it stopped."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import xdsl
from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.passes.fusion.pattern import AttrSpec, Verdict
from ge_dialect.passes.fusion.rule import Condition, FusionRule, Rule, SiblingRule
from ge_dialect.remarks import ReasonClass

_OURS = tuple(
    os.path.join(os.path.dirname(os.path.abspath(file)), "")
    for file in (remarks.__file__, __file__, xdsl.__file__)
)
"""Where code of the rule's author is not."""


@dataclass(frozen=True)
class Repair:
    """An attribute that would have to be another.

    Attributes:
        attribute: Its name.
        spec: What it has to be.
    """

    attribute: str
    spec: AttrSpec


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
        repair: The attribute to change, where it is that.
        missing: Name of the op that the rule wants here, where another one stands.
        at: The value that it should give.
        chained: Whether an earlier pass was found to be the cause.
    """

    op: Operation
    reason: ReasonClass
    message: str
    found: str = ""
    wanted: str = ""
    fix: str = ""
    repair: Repair | None = None
    missing: str = ""
    at: SSAValue | None = None
    chained: bool = False


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
        escapes: Inner results that others read and that the rule gives as well.
        casts: Matched casts that the pattern does not name.
        shared: Ops of the nodes that a pattern has in several places, by the node's identity.
    """

    ops: list[GEOp] = field(default_factory=list[GEOp])
    named: dict[str, GEOp] = field(default_factory=dict[str, GEOp])
    captures: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    inputs: list[SSAValue] = field(default_factory=list[SSAValue])
    failures: list[Failure] = field(default_factory=list[Failure])
    structural: bool = True
    escapes: list[OpResult] = field(default_factory=list[OpResult])
    casts: int = 0
    shared: dict[int, GEOp] = field(default_factory=dict[int, GEOp])

    @property
    def ok(self) -> bool:
        """Whether the rule may fire."""
        return self.structural and not self.failures

    @property
    def score(self) -> tuple[bool, int, int]:
        """Orders attempts: whole structure first, then more ops, then fewer failures."""
        return (self.structural, len(self.ops), -len(self.failures))

    @property
    def producers_first(self) -> list[GEOp]:
        """The matched ops, each once, every op before its readers."""
        # The match is root first, every op behind its readers: backwards, producers come first.
        return list(dict.fromkeys(reversed(self.ops)))

    def copy(self) -> Match:
        """Returns an independent copy, for trying an alternative."""
        return Match(
            list(self.ops),
            dict(self.named),
            dict(self.captures),
            list(self.inputs),
            list(self.failures),
            self.structural,
            list(self.escapes),
            self.casts,
            dict(self.shared),
        )


def match_rule(rule: FusionRule, root: GEOp, *, explain: bool | None = None) -> Match:
    """Returns the best match of a rule whose result is `root`'s.

    Args:
        rule: All its patterns are tried.
        root: Of the class of one of the patterns' roots.
        explain: Whether to go on after something did not fit, to find the best partial match; by
            default where somebody listens to remarks.
    """
    from ge_dialect.passes.fusion.matcher import Matcher

    explain = remarks.listening() if explain is None else explain
    best: Match | None = None
    for pattern in rule.patterns:
        if not isinstance(root, pattern.op):
            continue
        for found in Matcher(rule, explain).matches(pattern, root):
            if found.structural and (explain or not found.failures):
                _check_whole(rule, found)
            if found.ok:
                return found
            if best is None or not best.failures or found.score > best.score:
                best = found
    return Match([root], structural=False) if best is None else best


def _check_whole(rule: FusionRule, found: Match) -> None:
    """Adds what only shows once all ops are known."""
    found.failures += outside_uses(found.ops, _given(rule, found)) + inner_inputs(found)
    found.escapes = _escapes(rule, found)
    found.failures += cycles(found)
    found.failures += failed_conditions(rule, found)


def match_sibling(rule: SiblingRule, op: GEOp) -> Match:
    """Returns the match of one sibling; what else it is used for does not matter."""
    from ge_dialect.passes.fusion.matcher import Matcher

    found = next(Matcher(rule, True).matches(rule.pattern, op))
    if found.structural:
        found.failures += failed_conditions(rule, found)
    return found


def failed_conditions(rule: Rule, match: Match) -> list[Failure]:
    """Returns a failure for each condition of a rule that does not hold.

    Raises:
        GEError: A condition fails, or gives no verdict (GE0426).
    """
    failures: list[Failure] = []
    for condition in rule.conditions:
        verdict = _verdict(rule, condition, match)
        if not verdict.holds:
            failures.append(
                Failure(
                    match.ops[0],
                    verdict.reason or condition.reason,
                    f"condition '{condition.name}' does not hold",
                    verdict.found,
                    verdict.wanted,
                    condition.fix,
                )
            )
    return failures


def _verdict(rule: Rule, condition: Condition, match: Match) -> Verdict:
    """Asks a condition. Rules come from others: it may fail, or return a bare truth value."""
    where = f"rule '{rule.name}': condition '{condition.name}'"
    try:
        verdict = condition.test(match)
    except GEError:
        raise
    except Exception as error:
        hint = "correct the condition, or let it answer for what it does not expect"
        problem = f"{where} fails on {match.ops[0].name}: {blame(error)}"
        raise GEError("GE0426", problem, hint=hint) from error
    if not isinstance(verdict, Verdict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise GEError(
            "GE0426",
            f"{where} gave {verdict!r:.60}, expected a Verdict",
            hint="return Verdict(holds, found, wanted), so that a miss can be explained",
        )
    return verdict


def blame(error: BaseException) -> str:
    """Returns what an error in a rule's own code is, and the line of it that raised it."""
    trace = deepest = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OURS) or deepest is None:
            deepest = trace
        trace = trace.tb_next
    text = " ".join(str(error).split())[:200]
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if deepest is None:
        return what
    return f"{what} ({Path(deepest.tb_frame.f_code.co_filename).name}:{deepest.tb_lineno})"


def _given(rule: FusionRule, match: Match) -> set[GEOp]:
    return {match.named[name] for name in rule.outputs if name in match.named}


def _escapes(rule: FusionRule, match: Match) -> list[OpResult]:
    """Returns the inner results that are read outside and that the kernel gives."""
    inside, given = set(match.ops), _given(rule, match)
    return [
        result
        for op in match.producers_first
        if op in given and op is not match.ops[0]
        for result in op.results
        if any(use.operation not in inside for use in result.uses)
    ]


def outside_uses(ops: Sequence[GEOp], given: set[GEOp] | None = None) -> list[Failure]:
    """Returns a failure for each inner value that somebody outside the kernel reads.

    Args:
        ops: Of the kernel, root first.
        given: Inner ops whose results the kernel gives as well.
    """
    inside = set(ops)
    failures: list[Failure] = []
    for op in dict.fromkeys(ops[1:]):
        if op is ops[0] or op in (given or ()):
            continue
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


def cycles(match: Match) -> list[Failure]:
    """Returns a failure where a reader of an escaping value comes back into the kernel."""
    from ge_dialect.passes.fusion.build import readers_between

    if not match.escapes or readers_between(match) is not None:
        return []
    value = match.escapes[0].owner
    message = f"what reads the result of '{value.name}' outside cannot move behind the kernel"
    wanted = "no way back into the kernel, and no effects"
    return [Failure(value, ReasonClass.USE, message, "a reader before the kernel", wanted)]
