"""What tiles make a kernel read from HBM more than once.

A tile that is read again is found in L2 as long as what is read in between is not larger than half
of L2: the other half is for what streams by. Beyond that it is HBM traffic, and counted as such:

- a product reads its smaller operand in panels of half of L2, and the larger one once for each;
- a kernel of several products that hand on rows works on as many tiles of rows at a time as there
  are cores, and reads all weights for each such round;
- a kernel that takes one head after the other reads the columns of its weights once, and what it
  multiplies with them for each head;
- a recurrence reads its recurrent weights at each step;
- a norm in front of a product reads its rows once for their sums and once for its elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.types import byte_size
from ge_dialect.passes.fusion.tiling import RECURRENT, Role, role_of, shape_or_none

if TYPE_CHECKING:
    from ge_dialect.targets import Target

TILE_ROWS = 128
"""Rows of a tile of a product; with fewer, weights would be read again more often. Source: the
tiles of public matmul kernels for the cube, 128 x 256."""


@dataclass(frozen=True)
class Tiled:
    """A kernel that fits.

    Attributes:
        hard: Its products and reductions.
        norms: Norms in front of products.
        reads: What each op reads.
        tiles: How many tiles of rows pass through all of it; 0 where each op has its own.
        heads: How many heads it takes one after the other; 0 where it does not divide so.
    """

    hard: Sequence[GEOp]
    norms: Sequence[GEOp]
    reads: Mapping[GEOp, Sequence[SSAValue]]
    tiles: int
    heads: int = 0


def bytes_read_again(kernel: Tiled, target: Target) -> int:
    """Returns the bytes that a kernel reads from HBM beyond one reading of each operand."""
    cached = target.l2.size // 2
    products = [op for op in kernel.hard if role_of(type(op)) is Role.CONTRACT]
    projections = [op for op in products if not isinstance(op, FlashAttentionOp)]
    again = _norms(kernel, cached, target.cube_cores * TILE_ROWS)
    again += sum(_steps(kernel.reads[op], cached) for op in products if isinstance(op, RECURRENT))
    if kernel.heads:
        inputs = dict.fromkeys(kernel.reads[op][0] for op in projections)
        sizes = [_bytes(value) for value in inputs]
        return again + sum((kernel.heads - 1) * size for size in sizes if size > cached)
    # Keys and values of one head are small beside L2.
    again += sum(_panels(kernel.reads[op], cached) for op in projections)
    rounds = -(-kernel.tiles // target.cube_cores)
    if rounds > 1 and len(products) > 1:
        weights = sum(_bytes(kernel.reads[op][1]) for op in projections)
        again += (rounds - 1) * weights if weights > cached else 0
    return again


def _norms(kernel: Tiled, cached: int, rows: int) -> int:
    """Bytes that norms read twice, where the rows that all cores work on do not stay in L2."""
    again = 0
    for op in kernel.norms:
        size, shape = _bytes(kernel.reads[op][0]), shape_or_none(kernel.reads[op][0])
        if size > cached and shape is not None and size // max(1, prod(shape[:-1])) * rows > cached:
            again += size
    return again


def _steps(reads: Sequence[SSAValue], cached: int) -> int:
    """Bytes of the recurrent weights of an op that are read again at each step but the first."""
    steps, size = (shape_or_none(reads[0]) or (1,))[0], _bytes(reads[2])
    return max(0, steps - 1) * size if size > cached else 0


def _panels(reads: Sequence[SSAValue], cached: int) -> int:
    """Bytes of the larger operand of a product that are read again for panels of the smaller."""
    if len(reads) < 2:
        return 0
    sizes = sorted(_bytes(value) for value in reads[:2])
    batches = 1
    shapes = [shape_or_none(value) for value in reads[:2]]
    if all(shape is not None and len(shape) > 2 for shape in shapes):
        batches = min(prod(shape[:-2]) for shape in shapes if shape is not None)
    panels = -(-(sizes[0] // max(1, batches)) // cached)
    return max(0, panels - 1) * sizes[1]


def _bytes(value: SSAValue) -> int:
    return byte_size(value.type) or 0
