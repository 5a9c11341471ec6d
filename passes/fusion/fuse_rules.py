"""`ge-fuse-rules`: fuses what the operator library has a kernel for, and says what it did not."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.passes import statistics
from ge_dialect.passes.fusion.build import fuse_ops, hoist_constants
from ge_dialect.passes.fusion.match import Failure, Match, match_rule, match_sibling
from ge_dialect.passes.fusion.registry import default_registry
from ge_dialect.passes.fusion.rule import FusionRule, Rule, SiblingRule

NAME = "ge-fuse-rules"


@dataclass(frozen=True)
class FuseRulesPass(ModulePass):
    """Applies the rules of the operator library, higher priority and larger patterns first.

    Linear in ops for each rule: a rule looks only at ops of its root's class.

    Options:
    - `rules`: names of the rules to try; all where none is given.
    - `disable`: names of rules to leave out.
    """

    name = NAME

    rules: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        registry = default_registry()
        chosen = registry.ordered(self.rules)
        registry.ordered(self.disable)  # an unknown name is an error there, too
        for inner in op.body.block.ops:
            if isinstance(inner, FuncOp) and not inner.is_declaration:
                fuser = Fuser(inner.body.block)
                for rule in chosen:
                    if rule.name not in self.disable:
                        fuser.apply(rule)
                fuser.report()


class Fuser:
    """The rules at work on one block."""

    def __init__(self, block: Block):
        self.by_class: dict[type[Operation], list[GEOp]] = defaultdict(list)
        self.misses: list[tuple[Rule, GEOp, Failure]] = []
        for op in block.ops:
            if isinstance(op, GEOp):
                self.by_class[type(op)].append(op)

    def apply(self, rule: Rule) -> None:
        """Applies one rule wherever it holds."""
        if isinstance(rule, SiblingRule):
            self._apply_siblings(rule)
            return
        for root in self.by_class[rule.pattern.op]:
            if root.parent is None:
                continue
            match = match_rule(rule, root)
            if match.ok:
                self._fuse(rule, match)
            elif near_miss(rule, match):
                self.misses.append((rule, root, match.failures[0]))

    def _fuse(self, rule: FusionRule, match: Match) -> None:
        root = match.ops[0]
        # The match is root first, every op behind its readers: backwards, producers come first.
        ops = list(dict.fromkeys(reversed(match.ops)))
        remarks.passed(NAME, rule.name, root, f"{len(ops)} ops fused into '{rule.kernel}'")
        statistics.count(NAME, rule.name)
        fuse_ops(rule.kernel, rule.name, ops, root.results, root)

    def _apply_siblings(self, rule: SiblingRule) -> None:
        groups: dict[SSAValue, list[GEOp]] = defaultdict(list)
        for op in self.by_class[rule.pattern.op]:
            if op.parent is not None:
                groups[op.operands[0]].append(op)
        for siblings in groups.values():
            if len(siblings) < rule.count:
                continue
            failures = [f for op in siblings for f in match_sibling(rule, op).failures]
            if len(siblings) != rule.count:
                message = f"{len(siblings)} siblings, the kernel takes {rule.count}"
                failures.append(
                    Failure(
                        siblings[0],
                        remarks.ReasonClass.SHAPE,
                        message,
                        str(len(siblings)),
                        str(rule.count),
                    )
                )
            if failures:
                self.misses.append((rule, siblings[0], failures[0]))
                continue
            remarks.passed(
                NAME, rule.name, siblings[0], f"{rule.count} ops fused into '{rule.kernel}'"
            )
            statistics.count(NAME, rule.name)
            hoist_constants([v for op in siblings for v in op.operands[1:]], siblings[0])
            results = [op.results[0] for op in siblings]
            fuse_ops(rule.kernel, rule.name, siblings, results, siblings[0])

    def report(self) -> None:
        """Makes a remark of each near miss at an op that no other rule fused."""
        for rule, root, failure in self.misses:
            if root.parent is None:
                continue
            where = failure.op if failure.op.parent is not None else root
            remarks.missed(
                NAME,
                rule.name,
                where,
                failure.message,
                reason=failure.reason,
                found=failure.found,
                wanted=failure.wanted,
                fix=failure.fix,
            )


def near_miss(rule: FusionRule, match: Match) -> bool:
    """Whether a failed match is worth telling: all the structure, or all but its last op."""
    return bool(match.failures) and match.structural and len(match.ops) > 1
