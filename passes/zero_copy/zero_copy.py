"""`ge-zero-copy`: pieces and joined values without moving a byte.

Before:
```mlir
%a = ge.exp %x : (tensor<8xf32>) -> tensor<8xf32>
%b = ge.neg %x : (tensor<8xf32>) -> tensor<8xf32>
%c = ge.concat %a, %b axis 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
```
After, `%c` says that its operands are written straight into it, each at its own offset:
```mlir
%c = ge.concat %a, %b axis 0 {ge.zero_copy = array<i64: 0, 1>} : ...
```

A split or slice gets a unit: its results are views of the operand. `ge-bufferize` builds what the
marks say, `ge_exec.view` at an offset, and `ge-verify-plan` proves it right. Of a concatenation one
operand may be left to a copy: that is one task, as before, with fewer bytes.

Conditions: `legality.py`. Views let bytes live longer; where that would raise the peak of the order
as it is, they are left out, unless `grow` is set. Example: tests/filecheck/passes/zero_copy.mlir.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge.access import ops_of
from ge_dialect.ge.greatest import at_greatest, byte_size
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.structure import IfOp, LoopOp
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.schedule.model import model_of
from ge_dialect.passes.schedule.profile import profile_of
from ge_dialect.passes.zero_copy.legality import Refusal, rules_of
from ge_dialect.passes.zero_copy.marks import mark_parts, mark_pieces, unmark
from ge_dialect.remarks import ReasonClass

NAME = "ge-zero-copy"
_MAX_COPIES = 1
"""Operands of a concatenation that may be copied: as many tasks as it was before."""
_MAX_TRIALS = 16
"""Peaks that are computed for one block, each in time linear in its ops."""


@dataclass(frozen=True)
class ZeroCopyPass(ModulePass):
    """Marks the splits, slices and concatenations that move no bytes.

    Options:
    - `grow`: whether the peak of memory may rise for it. Default false.
    - `target`: name of a chip, or path of a TOML file, whose alignment counts. Default: the target
      of the module.
    """

    name = NAME
    exact = True

    grow: bool = False
    target: str | None = None

    @at_greatest
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import target_of

        target = target_of(op, self.target)
        marker = Marker(target.tiers["ub"].alignment, target.hbm.alignment, self.grow)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and len(function.body.blocks) == 1:
                marker.mark(function.body.block)


@dataclass(frozen=True)
class Choice:
    """An op that may move no bytes; `parts` are the operands of a concatenation."""

    op: ConcatOp | SplitOp | SliceOp
    parts: Sequence[int] = ()

    def take(self) -> None:
        """Marks the op."""
        if isinstance(self.op, ConcatOp):
            mark_parts(self.op, self.parts)
        else:
            mark_pieces(self.op)

    @property
    def saved(self) -> int:
        """Bytes that are neither read nor written any more."""
        if isinstance(self.op, ConcatOp):
            return 2 * sum(byte_size(self.op.inputs[i].type) or 0 for i in self.parts)
        return 2 * sum(byte_size(value.type) or 0 for value in self.op.results)


@dataclass(frozen=True)
class Marker:
    """Marks ops, inner blocks first.

    Attributes:
        granule: Alignment of what is read or written, in bytes.
        alignment: Of buffers, in bytes.
        grow: Whether the peak may rise.
    """

    granule: int
    alignment: int
    grow: bool

    def mark(self, block: Block) -> int:
        """Marks the ops of a block; returns the bytes alive at its peak, 0 where not known.

        Nobody asks for that of a function, so that one with nothing to mark is not weighed.
        """
        ops = ops_of(block)
        workspaces: dict[Operation, int] = {
            op: max(self.mark(region.block) for region in op.regions)
            for op in ops
            if isinstance(op, IfOp | LoopOp)
        }
        for op in ops:
            if op.attributes:
                unmark(op)
        movers = [op for op in ops if isinstance(op, ConcatOp | SplitOp | SliceOp)]
        if isinstance(block.parent_op(), FuncOp) and not movers:
            return 0
        before = self._peak(block, workspaces)
        choices = self._choices(block)
        if before is None:
            return 0
        limit = sys.maxsize if self.grow else before
        kept = self._take(block, workspaces, choices, limit) if choices else []
        for choice in kept:
            statistics.count(NAME, choice.op.name.removeprefix("ge."))
            remarks.passed(NAME, "view", choice.op, _what(choice))
        after = self._peak(block, workspaces) if kept else before
        return after or 0

    def _peak(self, block: Block, workspaces: dict[Operation, int]) -> int | None:
        model = model_of(block, self.alignment, workspaces)
        return None if model is None else profile_of(model, range(len(model.units))).peak

    def _choices(self, block: Block) -> list[Choice]:
        """Returns what the conditions allow, splits and slices first; says why not for the rest."""
        rules = rules_of(block, self.granule)
        found: list[Choice] = []
        for op in block.ops:
            if isinstance(op, SplitOp | SliceOp) and op.view_of() is None:
                if (refusal := rules.pieces(op)) is not None:
                    _refuse(op, refusal)
                elif rewrites.permit(NAME, "view", op):
                    found.append(Choice(op))
                    mark_pieces(op)
        taken: set[SSAValue] = set()
        for op in reversed([op for op in block.ops if isinstance(op, ConcatOp)]):
            own = set(taken)
            parts, refusal = rules.parts(op, own)
            copies = len(op.inputs) - len(parts)
            if parts and copies <= _MAX_COPIES and rewrites.permit(NAME, "view", op):
                taken = own
                found.append(Choice(op, parts))
            elif refusal is not None:
                _refuse(op, refusal)
        return found

    def _take(
        self, block: Block, workspaces: dict[Operation, int], choices: list[Choice], limit: int
    ) -> list[Choice]:
        """Marks as many of the choices as keep the peak within the limit; returns these.

        All at once where that does; else one half, then of the other what still fits, and so on
        until `_MAX_TRIALS` peaks have been looked at.
        """
        kept: list[Choice] = []
        groups, trials = [choices], 0
        while groups:
            group = groups.pop()
            for choice in group:
                choice.take()
            trials += 1
            if (self._peak(block, workspaces) or 0) <= limit:
                kept += group
                continue
            for choice in group:
                unmark(choice.op)
            if len(group) > 1 and trials < _MAX_TRIALS:
                half = len(group) // 2
                groups += [group[half:], group[:half]]
                continue
            for choice in group:
                _refuse(choice.op, Refusal(ReasonClass.COST, "memory would need a higher peak"))
        return kept


def _what(choice: Choice) -> str:
    if not isinstance(choice.op, ConcatOp):
        return f"lies inside the operand: {choice.saved} bytes not moved"
    parts, all_parts = len(choice.parts), len(choice.op.inputs)
    return f"{parts} of {all_parts} parts written in place: {choice.saved} bytes not moved"


def _refuse(op: Operation, refusal: Refusal) -> None:
    remarks.missed(
        NAME,
        "view",
        op,
        refusal.message,
        reason=refusal.reason,
        found=refusal.found,
        wanted=refusal.wanted,
    )
