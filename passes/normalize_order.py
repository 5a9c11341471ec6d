"""`ge-normalize-order`: ops in the order in which results need them.

Exporters write the branches of a graph in whatever order they came about. Passes that decide one
after another, and names and operands of kernels, follow that order: graphs that differ in nothing
else would come out different. Afterwards the order is one of wiring alone: depth first from what a
block returns, operands from the first to the last, each op behind what it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.fusion.fuse_rules import blocks_of
from ge_dialect.passes.values import reads_of

NAME = "ge-normalize-order"
_RULE = "OrderByResults"


@dataclass(frozen=True)
class NormalizeOrderPass(ModulePass):
    """Puts ops behind what they read, depth first from the results of each block.

    Ops with effects, and those that nobody reads, keep their order. Kernels' bodies are not
    touched. Linear in ops.
    """

    name = NAME
    exact = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                for block in blocks_of(function):
                    _put_in_order(block)


def _put_in_order(block: Block) -> None:
    before = list(block.ops)
    after = order_of(before)
    moved = sum(one is not other for one, other in zip(before, after, strict=True))
    if not moved or not rewrites.permit(NAME, _RULE, before[-1]):
        return
    for op in before:
        op.detach()
    block.add_ops(after)
    statistics.count(NAME, _RULE)
    remarks.passed(NAME, _RULE, before[-1], lambda: f"{moved} of {len(before)} ops moved")


def order_of(ops: Sequence[Operation]) -> list[Operation]:
    """Returns the ops of a block in the order in which what it returns needs them.

    Args:
        ops: All of the block, each behind what it reads.
    """
    waiting = dict.fromkeys(ops)
    found: list[Operation] = []
    for root in ops:
        if root in waiting and (_is_unread(root) or not is_side_effect_free(root)):
            found += _behind_producers(root, waiting)
    # What only other blocks read stays in front of the terminator.
    return [*found[:-1], *waiting, *found[-1:]]


def _is_unread(op: Operation) -> bool:
    return all(result.first_use is None for result in op.results)


def _behind_producers(root: Operation, waiting: dict[Operation, None]) -> Iterator[Operation]:
    """Yields `root` and what it needs of `waiting`, producers first; takes them out of it."""
    del waiting[root]
    path: list[tuple[Operation, Iterator[SSAValue]]] = [(root, iter(reads_of(root)))]
    while path:
        op, values = path[-1]
        for value in values:
            producer = value.owner
            if isinstance(producer, Operation) and producer in waiting:
                del waiting[producer]
                path.append((producer, iter(reads_of(producer))))
                break
        else:
            path.pop()
            yield op
