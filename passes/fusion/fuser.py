"""The rules at work on one block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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


@dataclass
class Fuser:
    """Applies rules to one block, first come first served.

    Attributes:
        block: Where.
        setting: What the rules are asked against.
        why_not: Rules whose misses are all told.
    """

    block: Block
    setting: Setting = field(default_factory=Setting)
    why_not: Sequence[str] = ()
    by_class: dict[type[Operation], list[GEOp]] = field(init=False)
    before: dict[Operation, list[Rule]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_class = defaultdict(list)
        self.before = defaultdict(list)
        self.misses = Misses(self.why_not)
        for op in self.block.ops:
            if isinstance(op, GEOp):
                self.by_class[type(op)].append(op)

    def watch(self, rules: Sequence[Rule]) -> None:
        """Notes where the rules that the user asks about would fire if they came first."""
        for rule in rules if self.misses.listening else ():
            if rule.name not in self.why_not or not isinstance(rule, FusionRule):
                continue
            roots = list(self._roots(rule))
            for root in roots:
                if match_rule(rule, root, explain=False).ok:
                    self.before[root].append(rule)
            if not roots and isinstance(function := self.block.parent_op(), Operation):
                self.misses.nothing(rule, function)

    def apply(self, rule: Rule) -> None:
        """Applies one rule wherever it holds."""
        if isinstance(rule, SiblingRule):
            self._apply_siblings(rule)
            return
        for root in self._roots(rule):
            if root.parent is None:
                continue
            closed = self.setting.closed(rule, root)
            if closed is not None and not self.misses.listening:
                return
            match = match_rule(rule, root)
            if closed is None and match.ok:
                self._fuse(rule, match)
            else:
                self.misses.add(rule, match, [*_first(closed), *match.failures])

    def _roots(self, rule: Rule) -> Iterator[GEOp]:
        for op_class in dict.fromkeys(pattern.op for pattern in rule.patterns):
            yield from self.by_class[op_class]

    def _fuse(self, rule: FusionRule, match: Match) -> None:
        ops = match.producers_first
        if not rewrites.permit(NAME, rule.name, ops[-1]):
            return
        count = len(ops)
        remarks.passed(NAME, rule.name, ops[-1], f"{count} ops fused into '{rule.kernel}'")
        statistics.count(NAME, rule.name)
        for op in ops if self.before else ():
            for other in self.before.get(op, ()):
                if other is not rule:
                    self.misses.lost(other, op, rule.name)
        fuse_match(rule, match)

    def _apply_siblings(self, rule: SiblingRule) -> None:
        groups: dict[SSAValue, list[GEOp]] = defaultdict(list)
        for op in self.by_class[rule.pattern.op]:
            if op.parent is not None:
                groups[op.operands[0]].append(op)
        for siblings in groups.values():
            if len(siblings) < rule.count:
                continue
            first = siblings[0]
            failures = [*_first(self.setting.closed(rule, first))]
            failures += [f for op in siblings for f in match_sibling(rule, op).failures]
            if len(siblings) != rule.count:
                failures.append(_wrong_count(rule, siblings))
            if failures:
                self.misses.add(rule, Match(list(siblings)), failures)
                continue
            if not rewrites.permit(NAME, rule.name, first):
                return
            remarks.passed(NAME, rule.name, first, f"{rule.count} ops fused into '{rule.kernel}'")
            statistics.count(NAME, rule.name)
            hoist_constants([v for op in siblings for v in op.operands[1:]], first)
            results = [op.results[0] for op in siblings]
            fuse_ops(rule.kernel, rule.name, siblings, results, first)

    def report(self) -> None:
        """Makes a remark of each near miss at an op that no other rule fused."""
        self.misses.report()


def _first(failure: Failure | None) -> list[Failure]:
    return [] if failure is None else [failure]


def _wrong_count(rule: SiblingRule, siblings: Sequence[GEOp]) -> Failure:
    count = len(siblings)
    message = f"{count} siblings, the kernel takes {rule.count}"
    return Failure(siblings[0], ReasonClass.SHAPE, message, str(count), str(rule.count))
