"""The pattern driver: one worklist, patterns found by the class of the root op, a budget.

xDSL's own walker tries every pattern on every op and never stops on patterns that undo each other;
this one looks patterns up by root and names the two that do. Cost: linear in ops and rewrites.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriterListener, RewritePattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator, SymbolOpInterface

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp, set_type
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.passes import rewrites, statistics

REWRITES_PER_OP = 32
LEAST_BUDGET = 1024


class Rewrite(RewritePattern, ABC):
    """A pattern that says which ops it starts from.

    Attributes:
        roots: Classes of the op the pattern matches on; never a base class.
        reads: Classes of ops: where the pattern does or says something, one of them gives an
            operand of the root. None where an operand may come from anywhere.
        benefit: Higher is tried first; equal ones in the order they were given.
    """

    roots: ClassVar[tuple[type[Operation], ...]]
    reads: ClassVar[tuple[type[Operation], ...]] = ()
    benefit: ClassVar[int] = 1

    @abstractmethod
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrites `op` through `rewriter`, or leaves everything as it is."""


def is_dead(op: Operation) -> bool:
    """Whether an op has no user and no effect, so that it may be dropped."""
    for result in op.results:
        if result.first_use is not None:
            return False
    return bool(op.results) and not _is_needed(type(op)) and is_side_effect_free(op)


@cache
def _is_needed(op_class: type[Operation]) -> bool:
    """Whether ops of a class are there for something else than their results."""
    return op_class.has_trait(IsTerminator) or op_class.has_trait(SymbolOpInterface)


def can_stand_for(value: SSAValue, result: SSAValue) -> bool:
    """Whether `value` may take the place of `result`, though its type may say more or less.

    Ops of `ge` take any type of an operand that fits; a return, a terminator and a region need
    the very type that was declared.
    """
    return value.type == result.type or not _has_declared_type(result)


def _has_declared_type(result: SSAValue) -> bool:
    return any(
        not isinstance(use.operation, GEOp)
        or bool(use.operation.regions)
        or use.operation.has_trait(IsTerminator)
        for use in result.uses
    )


def _keep_declared_type(result: SSAValue, value: SSAValue) -> None:
    """Gives what a new op computes the type of what it replaces, where that must stay."""
    is_new = value.first_use is None and isinstance(value.owner, GEOp)
    if is_new and not can_stand_for(value, result):
        set_type(value, result.type)


class _Rewriter(PatternRewriter):
    """One rewriter for all ops in turn: making one costs more than most patterns."""

    def begin(self, op: Operation) -> None:
        """Starts on another op."""
        self._current_operation = op
        self._place = None
        self.has_done_action = False

    @property
    def insertion_point(self) -> InsertPoint:
        """In front of the op, unless a pattern said another place; most never ask."""
        if self._place is None:
            assert self._current_operation is not None
            self._place = InsertPoint.before(self._current_operation)
        return self._place

    @insertion_point.setter
    def insertion_point(self, place: InsertPoint) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._place: InsertPoint | None = place


_MOST_KNOWN = 4096
"""Combinations of classes whose patterns are kept; a graph has a few hundred."""


class PatternIndex:
    """Finds the patterns that an op may be the root of: by its class, then by those of the ops that
    give its operands, which are few combinations in a graph. May serve any number of drivers."""

    def __init__(self, patterns: Sequence[Rewrite]):
        self.by_root: dict[type[Operation], list[Rewrite]] = {}
        for pattern in sorted(patterns, key=lambda p: -p.benefit):
            for root in pattern.roots:
                self.by_root.setdefault(root, []).append(pattern)
        self._known: dict[tuple[type, frozenset[type]], Sequence[Rewrite]] = {}

    def of(self, op: Operation) -> Sequence[Rewrite]:
        """Returns the patterns to try at an op, in order."""
        if type(op) not in self.by_root:
            return ()
        key = type(op), frozenset([type(value.owner) for value in operands_of(op)])
        try:
            return self._known[key]
        except KeyError:
            patterns = [one for one in self.by_root[key[0]] if _may_read(one, key[1])]
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = patterns
            return patterns


def _is_unread(op: Operation) -> bool:
    """Whether nobody reads the first result of an op."""
    for result in op.results:
        return result.first_use is None
    return False


def _may_read(pattern: Rewrite, owners: Iterable[type]) -> bool:
    return not pattern.reads or any(issubclass(owner, pattern.reads) for owner in owners)


@dataclass
class Driver:
    """Applies patterns until none applies.

    Attributes:
        pass_name: For counts and errors.
        patterns: In order of preference among equal benefits; those of a pass that always has the
            same may have an index that is there already.
        inside_out: Whether an op comes after the ops of its regions, not before.
    """

    pass_name: str
    patterns: Sequence[Rewrite] | PatternIndex
    inside_out: bool = False
    worklist: dict[Operation, None] = field(default_factory=dict[Operation, None])
    rewrites: Counter[str] = field(default_factory=Counter[str])
    recent: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        known = self.patterns
        self._index = known if isinstance(known, PatternIndex) else PatternIndex(known)

    def run(self, module: ModuleOp) -> bool:
        """Rewrites `module` in place; returns whether anything changed. May be called again.

        Raises:
            GEError: The budget of rewrites is spent: two patterns undo each other.
        """
        self.rewrites.clear()
        self.recent.clear()
        self._counted = rewrites.active()
        index, roots = self._index, self._index.by_root
        ops = [op for op in module.walk(region_first=self.inside_out) if op is not module]
        self.worklist = dict.fromkeys(
            [op for op in reversed(ops) if type(op) in roots or _is_unread(op)]
        )
        budget = max(LEAST_BUDGET, REWRITES_PER_OP * len(ops))
        rewriter = _Rewriter(InsertPoint.at_end(module.body.block))
        rewriter.extend_from_listener(self._listener())
        while self.worklist:
            op, _ = self.worklist.popitem()
            if op.parent is None:
                continue
            if is_dead(op):
                self._erase_dead(op)
            elif (patterns := index.of(op)) and self._apply_first(patterns, op, rewriter):
                budget -= 1
                if budget < 0:
                    raise self._too_many()
        for name, times in sorted(self.rewrites.items()):
            statistics.count(self.pass_name, name, times)
        return bool(self.rewrites)

    def _apply_first(self, patterns: Sequence[Rewrite], op: Operation, rewriter: _Rewriter) -> bool:
        """Applies the first pattern that does something; returns whether one did."""
        rewriter.begin(op)
        self._location = op.location
        counted = self._counted
        if counted is not None and counted.spent:
            return False
        where = "" if counted is None else counted.where(op)
        for pattern in patterns:
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                name = type(pattern).__name__
                self.rewrites[name] += 1
                self.recent = [*self.recent[-7:], name]
                if counted is not None:
                    counted.note(self.pass_name, name, where)
                return True
        return False

    def _listener(self) -> PatternRewriterListener:
        return PatternRewriterListener(
            operation_insertion_handler=[self._inserted],
            operation_removal_handler=[self._removed],
            operation_modification_handler=[self._push],
            operation_replacement_handler=[self._replaced],
        )

    def _inserted(self, op: Operation) -> None:
        # xDSL leaves the location of new ops unknown; they come from the op that was matched.
        if isinstance(op.location, UnknownLoc):
            op.location = self._location
        self._push(op)

    def _removed(self, op: Operation) -> None:
        ops = list(op.walk()) if op.regions else (op,)
        for inner in ops:
            self._push_owners(operands_of(inner))
        for inner in ops:
            self.worklist.pop(inner, None)

    def _replaced(self, op: Operation, values: Sequence[SSAValue | None]) -> None:
        for result, value in zip(op.results, values, strict=True):
            if value is not None:
                _keep_declared_type(result, value)
            for use in result.uses:
                self._push(use.operation)

    def _push(self, op: Operation) -> None:
        self.worklist[op] = None

    def _push_owners(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            if isinstance(owner := value.owner, Operation):
                self._push(owner)

    def _erase_dead(self, op: Operation) -> None:
        self._removed(op)
        op.detach()
        op.erase()

    def _too_many(self) -> GEError:
        names = sorted(set(self.recent), key=lambda name: (-self.recent.count(name), name))
        shown = f"{names[0]} applies to its own result"
        if len(names) > 1:
            shown = f"{names[0]} and {names[1]} undo each other"
        return GEError(
            "GE0401",
            f"'{self.pass_name}' does not come to an end: {shown}",
            hint="disable one of them, or report this as a bug with the reproducer",
        )


def fused_location(*ops: Operation) -> Operation:
    """Returns the last of `ops`, with a location that names all of them."""
    from ge_dialect.locations import fuse

    ops[-1].location = fuse(op.location for op in ops)
    return ops[-1]
