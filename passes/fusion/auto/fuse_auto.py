"""`ge-fuse-auto`: fuses what the operator library has no kernel for.

Before: `%a = ge.add %x, %y`, `%m = ge.mul %a, %z`, `%r = ge.relu %m`, three kernels.
After: `%r = ge.fusion "FusedAddMulRelu"(%x, %y, %z)`, one, whose body is the three ops.

The pair of kernels that saves most HBM bytes is joined first, again and again: one that feeds the
other, or two that read the same value. A pair is joined only where no way leads out of it and back,
the tiles of all values in between fit on chip (`footprint.py`), the peak of live memory does not
rise, and few tiles do not make it slower by the machine model. Views cost nothing and go along.
Inner values that others read as well become results; what is cheap to compute from little, each
kernel that reads it computes for itself (`recompute.py`).

Limits: values whose size is not known keep products and reductions apart. Kernels of rules that
are not built in stay as they are. Example: tests/filecheck/passes/fuse_auto.mlir.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge.greatest import are_symbols_weighed, at_greatest, greatest_of
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.fusion.auto.build import build_kernel, kernel_name, put_in_order
from ge_dialect.passes.fusion.auto.choose import Chooser, Refusal
from ge_dialect.passes.fusion.auto.groups import Group, Groups
from ge_dialect.passes.fusion.auto.peak import Peak, peak_in_order
from ge_dialect.passes.fusion.auto.recompute import groups_of
from ge_dialect.passes.fusion.auto.signatures import Signatures
from ge_dialect.passes.fusion.footprint import Fit
from ge_dialect.passes.fusion.fuse_rules import blocks_of
from ge_dialect.passes.fusion.registry import growing_rules

if TYPE_CHECKING:
    from ge_dialect.targets import Target

NAME = "ge-fuse-auto"
_RULE = "JoinKernels"
_TRIES = 8
"""How often kernels are joined anew: with twice the bytes to spare below the peak each time, then,
where that changes nothing, with no value live longer at the peak; at last nowhere."""
_EVERYWHERE = (0, 1 << 62)


@dataclass(frozen=True)
class FuseAutoPass(ModulePass):
    """Joins kernels where that saves HBM traffic.

    Options:
    - `max-ops`: ops of one kernel, at most. Default 64, as in GE's own automatic fusion.
    - `max-products`: products and windows of one kernel, at most. Default 4: projections and their
      attention, or a feed-forward block; one more would be a kernel that no library has.
    - `target`: name of a chip, or path of a TOML file. Default: the target of the module.
    """

    name = NAME
    exact = True

    max_ops: int = 64
    max_products: int = 4
    target: str | None = None

    @at_greatest
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import target_of

        target = target_of(op, self.target)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                for block in blocks_of(function):
                    chooser = self._chosen(block, target)
                    _tell_refused(chooser, op)
                    if chooser.joined or chooser.groups.copied:
                        _build(block, chooser.groups)

    def _chosen(self, block: Block, target: Target) -> Chooser:
        """Returns what to join in a block: with more and more care, while the peak would rise."""
        alignment = target.hbm.alignment
        signatures, fits = Signatures(), dict[tuple[int, ...], Fit]()
        groups = groups_of(block, growing_rules(), target, signatures)
        before = peak_in_order(groups, alignment).bytes
        spare, strict = 0, list[tuple[int, int]]()
        known: Peak | None = None
        for _ in range(_TRIES):
            chooser = Chooser(groups, target, self.max_ops, self.max_products, strict, spare, fits)
            chooser.run()
            peak = peak_in_order(groups, alignment)
            if not chooser.joined or peak.bytes <= before:
                return chooser
            if peak == known or spare > before:  # more to spare changes nothing
                strict.append(peak.span)
            else:
                spare, known = 2 * spare or peak.bytes - before, peak
            groups = groups_of(block, growing_rules(), target, signatures)
        chooser = Chooser(groups, target, self.max_ops, self.max_products, [_EVERYWHERE], 0, fits)
        chooser.run()
        return chooser


def _build(block: Block, groups: Groups) -> None:
    built: dict[int, Operation] = {}
    for group in sorted(groups.groups.values(), key=lambda group: group.order):
        if len(group.members) == 1 and not groups.copies(group):
            continue
        last = group.members[max(group.members)]
        if not rewrites.permit(NAME, _RULE, last):
            continue
        count = len(group.leaves)
        name = kernel_name(group)
        remarks.passed(NAME, _RULE, last, lambda n=count, k=name: f"{n} ops fused into '{k}'")
        statistics.count(NAME, "kernels")
        built[group.number] = build_kernel(group, groups)
    if built:
        put_in_order(block, groups, built)


AT_SMALLER = "compile gears: at smaller sizes they might be one kernel"
"""The fix of what stays apart since symbols count as their greatest values."""

_apart: ContextVar[list[int] | None] = ContextVar("ge_apart", default=None)


@contextmanager
def apart_at_greatest() -> Generator[list[int]]:
    """Gives, for each two kernels that stay apart since symbols count as their greatest values, the
    bytes that one kernel would save."""
    found: list[int] = []
    token = _apart.set(found)
    try:
        yield found
    finally:
        _apart.reset(token)


def _tell_refused(chooser: Chooser, module: ModuleOp) -> None:
    """Says what stayed apart in the end, and why."""
    alive = chooser.groups.groups
    for first, last, refusal, saved in chooser.refused:
        if alive.get(first.number) is not first or alive.get(last.number) is not last:
            continue
        smaller = _might_join(chooser, first, last, refusal, module)
        if smaller and (listed := _apart.get()) is not None:
            listed.append(saved)
        remarks.missed(
            NAME,
            _RULE,
            _last(last),
            f"not with {_last(first).name}, which would save {saved} bytes: {refusal.message}",
            reason=refusal.reason,
            found=refusal.found or None,
            wanted=refusal.wanted or None,
            fix=AT_SMALLER if smaller else None,
        )


def _might_join(
    chooser: Chooser, first: Group, last: Group, refusal: Refusal, module: ModuleOp
) -> bool:
    """Whether two groups are apart that might be one at the least sizes of the symbols."""
    if not refusal.weighs or not are_symbols_weighed():
        return False
    if chooser.fit_now(first, last).shortage is None:
        return True  # bytes that are live or read again decide, which may be in any proportion
    with greatest_of(module, least=True):
        return chooser.fit_now(first, last).shortage is None


def _last(group: Group) -> Operation:
    return group.members[max(group.members)]
