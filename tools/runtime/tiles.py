"""Kernels tile by tile, each value of a tile at its planned bytes of L1, UB or L0C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp, set_type
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.types import tensor_of, tensor_type
from ge_dialect.ge_exec import KernelOp
from ge_dialect.ge_exec.tiling import (
    SCORES,
    TIERS,
    WEIGHTS,
    Cut,
    TileBuffer,
    Tiling,
    span_of,
    tile_shape,
    value_names,
)
from ge_dialect.interpreters.compiled import Program, compile_program
from ge_dialect.interpreters.kernels.attention import Rules
from ge_dialect.interpreters.kernels.attention_blocks import attend_in_blocks
from ge_dialect.interpreters.registry import Semantics
from ge_dialect.tools.runtime.arenas import POISON

Array = npt.NDArray[Any]
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Shape:
    """What all tiles of one shape have in common.

    Attributes:
        program: The body on tensors of the size of the tile.
        places: By slot, where a result is put: tier, offset, shape, type; None where it stays
            an array of its own: shapes of other values, and what passes through in blocks.
        attentions: The attentions of the body, with the names of their values.
    """

    program: Program
    places: tuple[tuple[str, int, tuple[int, ...], np.dtype[Any]] | None, ...]
    attentions: tuple[tuple[FlashAttentionOp, str], ...]


class TiledKernel:
    """Runs a kernel as its tiling says; thread-safe: each run has memory of its own.

    Args:
        kernel: With a tiling that `verify_plan` accepts.
    """

    def __init__(self, kernel: KernelOp):
        assert kernel.tiling is not None
        self.kernel = kernel
        self.tiling: Tiling = kernel.tiling
        self.buffers = self.tiling.by_name()
        block = kernel.body.block
        assert block.last_op is not None
        names = {value: name for name, value in value_names(block).items()}
        self._shapes = {name: tensor_of(value).get_shape() for value, name in names.items()}
        self._arguments = [names[arg] for arg in block.args]
        self._results = [names.get(value) for value in block.last_op.operands]
        self._missing: list[set[int]] = [self._uncut(name) for name in self._results]
        """The loops that do not cut a result: it is written in their first turns."""
        self._sizes = {tier: self.tiling.used(tier) for tier in TIERS}
        self._made: dict[tuple[int, ...], _Shape] = {}

    def run(self, arguments: Sequence[Array], targets: Sequence[Array], poison: bool) -> None:
        """Computes all tiles, and writes each to its part of the targets.

        Args:
            arguments: What the kernel reads, whole.
            targets: Where its results are to be.
            poison: Whether to spoil the bytes of the chip before each tile.

        Raises:
            ValueError: A tile is not what the tiling says.
        """
        chip = {tier: np.empty(size, np.uint8) for tier, size in self._sizes.items()}
        for spans in self.tiling.steps():
            if poison:
                for tier in chip.values():
                    tier.fill(POISON)
            self._tile(spans, arguments, targets, chip)

    def _tile(
        self,
        spans: Spans,
        arguments: Sequence[Array],
        targets: Sequence[Array],
        chip: dict[str, Array],
    ) -> None:
        shape = self._shape(spans)
        tiles = tuple(
            self._part(name, array, spans)
            for name, array in zip(self._arguments, arguments, strict=True)
        )
        places = [
            None if place is None else np.ndarray(place[2], place[3], chip[place[0]], place[1])
            for place in shape.places
        ]
        instead: dict[Operation, Semantics] | None = None
        if shape.attentions:
            instead = {op: self._attention(name, spans, chip) for op, name in shape.attentions}
        found = shape.program.run(tiles, places, instead)
        parts = [
            array if name is None else self._part(name, array, spans)
            for name, array in zip(self._results, targets, strict=True)
        ]
        if len(found) > 1:  # one may be a view of an operand that another is written over
            found = tuple(
                value.copy() if any(np.may_share_memory(value, part) for part in parts) else value
                for value in found
            )
        first = {loop for loop, (start, _) in enumerate(spans) if start == 0}
        for value, part, missing in zip(found, parts, self._missing, strict=True):
            if not missing <= first:
                continue  # an earlier turn has written it
            if value.shape != part.shape or value.dtype != part.dtype:
                raise ValueError(f"expected a tile of {part.shape}, got {value.shape}")
            np.copyto(part, value)

    def _uncut(self, name: str | None) -> set[int]:
        """Returns the loops that do not cut a value."""
        cuts = () if name is None else self.buffers[name].cuts
        return set(range(len(self.tiling.outer))) - {loop for cut in cuts for loop, _ in cut}

    def _part(self, name: str, array: Array, spans: Spans) -> Array:
        """Returns the tile of an array."""
        cuts = self.buffers[name].cuts
        if not any(cuts):
            return array
        ends = (span_of(cut, spans, size) for cut, size in zip(cuts, array.shape, strict=True))
        return array[tuple(slice(start, end) for start, end in ends)]

    def _shape(self, spans: Spans) -> _Shape:
        key = tuple(end - start for start, end in spans)
        if (found := self._made.get(key)) is None:
            found = self._made[key] = self._compile(spans)
        return found

    def _compile(self, spans: Spans) -> _Shape:
        body = self.kernel.body.clone()
        names = value_names(body.block)
        for name, value in names.items():
            shape = tile_shape(self.buffers[name].cuts, spans, self._shapes[name])
            if shape != self._shapes[name]:
                set_type(value, tensor_type(tensor_of(value).element_type, shape))
        program = compile_program(body.block)
        assert program is not None
        places: list[Any] = [None] * program.size
        for name, value in names.items():
            places[program.slots[value]] = _place(self.buffers[name], value)
        attentions = tuple(
            (value.owner, name)
            for name, value in names.items()
            if isinstance(value.owner, FlashAttentionOp)
        )
        return _Shape(program, tuple(places), attentions)

    def _attention(self, name: str, spans: Spans, chip: dict[str, Array]) -> Semantics:
        """Returns what computes an attention in the bytes of its scores and weights."""
        scores, weights = (self.buffers[f"{name}.{inner}"] for inner in (SCORES, WEIGHTS))
        first = span_of(scores.cuts[2], spans, 0)[0]

        def attend(op: FlashAttentionOp, q: Array, k: Array, v: Array, mask: Array | None) -> Array:
            dtype = to_numpy(op.accumulate)
            blocks = self._blocks(scores.cuts[3], k.shape[2])
            widest = max(end - start for start, end in blocks)
            size = prod(q.shape[:3]) * widest
            memory = tuple(
                np.ndarray((size,), dtype, chip[one.tier], one.offset) for one in (scores, weights)
            )
            return attend_in_blocks(
                q, k, v, mask, _rules(op), first, blocks, (memory[0], memory[1])
            )

        return attend

    def _blocks(self, cut: Cut, keys: int) -> list[tuple[int, int]]:
        if not cut:
            return [(0, keys)]
        loop = self.tiling.loops[cut[0][0]]
        return [loop.span(index) for index in range(loop.trips)]


def _rules(op: FlashAttentionOp) -> Rules:
    offset = op.causal_offset.value.data if op.causal_offset else 0
    return Rules(
        mask=None,
        scale=op.scale.value.data,
        causal_offset=None if op.causal is None else offset,
        softcap=op.softcap.value.data if op.softcap else 0.0,
        masked_fill=op.masked_fill is not None,
        nan_guard=op.nan_guard is not None,
        zero_nan=op.zero_nan is not None,
    )


def _place(
    buffer: TileBuffer, value: SSAValue
) -> tuple[str, int, tuple[int, ...], np.dtype[Any]] | None:
    """Returns where a result is put; None for operands, views and what passes in blocks."""
    owner = value.owner
    if not isinstance(owner, GEOp) or owner.view_of() is not None:
        return None
    type_ = tensor_of(value)
    dtype = to_numpy(type_.element_type)
    shape = type_.get_shape()
    if prod(shape) * dtype.itemsize > buffer.size:
        return None
    return buffer.tier, buffer.offset, shape, dtype
