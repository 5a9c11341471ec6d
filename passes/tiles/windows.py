"""Windows that slide: which dimensions follow which loop, and how far the tile of a value reaches.

The operand of a window is cut along the loop of its result; its tiles overlap. Only ops on single
elements, and windows, may read a part of a tile that reaches further than they need.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.windows import aligned_axes
from ge_dialect.passes.tiles.pieces import EXACT, Piece, PieceTable, Reach, Slide, fix, leaves


@dataclass
class Followers:
    """The pieces that follow loops of others.

    Attributes:
        table: With all that ops say.
        ops: Of the body, in order.
        results: Of the kernel.
        leaders: The piece of a result that a piece follows, and its steps for each of that one's.
        reaches: How far the tile of a value reaches along a piece of it.
    """

    table: PieceTable
    ops: Sequence[GEOp]
    results: Sequence[SSAValue]
    leaders: dict[Piece, tuple[Piece, int]] = field(default_factory=dict[Piece, tuple[Piece, int]])
    reaches: dict[tuple[SSAValue, Piece], Reach] = field(
        default_factory=dict[tuple[SSAValue, Piece], Reach]
    )

    def leader(self, piece: Piece) -> Piece:
        """Returns the piece whose loop cuts another."""
        return piece if (found := self.leaders.get(piece)) is None else found[0]

    def reach(self, value: SSAValue, piece: Piece) -> Reach:
        """Returns how far the tile of a value reaches along a piece of it."""
        return self.reaches.get((value, piece), EXACT)

    def agree(self, results: Collection[Piece]) -> bool:
        """Fixes pieces that windows join and that cannot go along; whether some were fixed.

        Args:
            results: The pieces of the results of the kernel.
        """
        self.leaders = {piece: (piece, 1) for piece in results if not piece.fixed}
        changed, waiting = False, list(reversed(self.table.slides))
        while waiting:
            later = [slide for slide in waiting if not self._follow(slide)]
            if len(later) == len(waiting):
                break  # what is left leads to no result
            waiting = later
        for slide in self.table.slides:
            source, result = self._pieces(slide)
            if len(source) == 1 == len(result) and source[0].fixed == result[0].fixed:
                leader, stride = self.leaders.get(result[0], (result[0], 0))
                found = self.leaders.get(source[0])
                if source[0].fixed or found == (leader, stride * slide.reach.stride):
                    continue
            changed |= any(not piece.fixed for piece in (*source, *result))
            fix([*source, *result])
        return changed

    def _follow(self, slide: Slide) -> bool:
        """Lets the operand of a window follow; False where it is not known yet whom."""
        source, result = self._pieces(slide)
        if len(source) != 1 or len(result) != 1 or source[0].fixed or result[0].fixed:
            return True
        if (known := self.leaders.get(result[0])) is None:
            return False
        self.leaders.setdefault(source[0], (known[0], known[1] * slide.reach.stride))
        return True

    def measure(self) -> bool:
        """Finds the reach of every value; whether that fixed pieces which cannot have one."""
        self.reaches.clear()
        if not self.table.slides:
            return False
        slides = {(slide.op, slide.axis): slide for slide in self.table.slides}
        found = [leaves(self._result(slide)) for slide in self.table.slides]
        concerned = {self.leader(pieces[0]) for pieces in found if len(pieces) == 1}
        concerned = {piece for piece in concerned if not piece.fixed}
        for value in self.results:
            for piece in self._concerned(value, concerned):
                self.reaches[value, piece] = EXACT
        for op in reversed(self.ops):
            if (piece := self._through(op, slides, concerned)) is not None:
                self._fix(piece)
                return True
        for value in self.results:
            for piece in self._concerned(value, concerned):
                if self.reaches[value, piece] != EXACT:
                    self._fix(piece)
                    return True
        return False

    def _through(
        self, op: GEOp, slides: dict[tuple[GEOp, int], Slide], concerned: set[Piece]
    ) -> Piece | None:
        """Says how far the operands of an op reach; a piece that cannot be cut so, if any."""
        wanted = self._wanted(op, concerned)
        if isinstance(wanted, Piece):
            return wanted
        for index, operand in enumerate(op.operands):
            for axis, dim in enumerate(self.table.dims(operand)):
                slide = slides.get((op, axis)) if index == 0 else None
                for place, piece in enumerate(leaves(dim)):
                    if piece.fixed or self.leader(piece) not in concerned:
                        continue
                    reach = self._needed(slide, piece, wanted)
                    if reach is None or not self._add(operand, piece, reach):
                        return piece
                    if place and reach != EXACT:
                        return piece
        return None

    def _wanted(self, op: GEOp, concerned: set[Piece]) -> dict[Piece, Reach] | Piece:
        """Returns how far the results of an op reach, which is one distance; where it is not, the
        piece."""
        wanted: dict[Piece, Reach] = {}
        pieces = [(v, piece) for v in op.results for piece in self._concerned(v, concerned)]
        for key in pieces:
            reach = self.reaches.get(key)
            if reach is not None and wanted.setdefault(key[1], reach) != reach:
                return key[1]
        for key in pieces:
            self.reaches[key] = wanted.setdefault(key[1], EXACT)
        return wanted

    def _needed(
        self, slide: Slide | None, piece: Piece, wanted: dict[Piece, Reach]
    ) -> Reach | None:
        if slide is None:
            return wanted.get(piece)
        (result,) = leaves(self._result(slide))
        return wanted[result].through(slide.reach) if result in wanted else None

    def _add(self, value: SSAValue, piece: Piece, reach: Reach) -> bool:
        """Notes a reach of a value; False where it does not go with those that others need."""
        before = self.reaches.get((value, piece))
        if before is None or before == reach:
            self.reaches[value, piece] = reach
            return True
        if before.stride != reach.stride or not self._takes_parts(value, piece):
            return False
        self.reaches[value, piece] = before.joined(reach)
        return True

    def _takes_parts(self, value: SSAValue, piece: Piece) -> bool:
        """Whether all readers of a value may be given a part of it along a piece."""
        axes = {axis for axis, dim in enumerate(self.table.dims(value)) if piece in leaves(dim)}
        for op in self.ops:
            for index, operand in enumerate(op.operands):
                if operand is not value:
                    continue
                windows = {slide.axis for slide in self.table.slides if slide.op is op}
                aligned = {axis for axis, _ in aligned_axes(op, index)}
                if not axes <= (windows if index == 0 and windows else aligned):
                    return False
        return True

    def _fix(self, piece: Piece) -> None:
        """Fixes a piece, and what leads it; those that follow are fixed when they do not agree."""
        fix([piece, self.leader(piece)])

    def _concerned(self, value: SSAValue, concerned: set[Piece]) -> list[Piece]:
        if value not in self.table.of_value:
            return []
        found = [piece for dim in self.table.dims(value) for piece in leaves(dim)]
        return [one for one in found if not one.fixed and self.leader(one) in concerned]

    def _pieces(self, slide: Slide) -> tuple[list[Piece], list[Piece]]:
        return leaves(self.table.dims(slide.op.operands[0])[slide.axis]), leaves(
            self._result(slide)
        )

    def _result(self, slide: Slide) -> list[Piece]:
        return self.table.dims(slide.op.results[0])[slide.axis]
