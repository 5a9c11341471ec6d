"""Why rules did not fire: the best partial match of each rule at each op, as remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.passes.fusion.match import Failure, Match
from ge_dialect.passes.fusion.order import Stopped, waits_on
from ge_dialect.passes.fusion.rule import FusionRule, Rule, SiblingRule
from ge_dialect.passes.fusion.trial import GATES, counterfactual
from ge_dialect.remarks import ReasonClass

NAME = "ge-fuse-rules"


@dataclass(frozen=True)
class Miss:
    """A rule that did not fire at an op.

    Attributes:
        rule: The rule.
        root: Where its result would be.
        match: The best partial match.
        failures: Why, the first reason first.
        fires: What would make it fire, where that was tried.
    """

    rule: Rule
    root: GEOp
    match: Match
    failures: Sequence[Failure]
    fires: str | None = None


@dataclass
class Misses:
    """The near misses in one block; nothing is kept where nobody listens.

    Attributes:
        listening: Whether anybody collects remarks.
    """

    listening: bool = field(default_factory=remarks.listening)
    found: list[Miss] = field(default_factory=list[Miss])

    def add(self, rule: Rule, match: Match, failures: Sequence[Failure]) -> None:
        """Keeps a miss that may be worth telling."""
        if not self.listening or not failures:
            return
        miss = Miss(rule, match.ops[0], match, failures)
        if not is_near(miss):
            return
        if failures[0].reason in GATES:  # other rules may well take these ops
            miss = verified(miss)
        self.found.append(miss)

    def report(self) -> None:
        """Makes a remark of each miss at an op that no other rule fused."""
        if not self.found:
            return
        stopped = Stopped(remarks.so_far())
        for miss in self.found:
            report(miss, stopped)


def is_near(miss: Miss) -> bool:
    """Whether more of a rule fits than the op that it starts from."""
    match = miss.match
    small = miss.rule.size == 2 and len(match.failures) == 1
    return match.structural or len(match.ops) > 1 or small


def report(miss: Miss, stopped: Stopped) -> None:
    """Makes a remark of a miss whose structure is there, or that waits on raising, at an op that no
    other rule took."""
    if miss.root.parent is None:
        return
    failures = list(miss.failures)
    if not miss.match.structural:
        failures = [waits_on(failure, stopped) or failure for failure in failures]
        failures = [failure for failure in failures if failure.chained]
    elif len(miss.match.ops) < 2 and miss.rule.size > 1:
        return
    if failures:
        tell(miss if miss.fires is not None else verified(miss), failures[:1])


def verified(miss: Miss) -> Miss:
    """Returns a miss with what would make the rule fire, where that can be tried and helps."""
    if not isinstance(miss.rule, FusionRule) or not miss.match.structural or not miss.failures:
        return miss
    if any(op.parent is None for op in miss.match.ops):
        return miss
    match = miss.match.copy()
    match.failures = list(miss.failures)
    return replace(miss, fires=counterfactual(miss.rule, match))


def tell(miss: Miss, failures: Sequence[Failure]) -> None:
    """Makes a remark of each of some reasons of a miss."""
    for failure in failures:
        fixes = [failure.fix or _repair_text(failure)]
        if miss.fires is not None:
            fixes.append(f"verified: {miss.fires}")
        remarks.missed(
            NAME,
            miss.rule.name,
            failure.op,
            failure.message,
            reason=failure.reason,
            found=failure.found or None,
            wanted=failure.wanted or None,
            fix="; ".join(filter(None, fixes)) or None,
        )


def _repair_text(failure: Failure) -> str:
    if failure.repair is None:
        return ""
    return f"make it {failure.wanted} in the model, or register a rule that takes {failure.found}"


def tell_absent(rules: Sequence[Rule], at: Operation) -> None:
    """Makes a remark of each rule that has no op to start from."""
    stopped = Stopped(remarks.so_far()) if rules else None
    for rule in rules if stopped is not None else ():
        assert stopped is not None
        _tell_absent(rule, at, stopped)


def _tell_absent(rule: Rule, at: Operation, stopped: Stopped) -> None:
    names = dict.fromkeys(pattern.op.name for pattern in rule.patterns)
    wanted = " or ".join(f"'{name}'" for name in names)
    cause = next(filter(None, (stopped.first(name) for name in names)), None)
    message = f"no {wanted} to start from"
    if isinstance(rule, SiblingRule):
        message = f"no 2 {wanted} that read one value"
    if cause is not None:
        where = f' at "{cause.location}"' if cause.location else ""
        message += f": waits on '{cause.rule}' of ge-raise, which stopped{where}:"
        message += f" {cause.message}"
    remarks.missed(
        NAME,
        rule.name,
        at,
        message,
        reason=ReasonClass.ORDER,
        found=None if cause is None else cause.found,
        wanted=None if cause is None else cause.wanted,
    )
