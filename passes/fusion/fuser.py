"""The rules at work on one block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, SSAValue

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.fusion.build import fuse_match, fuse_ops, hoist_constants
from ge_dialect.passes.fusion.explain import NAME, Misses
from ge_dialect.passes.fusion.gates import Setting
from ge_dialect.passes.fusion.match import Failure, Match, match_rule, match_sibling
from ge_dialect.passes.fusion.rule import FusionRule, Rule, SiblingRule
from ge_dialect.remarks import ReasonClass

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.asked import Questions, Snapshot


@dataclass
class Fuser:
    """Applies rules to one block, first come first served.

    Attributes:
        block: Where.
        setting: What the rules are asked against.
        why_not: Rules whose misses are all told.
        quiet: Whether it is a trial, which nobody counts or hears of.
    """

    block: Block
    setting: Setting = field(default_factory=Setting)
    why_not: Sequence[str] = ()
    quiet: bool = False
    by_class: dict[type[Operation], list[GEOp]] = field(init=False)
    questions: Questions | None = field(init=False, default=None)
    snapshot: Snapshot | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.by_class = defaultdict(list)
        self.misses = Misses(not self.quiet and remarks.listening())
        for op in self.block.ops:
            if isinstance(op, GEOp):
                self.by_class[type(op)].append(op)

    def watch(self, rules: Sequence[Rule]) -> None:
        """Finds out where rules may fire before any does, and takes something from the others.

        That is done of the rules that the user asks about, and of those that tell where they were
        too late: of the built-in ones few do, it is how their priorities are meant.
        """
        if not self.misses.listening:
            return
        from ge_dialect.passes.fusion.asked import Questions, snapshot_of

        self.questions = questions = Questions(self.block)
        for rule in rules:
            if self._is_watched(rule):
                self._ask(rule, questions)
        if any(one.asked and not one.miss.failures for one in questions.found):
            self.snapshot = snapshot_of(self.block, rules, self.setting)

    def _is_watched(self, rule: Rule) -> bool:
        told = rule.priority >= 0 and isinstance(rule, FusionRule)
        return rule.name in self.why_not or told

    def _is_told(self, rule: Rule) -> bool:
        return self.questions is not None and self._is_watched(rule)

    def _ask(self, rule: Rule, questions: Questions) -> None:
        before, asked = len(questions.found), rule.name in self.why_not
        if isinstance(rule, SiblingRule):
            for siblings in self._siblings(rule, 2):
                failures = self._sibling_failures(rule, siblings)
                questions.ask(rule, Match(list(siblings)), failures, asked)
        else:
            for root in self._roots(rule):
                match = match_rule(rule, root, explain=True)
                # Where the ops are not even there, nothing else stands in the way first.
                closed = self.setting.closed(rule, root) if match.structural else None
                questions.ask(rule, match, [*_first(closed), *match.failures], asked)
        if asked and len(questions.found) == before:
            questions.absent.append(rule)

    def apply(self, rule: Rule) -> None:
        """Applies one rule wherever it holds."""
        if isinstance(rule, SiblingRule):
            self._apply_siblings(rule)
            return
        listening = self.misses.listening and not self._is_told(rule)
        for root in self._roots(rule):
            if root.parent is None:
                continue
            closed = self.setting.closed(rule, root)
            if closed is not None and not listening:
                return
            match = match_rule(rule, root, explain=listening)
            if closed is None and match.ok:
                self._fuse(rule, match)
            elif listening:
                self.misses.add(rule, match, [*_first(closed), *match.failures])

    def _roots(self, rule: Rule) -> Iterator[GEOp]:
        for op_class in dict.fromkeys(pattern.op for pattern in rule.patterns):
            yield from self.by_class[op_class]

    def _fuse(self, rule: FusionRule, match: Match) -> None:
        ops = match.producers_first
        if self._begins(rule, ops[-1], ops):
            fuse_match(rule, match)

    def _begins(self, rule: Rule, root: GEOp, ops: Sequence[GEOp]) -> bool:
        """Whether a kernel may be made of some ops; counts and tells it."""
        if not self.quiet and not rewrites.permit(NAME, rule.name, root):
            return False
        if self.questions is not None:
            self.questions.took(rule, root, ops)
        if self.quiet:
            return True
        remarks.passed(NAME, rule.name, root, f"{len(ops)} ops fused into '{rule.kernel}'")
        statistics.count(NAME, rule.name)
        return True

    def _siblings(self, rule: SiblingRule, least: int) -> list[list[GEOp]]:
        """Returns the groups of ops that read one value, of so many ops at least."""
        groups: dict[SSAValue, list[GEOp]] = defaultdict(list)
        for op in self.by_class[rule.pattern.op]:
            if op.parent is not None:
                groups[op.operands[0]].append(op)
        return [siblings for siblings in groups.values() if len(siblings) >= least]

    def _sibling_failures(self, rule: SiblingRule, siblings: Sequence[GEOp]) -> list[Failure]:
        failures = _first(self.setting.closed(rule, siblings[0]))
        failures += [f for op in siblings for f in match_sibling(rule, op).failures]
        if len(siblings) != rule.count:
            failures.append(_wrong_count(rule, siblings))
        return failures

    def _apply_siblings(self, rule: SiblingRule) -> None:
        for siblings in self._siblings(rule, rule.count):
            if failures := self._sibling_failures(rule, siblings):
                if not self._is_told(rule):
                    self.misses.add(rule, Match(list(siblings)), failures)
                continue
            first = siblings[0]
            if not self._begins(rule, first, siblings):
                return
            hoist_constants([v for op in siblings for v in op.operands[1:]], first)
            results = [op.results[0] for op in siblings]
            fuse_ops(rule.kernel, rule.name, siblings, results, first)

    def report(self) -> list[Rule]:
        """Makes a remark of each near miss at an op that no other rule fused.

        Returns:
            The rules that the user asks about and that have nothing to start from here.
        """
        self.misses.report()
        if self.questions is None:
            return []
        self.questions.tell(self.snapshot)
        return self.questions.absent


def _first(failure: Failure | None) -> list[Failure]:
    return [] if failure is None else [failure]


def _wrong_count(rule: SiblingRule, siblings: Sequence[GEOp]) -> Failure:
    count = len(siblings)
    message = f"{count} siblings, the kernel takes {rule.count}"
    return Failure(siblings[0], ReasonClass.SHAPE, message, str(count), str(rule.count))
