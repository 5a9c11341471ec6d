"""Finds the longest run of equal blocks in a function.

Ops are compared by class, properties and result types; runs are found among the positions of ops
that occur once a block, so that the search is linear. Blocks are equal when their ops are wired
alike: to the same places of the same block or of the block before, to the very same value outside,
or to weights and arguments of one type, which may differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.numbers import Numbers

Place: TypeAlias = tuple[int, int]
"""Block of a run, and position of an op in it."""

KEPT = 4
"""Blocks that are optimised: the first, the last, and two between them to compare."""


@dataclass
class Run:
    """Equal blocks, one after the other.

    Attributes:
        blocks: Their ops without constants, in order.
        places: Where in the run an op is.
        parameters: For each weight or argument of its own: the block, and which one it is there.
    """

    blocks: list[list[Operation]]
    places: dict[Operation, Place] = field(default_factory=dict[Operation, Place])
    parameters: dict[SSAValue, Place] = field(default_factory=dict[SSAValue, Place])

    def __post_init__(self) -> None:
        for number, block in enumerate(self.blocks):
            self.places |= {op: (number, position) for position, op in enumerate(block)}

    @property
    def skipped(self) -> range:
        """The numbers of the blocks that are copies in the end."""
        return range(2, len(self.blocks) - 2)


def find_run(block: Block, least_repeats: int) -> Run | None:
    """Returns the longest run of at least `least_repeats` equal blocks, or None."""
    ops: list[Operation] = []
    for op in block.ops:
        if type(op) is not ConstantOp and type(op) is not ReturnOp:
            if not isinstance(op, GEOp) or op.regions or op.attributes:
                return None
            ops.append(op)
    kinds = _kinds(ops)
    best = Run([])
    for start, period, count in _candidates(kinds, least_repeats):
        if count * period <= sum(map(len, best.blocks)):
            continue
        blocks = [ops[start + i * period : start + (i + 1) * period] for i in range(count)]
        run = _wired_alike(Run(blocks))
        if len(run.blocks) * period > sum(map(len, best.blocks)):
            best = run
    return best if len(best.blocks) >= max(least_repeats, KEPT + 1) else None


def _kinds(ops: Sequence[Operation]) -> list[int]:
    """Returns a number for each op; ops that could take each other's place have the same."""
    known: dict[Hashable, int] = {}
    kinds: list[int] = []
    numbers = Numbers()
    for op in ops:
        given = op.properties
        properties = tuple([(name, numbers.of(given[name])) for name in sorted(given)])
        types = tuple([numbers.of(result.type) for result in op.results])
        key = (type(op), len(operands_of(op)), properties, types)
        kinds.append(known.setdefault(key, len(known)))
    return kinds


def _candidates(kinds: Sequence[int], least: int) -> list[tuple[int, int, int]]:
    """Returns start, period and count of runs by kinds alone, the most regular ones first."""
    where: dict[int, list[int]] = defaultdict(list)
    for position, kind in enumerate(kinds):
        where[kind].append(position)
    found: dict[tuple[int, int, int], None] = {}
    periods: dict[int, None] = {}
    for positions in sorted(where.values(), key=len):
        gaps = [b - a for a, b in pairwise(positions)]
        if len(positions) >= least and gaps.count(gaps[0]) + 1 >= least:
            periods.setdefault(max(gaps, key=gaps.count))
    for period in periods:
        start = 0
        for position in range(len(kinds) - period + 1):
            here = position + period < len(kinds) and kinds[position] == kinds[position + period]
            if here:
                continue
            if (count := (position - start + period) // period) >= least:
                found.setdefault((start, period, count))
            start = position + 1
    return list(found)


def _wired_alike(run: Run) -> Run:
    """Returns the longest part of a run whose blocks are wired alike, with their parameters.

    Its first block may be wired in another way: that one is not copied.
    """
    best = (0, 0)
    start = 1
    known: list[str] | None = None
    wiring: list[str] = []
    for number in range(1, len(run.blocks) - 1):
        found = _wiring(run, number)
        if found is None or (known is not None and found != known):
            start, found = (number, found) if found is not None else (number + 1, None)
        known = found
        if found is not None and number + 2 - (start - 1) > best[1] - best[0]:
            best, wiring = (start - 1, number + 2), found
    alike = Run(run.blocks[best[0] : best[1]])
    return alike if alike.blocks and _note_parameters(alike, wiring) else Run([])


def _wiring(run: Run, number: int) -> list[str] | None:
    """Returns how a block is wired, if the one after it is wired so as well; else None."""
    found: list[str] = []
    for one, next_ in zip(run.blocks[number], run.blocks[number + 1], strict=True):
        for a, b in zip(operands_of(one), operands_of(next_), strict=True):
            if (kind := _relation(run, number, a, b)) is None:
                return None
            found.append(kind)
    return found


def _relation(run: Run, number: int, a: SSAValue, b: SSAValue) -> str | None:
    """Returns what `a` in a block and `b` in the next one have in common, None for nothing."""
    if a is b:
        return "same"
    if a.type != b.type:
        return None
    mine, theirs = run.places.get(_op(a)), run.places.get(_op(b))
    if mine is not None and theirs is not None:
        if mine[1] == theirs[1] and _index(a) == _index(b) and theirs[0] - mine[0] == 1:
            return {0: "inside", 1: "before"}.get(number - mine[0])
        return None
    if mine is not None or theirs is not None:
        return None
    if _equal_constants(a, b):
        return "constant"
    alike = isinstance(a, BlockArgument) == isinstance(b, BlockArgument)
    return "own" if alike and is_parameter(a) and is_parameter(b) else None


def _op(value: SSAValue) -> Operation:
    return value.owner if isinstance(value, OpResult) else _NOBODY


_NOBODY = ReturnOp()


def _index(value: SSAValue) -> int:
    return value.index if isinstance(value, OpResult) else -1


def _equal_constants(a: SSAValue, b: SSAValue) -> bool:
    one, other = a.owner, b.owner
    return (
        isinstance(one, ConstantOp) and isinstance(other, ConstantOp) and one.value == other.value
    )


def is_parameter(value: SSAValue) -> bool:
    """Whether a value may differ from block to block: a weight or an argument."""
    if isinstance(owner := value.owner, ConstantOp):
        return isinstance(owner.value, WeightAttr)
    return isinstance(value, BlockArgument)


def _note_parameters(run: Run, wiring: Sequence[str]) -> bool:
    """Notes which block has which parameter in which place; False where they do not match."""
    wanted: list[int] | None = None
    for number, block in reversed(list(enumerate(run.blocks))):
        flat = [value for op in block for value in operands_of(op)]
        own = [value for value, kind in zip(flat, wiring, strict=True) if kind == "own"]
        slots = {value: slot for slot, value in enumerate(dict.fromkeys(own))}
        uses = [slots[value] for value in own]
        wanted = uses if wanted is None else wanted
        if uses != wanted or not all(map(is_parameter, slots)):
            return number == 0  # the first block may have what it likes
        if not run.parameters.keys().isdisjoint(slots):
            return False
        run.parameters |= {value: (number, slot) for value, slot in slots.items()}
    return True
