"""Whether a kernel fits on chip: the one test that rules and automatic fusion share.

A product gives a tile of `TILE_ROWS` rows (or all, where there are fewer). A value that goes from
one product or reduction of a kernel to the next never leaves the chip, so that all columns of its
tile have to be there at once: the result of a product in L0C in f32, the operand of one in half of
L1, the rows of a reduction in UB in f32. Ops that only read inputs and only feed the outputs ask
for no more than a tile of any width, which always fits.

Two things are kept in parts instead. A layer norm or RMS norm of an input is two numbers a row:
what a product reads of it is computed from the input again, column after column. And where
projections feed attention, a kernel takes one head after the other (`heads.py`).

A tile that is read again comes from L2, where it stays; what is larger than half of L2 comes from
HBM again (`rereads.py`).

What fits by these rules is asked of the tiler as well (`fit_in_tiles`), so that nothing is fused
that `ge-tile-kernels` would have to split.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, prod
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.access import operand_at, operands_of
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.convolution import WindowContractionOp
from ge_dialect.ge.greatest import byte_size, num_elements, value_shape
from ge_dialect.ge.normalization import LayerNormOp, RMSNormOp
from ge_dialect.ge.pooling import PoolOp
from ge_dialect.passes.fusion.heads import HeadTiling, head_tiling
from ge_dialect.passes.fusion.rereads import TILE_ROWS, Tiled, bytes_read_again
from ge_dialect.passes.fusion.tiling import (
    EXPANDING,
    Role,
    own_rows,
    role_of,
    rows_through,
)
from ge_dialect.passes.tiles.choice import L1_SHARE, tier_sizes
from ge_dialect.passes.tiles.trial import Trial, bytes_of_values
from ge_dialect.passes.tiles.working_set import SUM_BYTES

if TYPE_CHECKING:
    from ge_dialect.targets import Target

_MASK = 3
"""Which operand of attention the mask is."""
_CHEAP = 2
"""Ops in front of a product that may be done again for each of its tiles."""
_CHEAP_MASK = 8
"""Ops that may make a mask anew for each tile of scores: few beside the softmax of the tile."""


@dataclass(frozen=True)
class Shortage:
    """Why a kernel does not fit.

    Attributes:
        op: Where.
        what: The value that is too large.
        needed: Bytes.
        tier: Name of the level of memory.
        available: Bytes there, of one core.
        tile: Rows of the tile, as text.
    """

    op: Operation
    what: str
    needed: int
    tier: str
    available: int
    tile: str

    def __str__(self) -> str:
        return f"{self.what} of '{self.op.name}' does not fit on chip with a tile of {self.tile}"

    @property
    def found(self) -> str:
        """What would be needed, as messages print it."""
        return f"{self.needed} bytes"

    @property
    def wanted(self) -> str:
        """What there is, as messages print it."""
        return f"at most {self.available} bytes of {self.tier.upper()}"


@dataclass(frozen=True)
class Fit:
    """How a kernel is tiled.

    Attributes:
        shortage: Why it is not; None where it fits.
        chunks: How many independent tiles it has; 0 where nothing limits them.
        read_again: Bytes that come from HBM more than once.
    """

    shortage: Shortage | None = None
    chunks: int = 0
    read_again: int = 0


def fit(
    ops: Sequence[GEOp], target: Target, alias: Mapping[SSAValue, SSAValue] | None = None
) -> Fit:
    """Returns how a kernel of these ops is tiled on a core of a target.

    Linear in the operands of the ops.

    Args:
        ops: Producers first; constants may be among them.
        target: Says how large the levels of memory of one core are.
        alias: What values stand for in the end that are arguments or results of kernels in it.
    """
    kernel = _Kernel([op for op in ops if not isinstance(op, ConstantOp)], target, alias or {})
    return kernel.fit()


_known: dict[Hashable, Fit] = {}
"""Of kernels that fit and whose sizes are known, whatever stands for symbols."""
_MOST_KNOWN = 4096


def fit_in_tiles(
    ops: Sequence[GEOp],
    target: Target,
    alias: Mapping[SSAValue, SSAValue] | None = None,
    results: Collection[SSAValue] | None = None,
) -> Fit:
    """Returns the same, and fits only where the tiler finds tiles.

    Args:
        ops: Producers first; constants may be among them.
        target: Says how large the levels of memory of one core are.
        alias: What values stand for in the end that are arguments or results of kernels in it.
        results: Of the kernel; None for what none of the ops reads.
    """
    alias = alias or {}
    if len(ops) < 2 or [op for op in ops if op.regions]:
        return fit(ops, target, alias)
    ops = [op for op in ops if not isinstance(op, ConstantOp)]
    trial = Trial.of(ops, alias, results)
    key = (trial.kernel, *tier_sizes(target).values(), target.l2.size)
    if (known := _known.get(key)) is not None:
        return known
    found = fit(ops, target, alias)
    if found.shortage is not None or (total := bytes_of_values(ops)) is None:
        return found
    if (excess := trial.excess(total, target)) is not None:
        what = f"the smallest tile of '{excess.name}'" if excess.name else "the smallest tile"
        short = Shortage(ops[-1], what, excess.needed, excess.tier, excess.available, "1 step")
        return Fit(short)
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    return _known.setdefault(key, found)


@dataclass
class _Kernel:
    """A kernel whose fit is asked for.

    Attributes:
        ops: Producers first.
        target: The machine.
        alias: As in `fit`.
        made: The op that makes a value in the kernel.
        reads: What each op reads, names resolved.
        barriers: Hard ops, and those that spread a computed value over many rows.
        soft: Norms of inputs, of which only the sums of each row are kept.
        above: Ops with a hard op somewhere before them.
        hard: Values that these, and hard ops, make.
        below: Ops with a barrier somewhere behind them.
    """

    ops: list[GEOp]
    target: Target
    alias: Mapping[SSAValue, SSAValue]
    made: dict[SSAValue, GEOp] = field(default_factory=dict[SSAValue, GEOp])
    reads: dict[GEOp, list[SSAValue]] = field(default_factory=dict[GEOp, list[SSAValue]])
    barriers: dict[GEOp, None] = field(default_factory=dict[GEOp, None])
    soft: dict[GEOp, None] = field(default_factory=dict[GEOp, None])
    above: set[GEOp] = field(default_factory=set[GEOp])
    hard: set[SSAValue] = field(default_factory=set[SSAValue])
    below: set[GEOp] = field(default_factory=set[GEOp])

    def fit(self) -> Fit:
        self._walk()
        if (shortage := self._side_values()) is not None:
            return Fit(shortage)
        chained = [op for op in self.barriers if op in self.above]
        if not chained:
            return self._tiled(Fit(self._alone()))
        if any(num_elements(op.results[0].type) is None for op in self.ops):
            return Fit(Shortage(chained[0], "an operand of unknown size", 0, "ub", 0, "any size"))
        found = self._chain()
        if found.shortage is not None and (heads := self._heads()) is not None:
            return self._head_by_head(heads)
        return self._tiled(found)

    def _tiled(self, found: Fit, heads: int = 0) -> Fit:
        """Adds what comes from HBM more than once."""
        if found.shortage is not None:
            return found
        tiled = Tiled(tuple(self.barriers), tuple(self.soft), self.reads, found.chunks, heads)
        again = bytes_read_again(tiled, self.target)
        return Fit(None, found.chunks, again) if again else found

    def _heads(self) -> HeadTiling | None:
        """How the kernel divides into heads, where all that is hard is one attention's."""
        attentions = [op for op in self.barriers if isinstance(op, FlashAttentionOp)]
        if len(attentions) != 1:
            return None
        tiling = head_tiling(attentions[0], self.reads, self.made, self.hard.__contains__)
        return tiling if tiling and self.barriers.keys() <= {*tiling.hard, attentions[0]} else None

    def _head_by_head(self, tiling: HeadTiling) -> Fit:
        limit = self.target.l2.size // 2 // self.target.cube_cores
        if tiling.held > limit:
            what = "the keys and values of a head"
            return Fit(Shortage(tiling.attention, what, tiling.held, "l2", limit, "1 head"))
        tiles = tiling.groups * -(-tiling.queries // TILE_ROWS)
        return self._tiled(Fit(None, tiles), tiling.groups)

    def _walk(self) -> None:
        stands_for = self.alias.get
        for op in self.ops:
            self.reads[op] = reads = [stands_for(v, v) for v in operands_of(op)]
            hard = role_of(type(op)).is_hard
            if hard and self._is_soft(op):
                self.soft[op] = None
                hard = False
            if hard:
                self.barriers[op] = None
            for index, value in enumerate(reads):
                if value in self.hard:
                    self.above.add(op)
                    if not hard and _spreads(op, index):
                        self.barriers[op] = None
            if hard or op in self.above:
                self.hard.update(op.results)
            self.made.update(dict.fromkeys(op.results, op))
        for op in reversed(self.ops):
            if op in self.below or op in self.barriers:
                self.below.update(self.made[v] for v in self.reads[op] if v in self.made)

    def _is_soft(self, op: GEOp) -> bool:
        """Whether an op is a norm of what is read, or cheap to compute from that."""
        if not isinstance(op, LayerNormOp | RMSNormOp) or self.reads[op][0] in self.hard:
            return False
        return self._is_cheap(self.reads[op][0])

    def _is_hard(self, op: GEOp) -> bool:
        return role_of(type(op)).is_hard and op not in self.soft

    def _alone(self) -> Shortage | None:
        """Hard ops that do not feed one another: what each needs by itself."""
        for op in (*self.soft, *self.barriers) if len(self.ops) > 1 else ():
            is_row = role_of(type(op)) is Role.REDUCE
            if (shortage := self._row(op, 2) if is_row else self._prologue(op)) is not None:
                return shortage
        return None

    def _row(self, op: GEOp, copies: int) -> Shortage | None:
        elements = num_elements(op.operands[0].type)
        if elements is None:
            return None
        needed = copies * (elements // max(1, own_rows(op))) * SUM_BYTES
        limit = self.target.ub.size
        if needed <= limit:
            return None
        return Shortage(op, f"a set of {copies} rows", needed, "ub", limit, "1 row")

    def _prologue(self, op: GEOp) -> Shortage | None:
        """What is computed in front of a product is kept for its tiles, or cheap to do again."""
        for index, operand in enumerate(self.reads[op]):
            size = byte_size(operand.type)
            most = _CHEAP_MASK if isinstance(op, FlashAttentionOp) and index == _MASK else _CHEAP
            if operand not in self.made or size is None or self._is_cheap(operand, most):
                continue
            rows = max(1, rows_through(op, index))
            tile = min(rows, TILE_ROWS)
            if size // rows * tile > (limit := self.target.l1.size // L1_SHARE):
                needed = size // rows * tile
                return Shortage(op, f"operand {index}", needed, "l1", limit, f"{tile} rows")
        return None

    def _is_cheap(self, value: SSAValue, most: int = _CHEAP) -> bool:
        """Whether a computed value is made by a few simple ops."""
        count, waiting = 0, [value]
        while waiting:
            producer = self.made.get(waiting.pop())
            if producer is None or producer in self.soft:
                continue
            count += role_of(type(producer)) is Role.POINT
            if count > most or self._is_hard(producer):
                return False
            waiting += self.reads[producer]
        return True

    def _side_values(self) -> Shortage | None:
        """Computed values that are read again for each row of a larger one stay on chip, whole."""
        limit = self.target.ub.size // 4
        for op in self.ops:
            role = role_of(type(op))
            if role.is_hard or (role is Role.MOVE and not isinstance(op, EXPANDING)):
                continue
            for index, operand in enumerate(self.reads[op]):
                if operand not in self.made or operand in self.hard:
                    continue
                size = byte_size(operand.type)
                if size is None or size <= limit or not _spreads(op, index):
                    continue
                if not self._is_cheap(operand):
                    return Shortage(op, "a repeated operand", size, "ub", limit, "all rows")
        return None

    def _chain(self) -> Fit:
        """Hard ops that feed one another: all columns of what lies between them are on chip."""
        chunks = self._chunks()
        tile = self._chunks_a_tile(chunks)
        for op in (*self.soft, *self.barriers):
            shortage = None
            if op in self.soft:
                shortage = self._row(op, 2)
            elif role_of(type(op)) is Role.CONTRACT:
                shortage = self._product(op, chunks, tile)
            elif role_of(type(op)) is Role.REDUCE:
                shortage = self._row(op, self._live_rows(op))
            if shortage is not None:
                return Fit(shortage)
        return Fit(None, max(1, chunks // tile))

    def _chunks(self) -> int:
        """Into how many chunks all ops between barriers can be cut together."""
        chunks = 0
        for op in self.ops:
            if op in self.below and self._is_hard(op):
                chunks = gcd(chunks, own_rows(op))
            if op in self.above and (op in self.barriers or op in self.below):
                for index, operand in enumerate(self.reads[op]):
                    if operand in self.hard:
                        chunks = gcd(chunks, rows_through(op, index))
        return max(1, chunks)

    def _chunks_a_tile(self, chunks: int) -> int:
        tile = 1
        for op in self.barriers:
            if role_of(type(op)) is Role.CONTRACT:
                rows = _product_rows(op)
                tile = max(tile, -(-min(TILE_ROWS, rows) * chunks // rows))
        return min(tile, chunks)

    def _product(self, op: GEOp, chunks: int, tile: int) -> Shortage | None:
        shown = f"{max(1, _product_rows(op) * tile // chunks)} rows"
        if op in self.below:
            needed = (num_elements(op.results[0].type) or 0) * tile // chunks * SUM_BYTES
            if needed > (limit := self.target.tiers["l0c"].size):
                return Shortage(op, "the result", needed, "l0c", limit, shown)
        held = 0
        for operand in dict.fromkeys(self.reads[op]):
            if operand in self.made and not self._is_cheap(operand):
                held += (byte_size(operand.type) or 0) * tile // chunks
        if held > (limit := self.target.l1.size // L1_SHARE):
            return Shortage(op, "the computed operands", held, "l1", limit, shown)
        return None

    def _live_rows(self, op: GEOp) -> int:
        """How many rows as long as that of a reduction are needed at once when it runs."""
        elements = num_elements(op.operands[0].type) or 0
        position = self.ops.index(op)
        late = {operand for later in self.ops[position:] for operand in self.reads[later]}
        early = (result for earlier in self.ops[:position] for result in earlier.results)
        live = [v for v in early if v in late and 2 * (num_elements(v.type) or 0) > elements]
        return max(2, len(live) + 1)


def _spreads(op: GEOp, index: int) -> bool:
    """Whether an operand is read again for many leading elements of a larger result."""
    own = num_elements(operand_at(op, index).type)
    whole = num_elements(op.results[0].type)
    if own is None or whole is None or own >= whole or own == 1 == whole:
        return False
    return own == 1 or rows_through(op, index) < own


def _product_rows(op: GEOp) -> int:
    """Rows of the matrix that a product gives, those of all batches together."""
    shape = [dim for dim in value_shape(op.results[0]) if isinstance(dim, int)]
    if isinstance(op, WindowContractionOp | PoolOp):
        return max(1, shape[0] * prod(shape[2:]))  # every pixel of an image is a row
    return max(1, prod(shape[:-1]))
