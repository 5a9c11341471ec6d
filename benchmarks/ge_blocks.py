"""GE's way of giving buffers memory, for comparison: blocks of few sizes, the smaller of two ways.

A block holds one buffer at a time, of its own size class; the classes are powers of two times the
smallest buffer, or one class for all. Afterwards a block may move into a larger one whose buffers
live at other times. Source: the block assigners of GE (`ge/graph/build/memory`), as described in
its public sources of 2021; written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, log2

ALIGNMENT = 512
LARGE = 8 << 20
"""From here on a class of two members or more stays on its own."""

Life = tuple[int, int, int]
"""Start, end (half-open) and bytes, rounded up to the alignment."""


@dataclass
class Block:
    """Bytes that buffers have one after the other.

    Attributes:
        kind: The size class.
        lives: Of its buffers and those of the blocks inside it.
        size: Of its largest buffer.
        taken: Bytes of the blocks inside it.
    """

    kind: int
    lives: list[Life] = field(default_factory=list[Life])
    size: int = 0
    taken: int = 0

    def add(self, life: Life) -> None:
        """Gives it one more buffer."""
        self.lives.append(life)
        self.size = max(self.size, life[2])

    def apart(self, other: Block) -> bool:
        """Whether no two buffers of the blocks are alive together."""
        return all(a[1] <= b[0] or b[1] <= a[0] for a in self.lives for b in other.lives)


def hybrid(lives: Sequence[Life]) -> int:
    """Returns the bytes of the better of the two ways."""
    lives = [life for life in lives if life[2]]
    if not lives:
        return 0
    classes = size_classes(sorted(life[2] for life in lives))
    largest = max(life[2] for life in lives)
    binary = total(lives, lambda size: next(limit for limit in classes if size <= limit), True)
    return min(binary, total(lives, lambda _: largest, False))


def size_classes(sizes: Sequence[int]) -> list[int]:
    """Returns the classes of sizes, rising: the largest member of each range that is kept."""
    least = ALIGNMENT if sizes[-1] > ALIGNMENT else sizes[0]
    count = max(1, ceil(log2(sizes[-1] / least)))
    ranges: list[list[int]] = [[] for _ in range(count)]
    for size in sizes:
        ranges[min(count - 1, max(0, ceil(log2(size / least)) - 1))].append(size)
    kept: list[int] = []
    waiting: list[int] = []
    for number, members in enumerate(ranges):
        waiting += members
        large = len(waiting) >= 2 and waiting[0] >= LARGE
        if waiting and (len(waiting) >= len(sizes) / count or large or number == count - 1):
            kept.append(waiting[-1])
            waiting = []
    return kept


def total(lives: Sequence[Life], kind_of: Callable[[int], int], merge: bool) -> int:
    """Returns the bytes of all blocks, after those that fit have moved into others."""
    blocks: list[Block] = []
    free: list[tuple[int, Block]] = []
    for life in sorted(lives, key=lambda life: life[0]):
        kind = kind_of(life[2])
        ready = [entry for entry in free if entry[1].kind == kind and entry[0] <= life[0]]
        if ready:
            entry = max(ready, key=lambda entry: entry[0])  # the one freed last
            free.remove(entry)
            block = entry[1]
        else:
            block = Block(kind)
            blocks.append(block)
        block.add(life)
        free.append((life[1], block))
    return sum(block.size for block in (merged(blocks) if merge else blocks))


def merged(blocks: Sequence[Block]) -> list[Block]:
    """Returns the blocks that are left when small ones lie head to tail inside larger ones."""
    left: list[Block] = []
    inside: set[int] = set()
    for number, parent in enumerate(blocks):
        if number in inside:
            continue
        left.append(parent)
        for other, child in enumerate(blocks[number + 1 :], start=number + 1):
            fits = parent.taken + child.size <= parent.size
            if other not in inside and fits and parent.apart(child):
                parent.taken += child.size
                parent.lives += child.lives
                inside.add(other)
    return left
