"""Whether the first and the last block of a run came out alike in the optimised short function, so
that the blocks between them may be copies of one.

Each op of a block that is copied has a like elsewhere: in the other block, made from the same ops
of it; or, where the last block lacks its end, before the run, found by walking back from what the
first block reads there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from xdsl.ir import BlockArgument, Operation, SSAValue

from ge_dialect.ge.constants import constant_attr
from ge_dialect.passes.repeats.primitives import FIRST, LAST, Primitives, index_of
from ge_dialect.repeats import Place


@dataclass
class Likes:
    """What is alike in the two blocks.

    Attributes:
        ops: Of the short function.
        likes: For ops of the first block those of the last.
        before: For what the last block reads of the one before it, which is the first here: what
            the first one reads there.
        handed: The other way round.
        shared: What both blocks read, and all others.
        constants: Those that each block has of its own.
        seen: The ops of the first block that have a like: in the last, or before the run.
    """

    ops: Primitives
    likes: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    before: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    handed: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    shared: set[SSAValue] = field(default_factory=set[SSAValue])
    constants: set[SSAValue] = field(default_factory=set[SSAValue])
    seen: set[Operation] = field(default_factory=set[Operation])
    _behind: set[Operation] = field(default_factory=set[Operation])
    _weighted: set[Operation] = field(default_factory=set[Operation])
    _after: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    _walked: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    @staticmethod
    def of(ops: Primitives) -> Likes | None:
        """Returns what is alike; None where something takes what it reads from the block before it
        in one place, and from all blocks or another place in the other."""
        found = Likes(ops)
        found._find_bound()
        first: dict[tuple[int, ...], list[Operation]] = defaultdict(list)
        for op in ops.of_block(FIRST):
            first[ops.origins[op].spots].append(op)
        for op in ops.of_block(LAST):
            candidates = first[ops.origins[op].spots]
            if candidates and found._match(like := candidates.pop(0), op):
                found.likes[like] = op
        found.seen.update(found.likes)
        found._walk_back()
        found._share_sources()
        return None if found.shared & found.handed.keys() else found

    def _find_bound(self) -> None:
        """Finds the ops in no block that depend on one, or on its weights."""
        for op in self.ops.ops:
            if op in self.ops.origins:
                continue
            for value in self.ops.reads(op):
                if self.ops.maker(value) is not None or value.owner in self._behind:
                    self._behind.add(op)
                if self.ops.short.parameter(value) is not None or value.owner in self._weighted:
                    self._weighted.add(op)

    def _match(self, one: Operation, other: Operation) -> bool:
        """Whether an op is to the first block what another is to the last one."""
        reads = self.ops.reads(one), self.ops.reads(other)
        return _is_like(one, other) and all(map(self._match_read, *reads))

    def _match_read(self, one: SSAValue, other: SSAValue) -> bool:
        if one is other:
            return self._is_shared(one)
        if one.type != other.type:
            return False
        mine, theirs = self.ops.maker(one), self.ops.maker(other)
        if theirs is not None and self.ops.origins[theirs].block == FIRST:
            # Of the block before; the first reads there what is before it, always the same.
            return mine is None and self._is_handed(one, other)
        if mine is not None or theirs is not None:
            inside = mine is not None and self.likes.get(mine) is theirs
            return inside and index_of(one) == index_of(other)
        a, b = self.ops.short.parameter(one), self.ops.short.parameter(other)
        if a is None and b is None:
            return self._are_equal(one, other)
        return self._are_parameters(a, b, other)

    def _is_shared(self, value: SSAValue) -> bool:
        """Whether a value that both blocks read is for all blocks."""
        of_block = self.ops.maker(value) is not None or self.ops.short.parameter(value) is not None
        if of_block or value.owner in self._behind or value.owner in self._weighted:
            return False
        self.shared.add(value)
        return True

    def _is_handed(self, one: SSAValue, other: SSAValue) -> bool:
        if self.ops.short.parameter(one) is not None or one.owner in self._behind:
            return False
        again = self.before.setdefault(other, one), self.handed.setdefault(one, other)
        return again[0] is one and again[1] is other

    def _are_equal(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether two values are equal constants."""
        attr = constant_attr(one)
        if attr is None or attr != constant_attr(other):
            return False
        self.constants |= {one, other}
        return True

    def _are_parameters(self, a: Place | None, b: Place | None, other: SSAValue) -> bool:
        """Whether a parameter that the first block reads is to it what the other block reads."""
        last = self.ops.short.blocks.count - 1
        if a is not None and a[0] == last and b is None:
            # Of the block behind; the last reads there what is behind it, always the same.
            given = isinstance(other, BlockArgument) or constant_attr(other) is not None
            return given and self._after.setdefault(a[1], other) is other
        return a is not None and b is not None and a == (0, b[1]) and b[0] == last

    def _share_sources(self) -> None:
        """What is for all blocks is made from what is."""
        todo = list(self.shared)
        while todo:
            owner = todo.pop().owner
            if isinstance(owner, Operation) and owner in self.ops.outer:
                more = [value for value in self.ops.reads(owner) if value not in self.shared]
                self.shared.update(more)
                todo += more

    def _walk_back(self) -> None:
        """Finds likes before the run, of ops that make what the first block hands on."""
        todo = [pair for pair in self.before.items() if self._is_unseen(pair[0])]
        while todo:
            mine, theirs = todo.pop()
            if (known := self._walked.get(mine)) is not None:
                if known is not theirs:
                    return
                continue
            self._walked[mine] = theirs
            one, other = mine.owner, theirs.owner
            if index_of(mine) != index_of(theirs) or not self._is_before(other):
                return
            assert isinstance(one, Operation) and isinstance(other, Operation)
            pairs = list(zip(self.ops.reads(one), self.ops.reads(other), strict=False))
            if not _is_like(one, other) or not all(self._match_before(*pair) for pair in pairs):
                return
            self.seen.add(one)
            todo += [pair for pair in pairs if self._is_unseen(pair[0])]

    def _is_unseen(self, value: SSAValue) -> bool:
        """Whether a value is made in the first block by an op that is not in the last."""
        maker = self.ops.maker(value)
        return maker is not None and maker not in self.likes

    def _is_before(self, owner: object) -> bool:
        """Whether something is an op before the run."""
        return (
            isinstance(owner, Operation)
            and owner in self.ops.outer
            and owner not in self.ops.origins
            and owner not in self._behind
        )

    def _match_before(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether what an op of the first block reads is to it what another is to its like before
        the run. Where that is made by what has a like, nothing is asked but the type."""
        if one is other:
            return self._is_shared(one)
        if one.type != other.type or self.ops.maker(other) is not None:
            return False
        if self.ops.maker(one) is not None or one in self.handed:
            return True
        if (place := self.ops.short.parameter(one)) is None:
            return self._are_equal(one, other)
        if place[0] > 0:  # of the block behind; the other one is of the first block
            return self.ops.short.parameter(other) == (0, place[1])
        given = isinstance(other, BlockArgument) or constant_attr(other) is not None
        return given and self.ops.short.parameter(other) is None


def _is_like(one: Operation, other: Operation) -> bool:
    return (
        type(one) is type(other)
        and one.properties == other.properties
        and one.attributes == other.attributes
        and len(one.operands) == len(other.operands)
        and [result.type for result in one.results] == [result.type for result in other.results]
    )
