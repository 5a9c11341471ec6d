"""Kernels tile by tile, each value of a tile at its planned bytes of L1, UB or L0C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge_exec import KernelOp
from ge_dialect.ge_exec.tiling import (
    SCORES,
    SHARED_TIER,
    TIERS,
    WEIGHTS,
    Cut,
    TileBuffer,
    Tiling,
    span_of,
    value_names,
)
from ge_dialect.interpreters.compiled import Program, compile_program
from ge_dialect.interpreters.kernels.attention import Rules
from ge_dialect.interpreters.kernels.attention_blocks import attend_in_blocks
from ge_dialect.interpreters.registry import Semantics
from ge_dialect.lowering.tile_body import placed_loops, tile_body
from ge_dialect.tools.runtime.arenas import POISON

_MOST_SHAPES = 512
"""Bodies of tiles that are kept for a kernel."""

Array = npt.NDArray[Any]
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Shape:
    """What all tiles of one shape have in common.

    Attributes:
        program: The body on tensors of the size of the tile.
        places: By slot, where an operand or a result is put: tier, offset, shape, type; None where
            it stays an array of its own: shapes of other values, and what passes in blocks.
        attentions: The attentions of the body, with the names of their values.
        slots: Of the values that several tiles read, by name.
        passing: By slot, the places of what passes in blocks.
        parts: What is left of the program where some of these are there, by slot.
    """

    program: Program
    places: tuple[tuple[str, int, tuple[int, ...], np.dtype[Any]] | None, ...]
    attentions: tuple[tuple[FlashAttentionOp, str], ...]
    slots: Mapping[str, int]
    passing: Mapping[int, TileBuffer]
    parts: dict[tuple[int, ...], Program] = field(default_factory=dict[tuple[int, ...], Program])

    def beside(self, known: Mapping[int, Any]) -> Program:
        """Returns the program without the steps that lead to what is known."""
        there = tuple(slot for slot, value in known.items() if value is not None)
        if not known:
            return self.program
        if there not in self.parts:
            self.parts[there] = self.program.beside(there, known.keys() - {*there})
        return self.parts[there]


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
        self._stay = {
            name
            for value, name in names.items()
            if not isinstance(value.owner, GEOp) or value.owner.view_of() is not None
        }
        """Operands, and views of other values; not what is a view only of a tile."""
        self._sizes = {tier: self.tiling.used(tier) for tier in (*TIERS, SHARED_TIER)}
        self._shared = self._read_by_several(block)
        self._overlapping = [
            (buffer.name, buffer) for buffer in self.tiling.buffers if any(buffer.halos)
        ]
        self._placed = placed_loops(kernel, self.tiling)
        self._made: dict[tuple[int, ...], _Shape] = {}

    def run(self, arguments: Sequence[Array], targets: Sequence[Array], poison: bool) -> None:
        """Computes all tiles, and writes each to its part of the targets.

        Args:
            arguments: What the kernel reads, whole.
            targets: Where its results are to be.
            poison: Whether to spoil the bytes of the chip before each tile, and to move what passes
                in blocks through its place.

        Raises:
            ValueError: A tile is not what the tiling says.
        """
        chip = {tier: np.empty(size, np.uint8) for tier, size in self._sizes.items()}
        there: dict[str, tuple[Spans, Array]] = {}
        for spans in self.tiling.steps():
            if poison:
                self._spoil(spans, chip, there)
            self._tile(spans, arguments, targets, chip, there, poison)

    def _spoil(
        self, spans: Spans, chip: Mapping[str, Array], there: Mapping[str, tuple[Spans, Array]]
    ) -> None:
        """Spoils all bytes but those of values that were computed for this tile as well."""
        for tier in TIERS:
            chip[tier].fill(POISON)
        for name, loops in self._shared.items():
            buffer = self.buffers[name]
            if name in there and there[name][0] != tuple(spans[loop] for loop in loops):
                chip[SHARED_TIER][buffer.offset : buffer.end].fill(POISON)

    def _read_by_several(self, block: Block) -> dict[str, list[int]]:
        """Returns the values that lie in L2, and those without a place that no loop cuts: they are
        computed once for all turns of the loops that do not cut them. With each, those that do."""
        found: dict[str, list[int]] = {}
        if not self._sizes[SHARED_TIER]:
            return found
        for name, value in value_names(block).items():
            buffer = self.buffers[name]
            loops = sorted({loop for cut in buffer.cuts for loop, _ in cut})
            if name in self._stay:
                continue
            if buffer.tier == SHARED_TIER or (not loops and _place(buffer, value) is None):
                found[name] = loops
        return found

    def _tile(
        self,
        spans: Spans,
        arguments: Sequence[Array],
        targets: Sequence[Array],
        chip: dict[str, Array],
        there: dict[str, tuple[Spans, Array]],
        by_blocks: bool,
    ) -> None:
        shape = self._shape(spans)
        tiles = tuple(
            self._part(name, array, spans)
            for name, array in zip(self._arguments, arguments, strict=True)
        )
        places: list[Any] = [
            None if place is None else np.ndarray(place[2], place[3], chip[place[0]], place[1])
            for place in shape.places
        ]
        for slot, buffer in shape.passing.items():
            if by_blocks:
                places[slot] = partial(_pass_through, chip[buffer.tier], buffer)
            elif slot not in shape.program.arguments:
                places[slot] = _own
        instead: dict[Operation, Semantics] | None = None
        if shape.attentions:
            instead = {op: self._attention(name, spans, chip) for op, name in shape.attentions}
        keys = {name: tuple(spans[i] for i in loops) for name, loops in self._shared.items()}
        known: dict[int, Any] = {
            slot: there[name][1] if name in there and there[name][0] == keys[name] else None
            for name, slot in shape.slots.items()
        }
        found = shape.beside(known).run(tiles, places, instead, known)
        there.update({name: (keys[name], known[slot]) for name, slot in shape.slots.items()})
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
        buffer = self.buffers[name]
        if not any(buffer.cuts):
            return array
        ends = (buffer.span(axis, spans, size) for axis, size in enumerate(array.shape))
        return array[tuple(slice(start, end) for start, end in ends)]

    def _shape(self, spans: Spans) -> _Shape:
        key = (
            *(end - start for start, end in spans),
            *self._clipped(spans),
            *(spans[i][0] for i in self._placed),
        )
        if (found := self._made.get(key)) is None:
            if len(self._made) >= _MOST_SHAPES:
                self._made.clear()
            found = self._made[key] = self._compile(spans)
        return found

    def _clipped(self, spans: Spans) -> Iterator[int]:
        """Yields how far tiles that overlap would reach beyond their values: what is padding."""
        for name, buffer in self._overlapping:
            for axis, size in enumerate(self._shapes[name]):
                if (halo := buffer.halo(axis)) is not None:
                    start, end = span_of(buffer.cuts[axis], spans, size)
                    yield max(0, halo[0] - start)
                    yield max(0, end + halo[1] - size)

    def _compile(self, spans: Spans) -> _Shape:
        body = tile_body(self.kernel, self.tiling, spans)
        program = compile_program(body.block)
        assert program is not None
        places: list[Any] = [None] * program.size
        passing: dict[int, TileBuffer] = {}
        for name, value in body.values.items():
            if name in self._arguments or name not in self._stay:
                place = _place(self.buffers[name], value)
                places[program.slots[value]] = place
                if place is None:
                    passing[program.slots[value]] = self.buffers[name]
        program = program.loading(program.arguments)
        attentions = tuple(
            (value.owner, name)
            for name, value in body.values.items()
            if isinstance(value.owner, FlashAttentionOp)
        )
        slots = {name: program.slots[body.values[name]] for name in self._shared}
        return _Shape(program, tuple(places), attentions, slots, passing)

    def _attention(self, name: str, spans: Spans, chip: dict[str, Array]) -> Semantics:
        """Returns what computes an attention in the bytes of its scores and weights."""
        scores, weights = (self.buffers[f"{name}.{inner}"] for inner in (SCORES, WEIGHTS))
        first = span_of(scores.cuts[2], spans, 0)[0]

        def attend(
            op: FlashAttentionOp,
            q: Array,
            k: Array,
            v: Array,
            mask: Array | None,
            sink: Array | None,
        ) -> Array:
            dtype = to_numpy(op.accumulate)
            blocks = self._blocks(scores.cuts[3], k.shape[2])
            widest = max(end - start for start, end in blocks)
            size = prod(q.shape[:3]) * widest
            memory = tuple(
                np.ndarray((size,), dtype, chip[one.tier], one.offset) for one in (scores, weights)
            )
            return attend_in_blocks(
                q, k, v, mask, _rules(op), first, blocks, (memory[0], memory[1]), sink
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
        masked_fill=op.masked_score,
        nan_guard=op.nan_guard is not None,
        zero_nan=op.zero_nan is not None,
    )


def _own(value: Array) -> Array:
    """Returns what has bytes of its own: those on the chip may soon be another value's."""
    return value if value.base is None else value.copy()


def _pass_through(tier: Array, buffer: TileBuffer, value: Array) -> Array:
    """Returns a value that went through its place block by block, from one copy to the next."""
    found = np.empty(value.shape, value.dtype)
    source, target = np.ascontiguousarray(value).reshape(-1), found.reshape(-1)
    count = buffer.size // value.itemsize
    for turn, start in enumerate(range(0, source.size, count)):
        part = source[start : start + count]
        offset = buffer.offset + turn % buffer.copies * buffer.size
        block = np.ndarray(part.shape, part.dtype, tier, offset)
        np.copyto(block, part)
        np.copyto(target[start : start + count], block)
    return found


def _place(
    buffer: TileBuffer, value: SSAValue
) -> tuple[str, int, tuple[int, ...], np.dtype[Any]] | None:
    """Returns where a result is put; None where it passes in blocks."""
    type_ = tensor_of(value)
    dtype = to_numpy(type_.element_type)
    shape = type_.get_shape()
    if prod(shape) * dtype.itemsize > buffer.size:
        return None
    return buffer.tier, buffer.offset, shape, dtype
