"""How a kernel is computed tile by tile, and where on the chip its values lie meanwhile.

A kernel's iteration space is a nest of loops, outermost first; each loop has an extent and a tile.
Every value of the body is cut along some loops: a dimension names the loops that cut it, each with
the elements of the dimension that one step of the loop stands for. What no loop cuts is whole in
every tile; a result that some loop does not cut is written in the first turn of that loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from xdsl.ir import Block, Data, Operation, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

TIERS = ("l1", "ub", "l0c")
"""Levels of memory of one core: of operands of products, of vectors, of results of products."""

SHARED_TIER = "l2"
"""Where values are held that several turns of loops read; a core has a share of it."""

SCORES, WEIGHTS = "scores", "weights"
"""Names of the inner values of an attention, behind its own and a point."""

Cut: TypeAlias = tuple[tuple[int, int], ...]
"""How one dimension is cut: (loop, elements a step), outermost first; none where it is whole."""

Halo: TypeAlias = tuple[int, int]
"""Elements that a tile has before and after those of its steps: what windows reach into."""


@dataclass(frozen=True, slots=True)
class TileLoop:
    """A loop over tiles.

    Attributes:
        extent: Steps in all.
        tile: Steps of one tile; the last tile may have fewer.
        inner: Whether it runs inside of each tile, over the keys of an attention.
    """

    extent: int
    tile: int
    inner: bool = False

    @property
    def trips(self) -> int:
        """How many tiles there are along the loop."""
        return -(-self.extent // self.tile)

    def span(self, index: int) -> tuple[int, int]:
        """Returns the first step of a tile, and the first after it."""
        start = index * self.tile
        return start, min(start + self.tile, self.extent)


@dataclass(frozen=True, slots=True)
class TileBuffer:
    """Where the tiles of a value lie.

    The tile of a dimension with a halo may overlap those beside it: of what its cut says it has
    `halos[axis]` more elements before and after, as far as there are any.

    Attributes:
        name: Of the value, as `value_names` gives it.
        tier: One of `TIERS`, or `SHARED_TIER`: what lies there is computed once for all turns of
            the loops that do not cut it.
        offset: In bytes, from the start of the tier of one core.
        size: In bytes, of one copy. Of an operand or a result it may be less than a tile: then the
            tile passes through in blocks of this size.
        copies: 2 where the next tile is fetched, or the last one written, meanwhile.
        cuts: One a dimension.
        halos: One a dimension, None where tiles do not overlap; empty where none do.
    """

    name: str
    tier: str
    offset: int
    size: int
    copies: int
    cuts: tuple[Cut, ...]
    halos: tuple[Halo | None, ...] = ()

    def halo(self, axis: int) -> Halo | None:
        """Returns the halo of a dimension; None where it has none."""
        return self.halos[axis] if self.halos else None

    def span(self, axis: int, spans: Sequence[tuple[int, int]], size: int) -> tuple[int, int]:
        """Returns where a tile starts and ends in a dimension of `size` elements."""
        if not (cut := self.cuts[axis]) and not self.halos:
            return 0, size
        start, end = span_of(cut, spans, size)
        if not self.halos or (halo := self.halos[axis]) is None:
            return start, end
        return max(0, start - halo[0]), min(size, end + halo[1])

    def shape(self, spans: Sequence[tuple[int, int]], shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of a tile of the value, which is of some shape."""
        ends = [self.span(axis, spans, size) for axis, size in enumerate(shape)]
        return tuple(end - start for start, end in ends)

    @property
    def end(self) -> int:
        """First byte after all copies."""
        return self.offset + self.size * self.copies

    def __str__(self) -> str:
        return f"{self.name}: {self.tier.upper()}[{self.offset}, {self.size * self.copies}]"


@dataclass(frozen=True, slots=True)
class Tiling:
    """The tiling of a kernel.

    Attributes:
        loops: Outermost first; inner ones last.
        buffers: One a value of the body that is no constant, in order, then two an attention.
        reread: Bytes that are read from HBM once more because of the tiles.
    """

    loops: tuple[TileLoop, ...]
    buffers: tuple[TileBuffer, ...]
    reread: int = 0

    @property
    def outer(self) -> Sequence[TileLoop]:
        """The loops over tiles of the results."""
        return [loop for loop in self.loops if not loop.inner]

    @property
    def tiles(self) -> int:
        """How many tiles the results have."""
        count = 1
        for loop in self.outer:
            count *= loop.trips
        return count

    def by_name(self) -> dict[str, TileBuffer]:
        """Returns the buffers by name."""
        return {buffer.name: buffer for buffer in self.buffers}

    def steps(self) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yields the tiles in order, each as the span of every outer loop."""
        spans = [[loop.span(index) for index in range(loop.trips)] for loop in self.outer]
        yield from product(*spans)

    def used(self, tier: str) -> int:
        """Returns the bytes of a tier that the kernel needs."""
        return max((buffer.end for buffer in self.buffers if buffer.tier == tier), default=0)


def span_of(cut: Cut, spans: Sequence[tuple[int, int]], size: int) -> tuple[int, int]:
    """Returns where a tile starts and ends in a dimension.

    Args:
        cut: Of the dimension.
        spans: Of the loops.
        size: Of the dimension, in elements.
    """
    if not cut:
        return 0, size
    start = last = 0
    for loop, stride in cut:
        first, end = spans[loop]
        start += first * stride
        last += (end - 1) * stride
    return start, last + min([stride for _, stride in cut])


def value_names(block: Block) -> dict[str, SSAValue]:
    """Returns the values of a kernel's body by name, in order, constants left out.

    Arguments are `in0`, `in1` and so on; results are named after their op, and numbered together.
    """
    found: dict[str, SSAValue] = {f"in{arg.index}": arg for arg in block.args}
    for result in results_of(block):
        owner = result.owner
        assert isinstance(owner, Operation)
        found[f"{owner.name.rpartition('.')[2]}{len(found) - len(block.args)}"] = result
    return found


def results_of(block: Block) -> Iterator[SSAValue]:
    """Yields the results of the ops of a body in order, those of constants left out."""
    for op in block.ops:
        if op.name != "ge.constant":
            yield from op.results


@irdl_attr_definition
class TilingAttr(Data[Tiling]):
    """The tiling of a kernel.

    `#ge_exec.tiling<[32 by 1, 1024 by 128], ["in0" ub[0, 4096 x 2] (0, 1, -)]>`: the loops, then
    the place of the tiles of each value in a level of memory of one core, as offset and size in
    bytes, twice where two tiles are there at a time, and how its dimensions are cut: `-` not at
    all, `1` along loop 1, `1*64` in steps of 64 elements, `0*64 + 1` along two loops; `1 halo 2 1`
    has two elements before and one after what loop 1 says. `keys` marks a loop inside of each tile.
    `reread 4096` says how many bytes are read from HBM once more.
    """

    name = "ge_exec.tiling"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Tiling:
        with parser.in_angle_brackets():
            square = parser.Delimiter.SQUARE
            loops = parser.parse_comma_separated_list(square, lambda: _parse_loop(parser))
            parser.parse_punctuation(",")
            buffers = parser.parse_comma_separated_list(square, lambda: _parse_buffer(parser))
            reread = parser.parse_integer() if parser.parse_optional_keyword("reread") else 0
        return Tiling(tuple(loops), tuple(buffers), reread)

    def print_parameter(self, printer: Printer) -> None:
        loops = ", ".join([_loop_text(loop) for loop in self.data.loops])
        buffers = ", ".join([_buffer_text(buffer) for buffer in self.data.buffers])
        reread = f" reread {self.data.reread}" if self.data.reread else ""
        printer.print_string(f"<[{loops}], [{buffers}]{reread}>")


def _loop_text(loop: TileLoop) -> str:
    return f"{'keys ' if loop.inner else ''}{loop.extent} by {loop.tile}"


def _buffer_text(buffer: TileBuffer) -> str:
    copies = f" x {buffer.copies}" if buffer.copies != 1 else ""
    halos = buffer.halos or (None,) * len(buffer.cuts)
    cuts = ", ".join(
        [cut_text(cut) + halo_text(halo) for cut, halo in zip(buffer.cuts, halos, strict=True)]
    )
    return f'"{buffer.name}" {buffer.tier}[{buffer.offset}, {buffer.size}{copies}] ({cuts})'


def cut_text(cut: Cut) -> str:
    """Returns how a dimension is cut, as the attribute spells it."""
    if not cut:
        return "-"
    terms = [f"{loop}*{stride}" if stride != 1 else str(loop) for loop, stride in cut]
    return " + ".join(terms)


def halo_text(halo: Halo | None) -> str:
    """Returns a halo as the attribute spells it, behind the cut."""
    return "" if halo is None else f" halo {halo[0]} {halo[1]}"


def _parse_loop(parser: AttrParser) -> TileLoop:
    inner = parser.parse_optional_keyword("keys") is not None
    extent = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_keyword("by")
    tile = parser.parse_integer(allow_boolean=False, allow_negative=False)
    if not 0 < tile <= extent:
        parser.raise_error(f"expected a tile of 1 to {extent} steps, got {tile}")
    return TileLoop(extent, tile, inner)


def _parse_buffer(parser: AttrParser) -> TileBuffer:
    name = parser.parse_str_literal()
    tier = parser.parse_identifier()
    if tier not in (*TIERS, SHARED_TIER):
        parser.raise_error(f"expected one of {', '.join(TIERS)}, {SHARED_TIER}, got {tier}")
    parser.parse_punctuation("[")
    offset = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation(",")
    size = parser.parse_integer(allow_boolean=False, allow_negative=False)
    copies = 1
    if parser.parse_optional_keyword("x"):
        copies = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation("]")
    found = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_dim(parser))
    halos = tuple(halo for _, halo in found)
    cuts = tuple(cut for cut, _ in found)
    return TileBuffer(name, tier, offset, size, copies, cuts, halos if any(halos) else ())


def _parse_dim(parser: AttrParser) -> tuple[Cut, Halo | None]:
    cut = _parse_cut(parser)
    if parser.parse_optional_keyword("halo") is None:
        return cut, None
    before = parser.parse_integer(allow_boolean=False)
    return cut, (before, parser.parse_integer(allow_boolean=False))


def _parse_cut(parser: AttrParser) -> Cut:
    if parser.parse_optional_punctuation("-"):
        return ()
    terms = [_parse_term(parser)]
    while parser.parse_optional_punctuation("+"):
        terms.append(_parse_term(parser))
    return tuple(terms)


def _parse_term(parser: AttrParser) -> tuple[int, int]:
    loop = parser.parse_integer(allow_boolean=False, allow_negative=False)
    stride = 1
    if parser.parse_optional_punctuation("*"):
        stride = parser.parse_integer(allow_boolean=False, allow_negative=False)
    return loop, stride
