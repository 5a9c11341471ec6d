"""The working sets of kernels: what a trial of fusion has found is there when they are tiled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import count

from xdsl.ir import Block, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.passes.tiles.body import KernelBody
from ge_dialect.passes.tiles.build import streaming_set, working_set
from ge_dialect.passes.tiles.working_set import WorkingSet

_MOST_KNOWN = 256
"""Trials of which the sets are kept: a model has few, and those of the last one may go."""


class KernelSets:
    """What a kernel needs on the chip, each form of it found when it is asked for.

    Raises:
        ValueError: A shape is not static.
    """

    def __init__(self, block: Block):
        self._body = KernelBody(block)

    @cached_property
    def working(self) -> WorkingSet:
        """As `working_set` says."""
        return working_set(self._body)

    @cached_property
    def streaming(self) -> WorkingSet | None:
        """As `streaming_set` says."""
        return streaming_set(self._body)


_known: dict[Structure, KernelSets] = {}


def sets_of(block: Block) -> KernelSets:
    """Returns the sets of a kernel: those of a trial where one was of just these ops.

    Args:
        block: The body of the kernel, static and without regions.
    """
    ops = [op for op in block.ops if isinstance(op, GEOp) and not isinstance(op, ConstantOp)]
    last = block.last_op
    assert last is not None
    read = dict.fromkeys([v for op in ops for v in operands_of(op)])
    if [v for v in read if v.owner is block] != [*block.args]:
        return KernelSets(block)  # tiles name operands by their numbers, trials have another order
    found = _known.get(structure(ops, operands_of(last), _is_constant))
    return KernelSets(block) if found is None else found


def tried_sets(key: Structure, block: Callable[[], Block]) -> KernelSets:
    """Returns the sets of a kernel that is tried, and keeps them for who comes to build it.

    Args:
        key: As `structure` gives it.
        block: Gives the body of the kernel, with operands in the order in which they are read; in
            no region, as it is kept.
    """
    if (found := _known.get(key)) is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[key] = KernelSets(block())
    return found


class Structure:
    """What is equal for ops that compute the same, whatever their operands are."""

    __slots__ = ("_hash", "_parts")

    def __init__(self, parts: Hashable):
        self._parts = parts
        self._hash = hash(parts)  # of many words, and asked for at each look-up

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self._parts == other._parts

    def __hash__(self) -> int:
        return self._hash


def structure(
    ops: Sequence[GEOp],
    results: Sequence[SSAValue],
    is_inside: Callable[[SSAValue], bool],
    alias: Mapping[SSAValue, SSAValue] | None = None,
) -> Structure:
    """Returns the structure of ops.

    Args:
        ops: Producers first, constants left out; without regions.
        results: What is read outside.
        is_inside: Whether a constant is part of the kernel.
        alias: What values stand for that are arguments or results of kernels in the kernel.
    """
    numbers: dict[SSAValue, int] = defaultdict(count().__next__)
    stands_for = (alias or {}).get
    found: list[Hashable] = []
    for op in ops:
        read = tuple([numbers[stands_for(v, v)] for v in operands_of(op)])
        made = tuple([numbers[v] for v in op.results])
        found.append((op.name, read, made, *op.properties.items()))
    types = tuple([value.type for value in numbers])
    inside = [n for v, n in numbers.items() if isinstance(v.owner, ConstantOp) and is_inside(v)]
    return Structure((*found, types, *inside, tuple([numbers[v] for v in results])))


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, ConstantOp)
