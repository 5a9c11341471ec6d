"""What a kernel may leave out of the memory of a core: streams, and keys held in L2.

What is made of operands by elementwise ops, and by one norm, is computed again for each block of
what reads it: a norm reads its operand for the sums of each row, and once more for its elements.
None of that has to be there as a whole.

Where projections make the keys and values of an attention, a kernel takes one head after the other:
keys and values of a head lie in the share of L2 that a core has, and are computed once, in the
first turn of the loops over queries. What they are computed from is whole, and passes in blocks;
other readers of it take a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.normalization import NormalizationOp
from ge_dialect.ge.windows import aligned_axes
from ge_dialect.passes.fusion.tiling import Role, role_of

_KEYS = (1, 2)
"""Operands of an attention: its keys and values."""


@dataclass
class Streams:
    """What streams through a kernel.

    Attributes:
        held: Values that lie in L2: keys and values of an attention that are computed.
        passing: Values that pass in blocks.
        loose: Readers of what is whole that take a part of it, with the value.
    """

    held: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    passing: set[SSAValue] = field(default_factory=set[SSAValue])
    loose: set[tuple[GEOp, SSAValue]] = field(default_factory=set[tuple[GEOp, SSAValue]])


def streams_of(ops: Sequence[GEOp], results: Sequence[SSAValue]) -> Streams | None:
    """Returns what streams through a kernel; None where nothing does.

    Args:
        ops: Of the body, producers first, constants left out.
        results: Of the kernel.
    """
    walk = _Walk(list(ops), set(results))
    walk.add_cheap()
    attentions = [op for op in ops if isinstance(op, FlashAttentionOp)]
    if len(attentions) == 1:
        walk.add_heads(attentions[0])
    found = walk.found
    return found if found.held or found.passing else None


def _takes_blocks(op: GEOp) -> bool:
    """Whether an op can be computed from a block of its operands at a time."""
    if role_of(type(op)) in (Role.POINT, Role.MOVE, Role.REDUCE):
        return True
    return isinstance(op, MatmulOp | GemmOp)


@dataclass
class _Walk:
    ops: list[GEOp]
    results: set[SSAValue]
    found: Streams = field(default_factory=Streams)
    made: dict[SSAValue, GEOp] = field(default_factory=dict[SSAValue, GEOp])
    readers: dict[SSAValue, list[GEOp]] = field(default_factory=dict[SSAValue, list[GEOp]])
    cheap: set[GEOp] = field(default_factory=set[GEOp])

    def __post_init__(self) -> None:
        for op in self.ops:
            for operand in op.operands:
                self.readers.setdefault(operand, []).append(op)
            for result in op.results:
                self.made[result] = op
        self._find_cheap()

    def _find_cheap(self) -> None:
        """Finds what may be computed again for blocks: elements, and one norm of them."""
        norms: dict[SSAValue, int] = {}
        for op in self.ops:
            is_norm = isinstance(op, NormalizationOp)
            count = max((norms.get(operand, 0) for operand in op.operands), default=0) + is_norm
            if count < 2 and (is_norm or role_of(type(op)) in (Role.POINT, Role.MOVE)):
                self.cheap.add(op)
            else:
                count = 2
            norms.update(dict.fromkeys(op.results, count))

    def add_cheap(self) -> None:
        """Finds what may be computed, or read, again for each block of what reads it."""
        for value, readers in self.readers.items():
            op = self.made.get(value)
            if (op is None or op in self.cheap) and all(map(_takes_blocks, readers)):
                self.found.passing.add(value)
        for op in self.ops:  # what only leaves the kernel goes block by block
            by_blocks = op in self.cheap or role_of(type(op)) is Role.REDUCE
            if by_blocks and not any(result in self.readers for result in op.results):
                self.found.passing.update(op.results)

    def add_heads(self, attention: FlashAttentionOp) -> None:
        """Finds the projections of keys and values, where both are computed head by head."""
        computed = [attention.operands[index] for index in _KEYS]
        computed = [value for value in computed if value in self.made]
        projected, chain, sources = dict[GEOp, None](), set[GEOp](), dict[SSAValue, None]()
        for value in computed:
            if not self._back(value, projected, chain, sources):
                return
        if not projected or not self._spread(sources, chain):
            return
        roots = [self.root(value) for value in computed]
        self.found.held.update(dict.fromkeys(roots))
        own = {*projected, *chain}
        for op in own:
            self.found.passing.update(
                result
                for result in op.results
                if self.root(result) not in self.found.held
                and all(reader in own for reader in self.readers.get(result, ()))
            )
        self.found.passing.update(sources)
        for value in sources:
            for op in self.readers.get(value, ()):
                if op not in own and self._takes_part(op, value):
                    self.found.loose.add((op, value))

    def _back(
        self,
        value: SSAValue,
        projected: dict[GEOp, None],
        chain: set[GEOp],
        sources: dict[SSAValue, None],
    ) -> bool:
        """Walks from keys or values to their projections; False where something else is there."""
        waiting = [value]
        while waiting:
            value = waiting.pop()
            op = self.made.get(value)
            if op is None:
                sources[value] = None  # such as the angles of a rotary embedding
                continue
            if op in projected or op in chain:
                continue
            if isinstance(op, MatmulOp | GemmOp):
                projected[op] = None
                sources[op.operands[0]] = None
                continue
            is_norm = isinstance(op, NormalizationOp)
            if not is_norm and role_of(type(op)) not in (Role.POINT, Role.MOVE):
                return False
            chain.add(op)
            waiting += op.operands
        return True

    def _spread(self, sources: dict[SSAValue, None], chain: set[GEOp]) -> bool:
        """Adds what sources are computed from; False where that is not cheap."""
        waiting = list(sources)
        while waiting:
            op = self.made.get(waiting.pop())
            if op is None or op in chain:
                continue
            if op not in self.cheap:
                return False
            chain.add(op)
            for operand in op.operands:
                if operand not in sources:
                    sources[operand] = None
                    waiting.append(operand)
        return True

    def _takes_part(self, op: GEOp, value: SSAValue) -> bool:
        return any(
            operand is value and aligned_axes(op, index)
            for index, operand in enumerate(op.operands)
        )

    def root(self, value: SSAValue) -> SSAValue:
        """Returns the value whose bytes another has."""
        while (op := self.made.get(value)) is not None and (view := op.view_of()) is not None:
            value = op.operands[view]
        return value
