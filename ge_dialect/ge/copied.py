"""Bodies of kernels that are copies of one: made when somebody looks into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.ir import Block, Operation, Region


class CopiedRegion(Region):
    """A region with one block, which is made when it is first looked at.

    Attributes:
        like: What it is a copy of but for names and locations. Nobody changes that one, and it is
            in no op.
    """

    def __init__(self, like: Region, make: Callable[[], Block]):
        """Creates the region.

        Args:
            like: What it is a copy of.
            make: Returns the block.
        """
        super().__init__()
        self.like = like
        self._make: Callable[[], Block] | None = make

    @property
    def is_made(self) -> bool:
        """Whether somebody has looked into it, and may have changed it."""
        return self._make is None

    def _made(self) -> None:
        if (make := self._make) is not None:
            self._make = None
            self.add_block(make())

    @property
    def _first_block(self) -> Block | None:
        self._made()
        return self._first

    @_first_block.setter
    def _first_block(self, block: Block | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._first = block

    @property
    def _last_block(self) -> Block | None:
        self._made()
        return self._last

    @_last_block.setter
    def _last_block(self, block: Block | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._last = block

    _first: Block | None = None
    _last: Block | None = None
    _make = None


def structure_of(region: Region) -> Region:
    """Returns a region that is structurally equal: the one that it is a copy of, while nobody has
    looked into the copy, else itself. Not to be changed."""
    return region.like if isinstance(region, CopiedRegion) and not region.is_made else region


def walk_structure(op: Operation) -> Iterator[Operation]:
    """Yields an op and all ops in it, in the order of `walk`; in the place of those in a copy the
    ones that they are copies of, which have other names. Not to be changed."""
    yield op
    for region in op.regions:
        for block in structure_of(region).blocks:
            for inner in block.ops:
                yield from walk_structure(inner)


def find_ops(region: Region, wanted: Callable[[Operation], bool]) -> Iterator[Operation]:
    """Yields the ops in a region that are wanted, in the order of `walk`; bodies that are copies of
    one are looked into only if that one holds such an op.

    Args:
        region: Any.
        wanted: Whether an op is; follows from its structure.
    """
    known: dict[Region, bool] = {}

    def find(region: Region) -> Iterator[Operation]:
        for block in region.blocks:
            for op in block.ops:
                if wanted(op):
                    yield op
                for inner in op.regions:
                    if (like := structure_of(inner)) is inner or holds_some(like):
                        yield from find(inner)

    def holds_some(like: Region) -> bool:
        if like not in known:
            known[like] = any(map(wanted, like.walk()))
        return known[like]

    return find(region)
