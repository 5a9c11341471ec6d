"""The check of tilings, from a kernel's body and its tiling alone.

Checked: the tiles of every result cover it; a tile of a value is one contiguous run of each
dimension; the tiles of operands are what the ops need for the tiles of their results, by the ops'
own inference of types; nothing is cut that an op reads whole; values that are on the chip at the
same time share no byte, have room for their tiles, and lie within the chip's memory; an operand
that a result may be written over is cut as that result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.dtypes import dtype_of, is_float
from ge_dialect.ge.in_place import in_place_pairs_of
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge_exec import KernelOp, PlanOp, kernels_by_name
from ge_dialect.ge_exec.tiling import (
    SCORES,
    SHARED_TIER,
    WEIGHTS,
    Cut,
    TileBuffer,
    Tiling,
    cut_text,
)
from ge_dialect.lowering.asked_ops import Asked
from ge_dialect.lowering.plan_clocks import CODE
from ge_dialect.lowering.tile_body import TileCutter
from ge_dialect.lowering.verify_streams import streaming_values
from ge_dialect.lowering.verify_windows import check_reach, largest_tile, probes
from ge_dialect.lowering.whole_axes import whole_axes
from ge_dialect.targets.dlti import attached_target

_COMPUTED_BYTES = 4
"""Bytes of a number in L0C, and of a float in UB, at least."""

ALIGNMENT = 32
"""Of every offset in bytes: the least that any level of memory asks for."""


def check_tiles(plan: PlanOp) -> None:
    """Checks the tilings of the kernels beside a plan, on the machine that the module names."""
    kernels = [kernel for kernel in kernels_by_name(plan).values() if kernel.tiling is not None]
    module = plan.parent_op()
    target = attached_target(module) if kernels and isinstance(module, ModuleOp) else None
    sizes = None if target is None else {name: tier.size for name, tier in target.tiers.items()}
    if sizes is not None and target is not None:  # a core's share of one half of L2
        sizes[SHARED_TIER] = target.l2.size // (2 * target.cube_cores)
    asked = Asked()
    for kernel in kernels:
        verify_tiles(kernel, sizes, asked)


def verify_tiles(
    kernel: KernelOp, sizes: Mapping[str, int] | None, asked: Asked | None = None
) -> None:
    """Checks the tiling of a kernel that has one.

    Args:
        kernel: With a body that verifies.
        sizes: Bytes of each level of memory of one core; None where no target is known.
        asked: What ops of other kernels have answered.

    Raises:
        GEError: It is not right (GE0540); says which value, and what was expected.
    """
    if (tiling := kernel.tiling) is not None:
        _Check(kernel, tiling, sizes, asked or Asked()).run()


@dataclass
class _Check:
    kernel: KernelOp
    tiling: Tiling
    sizes: Mapping[str, int] | None
    asked: Asked

    def __post_init__(self) -> None:
        block = self.kernel.body.block
        self.cutter = TileCutter(block, self.tiling)
        self.values, self.ops = self.cutter.values, self.cutter.ops
        self.names = {value: name for name, value in self.values.items()}
        self.buffers = self.tiling.by_name()
        assert block.last_op is not None
        self.results = [value for value in operands_of(block.last_op) if value in self.names]
        self.views = self._find_views()
        self.streams: set[SSAValue] = set()
        self.first = [loop.span(0) for loop in self.tiling.loops]
        self.tile_bytes: dict[SSAValue, int] = {}

    def run(self) -> None:
        self._check_loops()
        self.streams = streaming_values(self.ops, self.values, self.buffers)
        self._check_covered()
        self._check_tiles()
        for op in self.ops:
            self._check_whole(op)
            if (missing := check_reach(op, self.cutter, self.names, self.buffers)) is not None:
                raise self._fail(missing)
            if isinstance(op, FlashAttentionOp):
                self._check_attention(op)
        block, last = self.kernel.body.block, self.kernel.body.block.last_op
        assert last is not None
        for i, j in in_place_pairs_of(block):
            self._check_alike(block.args[i], operands_of(last)[j])
        self._check_bytes()

    def _fail(self, what: str) -> GEError:
        return GEError(
            CODE, f"the tiles of @{self.kernel.sym_name.data}: {what}", hint="run ge-tile-kernels"
        )

    def _check_loops(self) -> None:
        for index, loop in enumerate(self.tiling.loops):
            if not 0 < loop.tile <= loop.extent:
                raise self._fail(f"loop {index} of {loop.extent} steps has tiles of {loop.tile}")

    def _check_covered(self) -> None:
        """Every dimension is covered once by the loops that cut it.

        A result that some loop does not cut is written in the first turn of that loop alone.
        """
        for name, value in self.values.items():
            buffer = self.buffers[name]
            cuts = buffer.cuts
            for axis, size in enumerate(tensor_of(value).get_shape()):
                if buffer.halo(axis) is None:
                    self._check_cut(name, size, cuts[axis])
                else:
                    self._check_halo(name, value, cuts[axis])
            used = [loop for cut in cuts for loop, _ in cut]
            if len(set(used)) != len(used):
                raise self._fail(f"'{name}' is cut twice along one loop")

    def _check_cut(self, name: str, size: int, cut: Cut) -> None:
        left = size
        for place, (index, stride) in enumerate(cut):
            loop = self.tiling.loops[index]
            if loop.inner:
                raise self._fail(f"'{name}' is cut along loop {index}, which is one over keys")
            if stride < 1 or loop.extent * stride != left:
                raise self._fail(
                    f"'{name}' is cut along {cut_text(cut)}: {loop.extent} steps of {stride} are"
                    f" not {left} elements"
                )
            if place + 1 < len(cut) and loop.tile != 1:
                raise self._fail(f"'{name}' is cut along {cut_text(cut)} into tiles with gaps")
            left = stride

    def _check_halo(self, name: str, value: SSAValue, cut: Cut) -> None:
        """Tiles overlap along one loop; those of a result never do."""
        if value in self.results:
            raise self._fail(f"'{name}', a result, has tiles that overlap")
        if len(cut) != 1 or cut[0][1] < 1 or self.tiling.loops[cut[0][0]].inner:
            raise self._fail(f"'{name}' has a halo, but is cut along {cut_text(cut)}")

    def _check_tiles(self) -> None:
        """The first tiles, and the last, which may be smaller, are what the ops make of them."""
        kinds = [(op, self.asked.kind(op)) for op in self.ops]
        for turn in probes(self.tiling):
            try:
                tile = self.cutter.at(turn)
            except ValueError as error:
                raise self._fail(str(error)) from error
            for op, kind in kinds:
                try:
                    self.asked.check(op, kind, tile)
                except VerifyException as error:
                    raise self._fail(f"'{op.name}' does not fit them: {error}") from error

    def _check_whole(self, op: GEOp) -> None:
        for index, operand in enumerate(operands_of(op)):
            if operand not in self.names:
                continue  # a constant is never cut
            buffer = self.buffers[self.names[operand]]
            for axis in whole_axes(op, index):
                if buffer.cuts[axis]:
                    raise self._fail(
                        f"'{buffer.name}' is cut along dimension {axis}, which '{op.name}'"
                        " reads whole"
                    )

    def _check_attention(self, op: FlashAttentionOp) -> None:
        name = self.names[op.result]
        rows, keys = self.buffers[name].cuts, tensor_of(op.k).get_shape()[2]
        for inner in (SCORES, WEIGHTS):
            buffer = self.buffers[f"{name}.{inner}"]
            if buffer.halos or buffer.tier == SHARED_TIER:
                raise self._fail(f"'{buffer.name}' is of one tile alone, in the memory of a core")
            if buffer.cuts[:3] != rows[:3]:
                raise self._fail(f"'{buffer.name}' is cut otherwise than '{name}'")
            block = self._keys(buffer, keys)
            shape = self.buffers[name].shape(self.first, tensor_of(op.result).get_shape())
            needed = prod(shape[:3]) * block * dtype_of(op.accumulate).storage_bytes
            if buffer.size < needed:
                raise self._small(buffer, needed)
        if len({self.buffers[f"{name}.{inner}"].cuts[3] for inner in (SCORES, WEIGHTS)}) > 1:
            raise self._fail(f"scores and weights of '{name}' are cut along different loops")

    def _keys(self, buffer: TileBuffer, keys: int) -> int:
        """Returns how many keys a block of an attention has."""
        cut = buffer.cuts[3]
        if len(cut) == 0:
            return keys
        (index, stride), *more = cut
        loop = self.tiling.loops[index]
        if more or not loop.inner or stride != 1 or loop.extent != keys:
            raise self._fail(f"'{buffer.name}' is not cut along a loop over its {keys} keys")
        return loop.tile

    def _check_alike(self, argument: SSAValue, result: SSAValue) -> None:
        one, other = (self.buffers[self.names[value]] for value in (argument, result))
        if one.cuts != other.cuts or one.halos:
            raise self._fail(
                f"'{other.name}' may be written over '{one.name}', which is cut otherwise"
            )
        outer = {index for index, loop in enumerate(self.tiling.loops) if not loop.inner}
        if missing := sorted(outer - {loop for cut in other.cuts for loop, _ in cut}):
            raise self._fail(
                f"'{other.name}' may be written over '{one.name}', which later turns of loop"
                f" {missing[0]} read again"
            )

    def _check_bytes(self) -> None:
        lives: list[tuple[TileBuffer, int, int]] = []
        uses, reads = self._uses()
        self._add_last(uses, reads)
        for name, value in self.values.items():
            buffer = self.buffers[name]
            self._check_size(buffer, value, value in reads)
            source = self.views.get(value)
            if source is not None:
                self._check_view(buffer, self.buffers[self.names[source]])
            else:
                lives.append((buffer, *self._life(buffer, uses.get(value, ()))))
        for step, op in enumerate(self.ops):
            if isinstance(op, FlashAttentionOp):
                name = self.names[op.result]
                lives += [(self.buffers[f"{name}.{one}"], step, step) for one in (SCORES, WEIGHTS)]
        for buffer, _, _ in lives:
            self._check_place(buffer)
        self._check_apart(lives)

    def _uses(self) -> tuple[dict[SSAValue, list[int]], dict[SSAValue, list[int]]]:
        """Returns the ops that make or read each value, and those that read it; a view's readers
        read what it is a view of, and a result is used behind the last op."""
        uses: dict[SSAValue, list[int]] = {}
        reads: dict[SSAValue, list[int]] = {}
        for step, op in enumerate(self.ops):
            for operand in operands_of(op):
                for seen in self._viewed(operand):
                    uses.setdefault(seen, []).append(step)
                    reads.setdefault(seen, []).append(step)
            for result in op.results:
                uses.setdefault(result, []).append(step)
        for result in self.results:
            uses.setdefault(self._root(result), []).append(len(self.ops) - 1)
        return uses, reads

    def _add_last(
        self, uses: Mapping[SSAValue, list[int]], reads: Mapping[SSAValue, Sequence[int]]
    ) -> None:
        """Adds the last op for which a reader computes: where a result has no room for a tile, its
        blocks are computed while what they lead to is."""
        last = list(range(len(self.ops)))
        for step in reversed(last):
            for result in self.ops[step].results:
                buffer = self.buffers[self.names[result]]
                if buffer.size < self._tile_bytes(buffer, result):
                    last[step] = max([last[step], *(last[one] for one in reads.get(result, ()))])
        for value, steps in reads.items():
            uses[value].extend(last[step] for step in steps if last[step] > step)

    def _find_views(self) -> Mapping[SSAValue, SSAValue]:
        """Returns the values that have the bytes of another of the body, with that one."""
        found: dict[SSAValue, SSAValue] = {}
        for op in self.ops:
            if (index := op.view_of()) is not None:
                source = operands_of(op)[index]
                if source in self.names:
                    found.update(dict.fromkeys(op.results, source))
        return found

    def _viewed(self, value: SSAValue) -> Iterator[SSAValue]:
        """Yields a value, what it is a view of, and so on."""
        seen: SSAValue | None = value
        while seen is not None:
            yield seen
            seen = self.views.get(seen)

    def _root(self, value: SSAValue) -> SSAValue:
        *_, root = self._viewed(value)
        return root

    def _life(self, buffer: TileBuffer, uses: Sequence[int]) -> tuple[int, int]:
        """Returns the first and last op while which a value is on the chip."""
        if buffer.copies > 1 or buffer.tier == SHARED_TIER:
            return 0, len(self.ops) - 1
        return min(uses, default=0), max(uses, default=0)

    def _check_size(self, buffer: TileBuffer, value: SSAValue, is_read: bool) -> None:
        """What is computed and read again is there whole; the rest may pass in blocks."""
        if buffer.size < ALIGNMENT and prod(tensor_of(value).get_shape()):
            raise self._small(buffer, ALIGNMENT)
        root = self._root(value)
        if not isinstance(root.owner, GEOp) or not is_read or root in self.streams:
            return
        if buffer.size < (needed := self._tile_bytes(buffer, value)):
            raise self._small(buffer, needed)

    def _tile_bytes(self, buffer: TileBuffer, value: SSAValue) -> int:
        if (known := self.tile_bytes.get(value)) is None:
            known = self.tile_bytes[value] = self._find_tile_bytes(buffer, value)
        return known

    def _find_tile_bytes(self, buffer: TileBuffer, value: SSAValue) -> int:
        type_ = tensor_of(value)
        width = dtype_of(type_.element_type).storage_bytes
        if buffer.tier == "l0c" or (buffer.tier == "ub" and is_float(type_.element_type)):
            width = max(width, _COMPUTED_BYTES)
        return width * prod(largest_tile(self.tiling, buffer, type_.get_shape(), self.first))

    def _small(self, buffer: TileBuffer, needed: int) -> GEError:
        return self._fail(f"a tile of '{buffer.name}' takes {needed} bytes, it has {buffer.size}")

    def _check_view(self, buffer: TileBuffer, source: TileBuffer) -> None:
        def place(one: TileBuffer) -> tuple[str, int, int, int]:
            return one.tier, one.offset, one.size, one.copies

        if place(buffer) != place(source):
            raise self._fail(f"'{buffer.name}' has the bytes of '{source.name}', but not its place")

    def _check_place(self, buffer: TileBuffer) -> None:
        if buffer.offset % ALIGNMENT or buffer.copies not in (1, 2):
            raise self._fail(
                f"expected {buffer} to begin at a multiple of {ALIGNMENT} bytes, once or twice"
            )
        if self.sizes is not None and buffer.end > (size := self.sizes[buffer.tier]):
            raise self._fail(
                f"'{buffer.name}' ends at byte {buffer.end} of {buffer.tier.upper()}, which has"
                f" {size}"
            )

    def _check_apart(self, lives: Sequence[tuple[TileBuffer, int, int]]) -> None:
        for place, (one, first, last) in enumerate(lives):
            for other, start, end in lives[:place]:
                together = one.tier == other.tier and first <= end and start <= last
                if together and one.offset < other.end and other.offset < one.end:
                    raise self._fail(f"{other} and {one} share bytes while both are on the chip")
