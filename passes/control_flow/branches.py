"""Patterns on `ge.if`. A branch is never turned into a select: only the branch taken may run."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, Region, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ge_dialect import remarks
from ge_dialect.ge.structure import IfOp, YieldOp, yield_of
from ge_dialect.ge.types import is_tensor, num_elements
from ge_dialect.ge.unary import LogicalNotOp
from ge_dialect.passes.control_flow.common import (
    NAME,
    is_inside,
    known_truth,
    replaceable,
    same_constant,
    truth_constant,
)
from ge_dialect.passes.driver import Rewrite


class InlineDecidedIf(Rewrite):
    """`if true then {a} else {b}` -> `a`; so for false, and where both branches are the same."""

    roots = (IfOp,)
    benefit = 3

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, IfOp)
        truth = known_truth(op.condition)
        if truth is None and not _same_code(op.then_region, op.else_region):
            remarks.missed(
                NAME,
                type(self).__name__,
                op,
                "condition is not constant",
                reason=remarks.ReasonClass.CONST,
            )
            return
        last = yield_of(op.else_region if truth is False else op.then_region)
        values = list(last.arguments)
        if (reason := _type_refusal(op, values)) is not None:
            remarks.missed(NAME, type(self).__name__, op, reason, reason=remarks.ReasonClass.SHAPE)
            return
        why = "both branches are the same" if truth is None else f"condition is {truth}".lower()
        remarks.passed(NAME, type(self).__name__, op, f"{why}: its branch takes the place")
        block = last.parent
        assert block is not None
        rewriter.erase(last)
        rewriter.inline_block(block, InsertPoint.before(op))
        rewriter.replace(op, (), values)


def _same_code(first: Region, second: Region) -> bool:
    """Whether two regions hold the same ops on the same values; result types count."""
    if not first.is_structurally_equivalent(second):
        return False
    return all(
        mine.result_types == theirs.result_types
        for mine, theirs in zip(first.walk(), second.walk(), strict=True)
    )


def _type_refusal(op: IfOp, values: list[SSAValue]) -> str | None:
    for result, value in zip(op.results, values, strict=True):
        if not replaceable(result, value.type):
            return f"a result of type {result.type} can not become one of {value.type}"
    return None


class ReplaceKnownCondition(Rewrite):
    """In `if c then {...c...}`, `c` is true; in the other branch it is false."""

    roots = (IfOp,)
    benefit = 3

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, IfOp)
        for region, truth in ((op.then_region, True), (op.else_region, False)):
            for value, holds in _facts(op.condition, truth):
                self._replace(value, holds, region, rewriter)
        if rewriter.has_done_action:
            remarks.passed(
                NAME, type(self).__name__, op, "condition is known in the branches that use it"
            )
            rewriter.notify_op_modified(op)

    def _replace(
        self, value: SSAValue, truth: bool, region: Region, rewriter: PatternRewriter
    ) -> None:
        """Puts a constant for `value` in a region that uses it."""

        def within(use: Use) -> bool:
            return region.is_ancestor(use.operation)

        # A condition of unknown size has one element as well, but no constant has its type.
        if not is_tensor(value.type) or num_elements(value.type) != 1:
            return
        if known_truth(value) is None and any(within(use) for use in value.uses):
            constant = truth_constant(value.type, truth)
            rewriter.insert(constant, InsertPoint.at_start(region.block))
            rewriter.replace_uses_with_if(value, constant.result, within)


def _facts(condition: SSAValue, truth: bool) -> Iterator[tuple[SSAValue, bool]]:
    """Yields what is known of values where a condition has a value: of it, and of its negations."""
    yield condition, truth
    if isinstance(inner := condition.owner, LogicalNotOp):
        yield inner.input, not truth
    for use in list(condition.uses):
        if isinstance(use.operation, LogicalNotOp):
            yield use.operation.result, not truth


class ForwardIfResult(Rewrite):
    """A result that is known without the `if` -> that value.

    Known are: what both branches yield, be it a value from outside or a constant; the condition or
    its negation, where they yield true and false; another result that both yield as well.
    """

    roots = (IfOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, IfOp)
        pairs = list(
            zip(yield_of(op.then_region).arguments, yield_of(op.else_region).arguments, strict=True)
        )
        for index, result in enumerate(op.results):
            if result.first_use is None:
                continue
            value = _known_outside(op, *pairs[index])
            if value is None:
                value = _negated_condition(op, index, rewriter)
            if value is None:
                value = op.results[pairs.index(pairs[index])]
            if value is not result and replaceable(result, value.type):
                rewriter.replace_all_uses_with(result, value)
        if rewriter.has_done_action:
            remarks.passed(NAME, type(self).__name__, op, "results known without it replaced")
            rewriter.notify_op_modified(op)


def _known_outside(op: IfOp, first: SSAValue, second: SSAValue) -> SSAValue | None:
    """Returns the value from outside that a result is, whatever the condition."""
    outside = [v for v in (first, second) if not any(is_inside(v, region) for region in op.regions)]
    if outside and (first is second or same_constant(first, second)):
        return outside[0]
    truths = known_truth(first), known_truth(second)
    same_type = first.type == second.type == op.condition.type
    return op.condition if truths == (True, False) and same_type else None


def _negated_condition(op: IfOp, index: int, rewriter: PatternRewriter) -> SSAValue | None:
    """Returns a new value before the `if` for a result that both branches yield as constants."""
    first = yield_of(op.then_region).arguments[index]
    second = yield_of(op.else_region).arguments[index]
    if not replaceable(op.results[index], first.type):
        return None
    if same_constant(first, second) and isinstance(owner := first.owner, Operation):
        return rewriter.insert(owner.clone(), InsertPoint.before(op)).results[0]
    truths = known_truth(first), known_truth(second)
    if truths == (False, True) and first.type == second.type == op.condition.type:
        return rewriter.insert(LogicalNotOp(op.condition), InsertPoint.before(op)).result
    return None


class DropUnusedIfResult(Rewrite):
    """`if` with results that nobody reads -> `if` with the others."""

    roots = (IfOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, IfOp)
        kept = [i for i, result in enumerate(op.results) if result.first_use is not None]
        if not kept or len(kept) == len(op.results):
            return
        dropped = len(op.results) - len(kept)
        remarks.passed(NAME, type(self).__name__, op, f"{dropped} unused results dropped")
        for region in op.regions:
            last = yield_of(region)
            rewriter.replace(last, YieldOp(*[last.arguments[i] for i in kept]))
        regions = [rewriter.move_region_contents_to_new_regions(region) for region in op.regions]
        smaller = IfOp(op.condition, [op.results[i].type for i in kept], *regions)
        found = iter(smaller.results)
        rewriter.replace(
            op, smaller, [next(found) if i in kept else None for i in range(len(op.results))]
        )


IF_PATTERNS: tuple[type[Rewrite], ...] = (
    InlineDecidedIf,
    ReplaceKnownCondition,
    ForwardIfResult,
    DropUnusedIfResult,
)
