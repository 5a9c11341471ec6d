"""`ge-dce`: drops ops that nobody uses and that have no effect."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.driver import is_dead

NAME = "ge-dce"


@dataclass(frozen=True)
class DCEPass(ModulePass):
    """Drops unused pure ops, users before producers, inside regions as well."""

    name = NAME
    exact = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        worklist = dict.fromkeys(inner for inner in op.walk() if inner is not op)
        dropped = 0
        while worklist:
            candidate, _ = worklist.popitem()
            if candidate.parent is None or not is_dead(candidate):
                continue
            if not rewrites.permit(NAME, "drop", candidate):
                break
            for inner in candidate.walk():
                worklist.pop(inner, None)
            # A producer read inside the dead op's regions may be dead now, too.
            owners = {value.owner: None for inner in candidate.walk() for value in inner.operands}
            candidate.detach()
            candidate.erase()
            worklist |= {owner: None for owner in owners if isinstance(owner, Operation)}
            dropped += 1
        statistics.count(NAME, "dropped", dropped)
