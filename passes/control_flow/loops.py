"""Patterns that take things out of a `ge.loop` which stays: values, results, invariant ops."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from ge_dialect import remarks
from ge_dialect.ge.base import FusionKind, GEOp
from ge_dialect.ge.binary import DivOp, FmodOp, ModOp, PowOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.structure import LoopOp, YieldOp, yield_of
from ge_dialect.ge.types import is_tensor, num_elements, tensor_of, tensor_type
from ge_dialect.passes.control_flow.common import (
    NAME,
    is_inside,
    replaceable,
    same_constant,
    trips_of,
    truth_constant,
)
from ge_dialect.passes.driver import Rewrite

CHEAP_ELEMENTS = 1024
"""An op with results of at most so many elements is cheap enough to run where a loop may not."""


class ResolveLoopCondition(Rewrite):
    """In the body of a loop its condition is true: it would not run otherwise."""

    roots = (LoopOp,)
    benefit = 4

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, LoopOp)
        condition, last = op.body.block.args[1], yield_of(op.body)

        def reads(use: Use) -> bool:
            # As the next condition it already says that the loop goes on.
            return use.operation is not last or use.index != 0

        if condition.type != tensor_type(i1, ()) or not any(map(reads, condition.uses)):
            return
        remarks.passed(NAME, type(self).__name__, op, "condition is true in the body")
        constant = truth_constant(tensor_of(condition), truth=True)
        rewriter.insert(constant, InsertPoint.before(op))
        rewriter.replace_uses_with_if(condition, constant.result, reads)
        rewriter.notify_op_modified(op)


class ForwardInvariantCarried(Rewrite):
    """A carried value that no iteration changes -> its initial value, in the body and after it."""

    roots = (LoopOp,)
    benefit = 4

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, LoopOp)
        last = yield_of(op.body)
        for index, initial in enumerate(op.carried):
            argument, after = op.body.block.args[2 + index], last.arguments[1 + index]
            if after is argument or after is initial or same_constant(after, initial):
                self._forward(argument, initial, rewriter, last, 1 + index)
                self._forward(op.results[index], initial, rewriter)
        if rewriter.has_done_action:
            remarks.passed(NAME, type(self).__name__, op, "carried values that never change")
            rewriter.notify_op_modified(op)

    def _forward(
        self,
        value: SSAValue,
        initial: SSAValue,
        rewriter: PatternRewriter,
        last: YieldOp | None = None,
        slot: int = 0,
    ) -> None:
        """Puts the initial value for another one, but not where the body yields it on."""

        def reads(use: Use) -> bool:
            return use.operation is not last or use.index != slot

        if any(map(reads, value.uses)) and replaceable(value, initial.type):
            rewriter.replace_uses_with_if(value, initial, reads)


class DropUnusedLoopResult(Rewrite):
    """`loop` with results that nobody reads -> `loop` with the others.

    A carried value goes only where no other result, no condition and no effect needs it.
    """

    roots = (LoopOp,)
    benefit = 3

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, LoopOp)
        needed, kept = _needed(op)
        if not kept or len(kept) == len(op.results):
            return
        dropped = len(op.results) - len(kept)
        remarks.passed(NAME, type(self).__name__, op, f"{dropped} unused results dropped")
        block, last = op.body.block, yield_of(op.body)
        rewriter.replace(last, YieldOp(last.arguments[0], *[last.arguments[1 + i] for i in kept]))
        for inner in reversed(list(block.ops)):
            if inner not in needed and not inner.has_trait(IsTerminator):
                rewriter.erase(inner)
        for index in reversed(range(len(op.carried))):
            if index not in kept:
                rewriter.erase_block_argument(block.args[2 + index])
        smaller = LoopOp(
            op.trip_count,
            op.condition,
            [value for i, value in enumerate(op.carried) if i in kept],
            [op.results[i].type for i in kept],
            rewriter.move_region_contents_to_new_regions(op.body),
        )
        found = iter(smaller.results)
        results = [next(found) if i in kept else None for i in range(len(op.results))]
        rewriter.replace(op, smaller, results)


def _needed(loop: LoopOp) -> tuple[set[Operation], list[int]]:
    """Returns the ops of the body, and the results in order, that something depends on."""
    block, yielded = loop.body.block, yield_of(loop.body).arguments
    used = [i for i, result in enumerate(loop.results) if result.first_use is not None]
    results, ops = set(used), set[Operation]()
    waiting = [yielded[0], *(yielded[1 + i] for i in used)]
    for op in block.ops:
        if not op.has_trait(IsTerminator) and not is_side_effect_free(op):
            ops.add(op)
            waiting += _reads(op)
    while waiting:
        value = waiting.pop()
        if isinstance(value, BlockArgument):
            index = value.index - 2
            if value.block is block and index >= 0 and index not in results:
                results.add(index)
                waiting.append(yielded[1 + index])
        elif (op := _op_in(block, value)) is not None and op not in ops:
            ops.add(op)
            waiting += _reads(op)
    return ops, sorted(results)


def _reads(op: Operation) -> Iterable[SSAValue]:
    return (operand for inner in op.walk() for operand in inner.operands)


def _op_in(block: Block, value: SSAValue) -> Operation | None:
    """Returns the op of a block that gives a value, or None where it is from elsewhere."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.parent is block else None


class HoistInvariant(Rewrite):
    """An op of the body that reads nothing of the loop -> the same op before the loop.

    Applies to pure ops where the loop runs at least once; otherwise to small ones that can not
    fail: nothing may fail, or take time, that did not before.
    """

    roots = (LoopOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, LoopOp)
        runs = trips_of(op).least >= 1
        for inner in list(op.body.block.ops):
            if not _is_invariant(inner, op):
                continue
            if not runs and (reason := speculation_refusal(inner)) is not None:
                text = f"not hoisted: {reason}, and the loop may not run"
                remarks.missed(
                    NAME, type(self).__name__, inner, text, reason=remarks.ReasonClass.COST
                )
                continue
            if not isinstance(inner, ConstantOp):
                remarks.passed(NAME, type(self).__name__, inner, "moved in front of its loop")
            inner.detach()
            rewriter.insert(inner, InsertPoint.before(op))
        if rewriter.has_done_action:
            rewriter.notify_op_modified(op)


def _is_invariant(op: Operation, loop: LoopOp) -> bool:
    return (
        isinstance(op, GEOp)
        and is_side_effect_free(op)
        and not any(
            is_inside(value, loop.body) and not op.is_ancestor(value.owner) for value in _reads(op)
        )
    )


def speculation_refusal(op: Operation) -> str | None:
    """Says why an op may not run where it might not have run, or None where it may."""
    if isinstance(op, ConstantOp):
        return None
    known = isinstance(op, GEOp) and (
        op.FUSION_KIND is FusionKind.ELEMENTWISE
        or isinstance(op, ReshapeOp | TransposeOp | BroadcastToOp)
    )
    if not known or op.regions:
        return "it may fail or be costly"
    sizes = [num_elements(value.type) for value in (*op.operands, *op.results)]
    if None in sizes:
        return "its size is not known"
    if max(size for size in sizes if size is not None) > CHEAP_ELEMENTS:
        return f"it has more than {CHEAP_ELEMENTS} elements"
    return "it may divide by zero" if _may_trap(op) else None


def _may_trap(op: Operation) -> bool:
    """Whether an op is an integer division, or a power, whose exponent may be negative."""
    if not isinstance(op, DivOp | ModOp | FmodOp | PowOp):
        return False
    types = [value.type for value in op.operands]
    return not all(is_tensor(type_) and is_float(type_.element_type) for type_ in types)


LOOP_PATTERNS: tuple[type[Rewrite], ...] = (
    ResolveLoopCondition,
    ForwardInvariantCarried,
    DropUnusedLoopResult,
    HoistInvariant,
)
