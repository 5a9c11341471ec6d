"""Why rules did not fire: the best partial match of each rule at each op, as remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.passes.fusion.match import Failure, Match
from ge_dialect.passes.fusion.order import Stopped, overlap, waits_on
from ge_dialect.passes.fusion.rule import FusionRule, Rule
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
        verified: What would make it fire, where that was tried at once.
    """

    rule: Rule
    root: GEOp
    match: Match
    failures: Sequence[Failure]
    verified: str | None = None


@dataclass
class Misses:
    """The near misses in one block; nothing is kept where nobody listens.

    Attributes:
        wanted: Rules that the user asks about: all partial matches of them are told.
        listening: Whether anybody collects remarks.
    """

    wanted: Sequence[str] = ()
    listening: bool = field(default_factory=remarks.listening)
    found: list[Miss] = field(default_factory=list[Miss])
    taken: list[tuple[Rule, Operation, str]] = field(
        default_factory=list[tuple["Rule", Operation, str]]
    )

    absent: list[tuple[Rule, Operation]] = field(default_factory=list[tuple["Rule", Operation]])

    def nothing(self, rule: Rule, at: Operation) -> None:
        """Keeps that a rule the user asks about has no op to start from in `at`."""
        self.absent.append((rule, at))

    def add(self, rule: Rule, match: Match, failures: Sequence[Failure]) -> None:
        """Keeps a miss that may be worth telling."""
        if not self.listening or not failures:
            return
        if not match.structural and not _is_started(rule, match, self):
            return
        miss = Miss(rule, match.ops[0], match, failures)
        if failures[0].reason in GATES:  # other rules may well take these ops
            miss = replace(miss, verified=_verified(miss))
        self.found.append(miss)

    def lost(self, rule: Rule, root: Operation, winner: str) -> None:
        """Keeps that another rule took the root of a match, where the user asks about the rule."""
        if rule.name in self.wanted:
            self.taken.append((rule, root, winner))

    def report(self) -> None:
        """Makes a remark of each miss at an op that no other rule fused."""
        if not self.listening:
            return
        stopped = Stopped(remarks.so_far())
        for miss in self.found:
            if miss.root.parent is not None:
                self._tell(miss, stopped)
        for rule, root, winner in self.taken:
            remarks.missed(
                NAME,
                rule.name,
                root,
                f"'{winner}' took '{root.name}' first",
                reason=ReasonClass.OVERLAP,
                found=winner,
                wanted=rule.name,
                fix=f"give '{rule.name}' a higher priority, or disable '{winner}'",
            )

        for rule, at in self.absent:
            _tell_absent(rule, at, stopped)

    def _tell(self, miss: Miss, stopped: Stopped) -> None:
        asked = miss.rule.name in self.wanted
        failures = list(miss.failures)
        if not miss.match.structural:
            failures = [_deeper(miss.rule, failure, stopped) for failure in failures]
            # That a rule of the library lost to another one is how its priorities are meant.
            told = miss.rule.priority >= 0
            known = [f for f in failures if f.chained or (told and f.reason is ReasonClass.OVERLAP)]
            failures = failures if asked else known[:1]
        elif len(miss.match.ops) < 2 and not asked and miss.rule.size > 1:
            return
        verified = miss.verified or _verified(miss)
        for failure in failures if asked else failures[:1]:
            _remark(miss, failure, verified)


def _is_started(rule: Rule, match: Match, misses: Misses) -> bool:
    """Whether a partial match is more than its root, or the user asks about the rule."""
    small = rule.size == 2 and len(match.failures) == 1
    return rule.name in misses.wanted or len(match.ops) > 1 or small


def _deeper(rule: Rule, failure: Failure, stopped: Stopped) -> Failure:
    """Returns the cause of an op that is not there, where it is known."""
    return overlap(rule, failure) or waits_on(failure, stopped) or failure


def _verified(miss: Miss) -> str | None:
    if not isinstance(miss.rule, FusionRule) or not miss.match.structural:
        return None
    if any(op.parent is None for op in miss.match.ops):
        return None
    match = miss.match.copy()
    match.failures = list(miss.failures)
    return counterfactual(miss.rule, match)


def _remark(miss: Miss, failure: Failure, verified: str | None) -> None:
    fixes = [failure.fix or _repair_text(failure)]
    if verified is not None:
        fixes.append(f"verified: {verified}")
    remarks.missed(
        NAME,
        miss.rule.name,
        failure.op if failure.op.parent is not None else miss.root,
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


def _tell_absent(rule: Rule, at: Operation, stopped: Stopped) -> None:
    names = dict.fromkeys(pattern.op.name for pattern in rule.patterns)
    wanted = " or ".join(f"'{name}'" for name in names)
    cause = next(filter(None, (stopped.first(name) for name in names)), None)
    message = f"no {wanted} to start from"
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
