"""`ge-tile-kernels`: says how each kernel is computed tile by tile, and where on the chip.

Kernels of one op that keeps nothing on the chip are left to the operator library. A kernel of
several ops of which not even the smallest tile fits is split back into its ops, each launched by
itself. A kernel of one op that does not fit into what a limit leaves is an error; into a whole
core, it is left to the operator library.

Example: tests/filecheck/lowering/tile_kernels.mlir.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import Engine, GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import is_string
from ge_dialect.ge.types import is_tensor, static_shape
from ge_dialect.ge_exec import KernelOp, PlanOp, TilingAttr
from ge_dialect.ge_exec.tiling import TIERS, Tiling
from ge_dialect.lowering.split_kernels import split_launches
from ge_dialect.lowering.tile_places import plan_kernel
from ge_dialect.passes import statistics
from ge_dialect.passes.fusion.tiling import role_of
from ge_dialect.passes.tiles.choice import Excess, tier_sizes

if TYPE_CHECKING:
    from ge_dialect.targets import Target

NAME = "ge-tile-kernels"


class TilesFullError(GEError):
    """A kernel of one op has no tiles within the limits that were set.

    Attributes:
        tier: The level of memory that is too small.
        needed: Bytes there of the smallest tile; there have to be some more, for blocks.
    """

    def __init__(self, kernel: KernelOp, excess: Excess):
        self.tier = excess.tier
        self.needed = excess.needed
        super().__init__(
            "GE0510",
            f"kernel '{kernel.sym_name.data}' does not fit on the chip: {excess}",
            hint=f"raise the limit of {excess.tier}",
        )


@dataclass(frozen=True)
class TileKernelsPass(ModulePass):
    """Adds `tiles` to kernels; splits those that do not fit on the chip.

    Options:
    - `l1-limit`: bytes of L1 that a kernel may use. Default: all of the target's.
    - `ub-limit`: bytes of UB that a kernel may use. Default: all of the target's.
    - `l0c-limit`: bytes of L0C that a kernel may use. Default: all of the target's.
    - `target`: name of a chip, or path of a TOML file. Default: the target of the module.
    """

    name = NAME

    l1_limit: int | None = None
    ub_limit: int | None = None
    l0c_limit: int | None = None
    target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import target_of

        target = target_of(op, self.target)
        limits = {"l1": self.l1_limit, "ub": self.ub_limit, "l0c": self.l0c_limit}
        sizes = tier_sizes(target)
        for tier in TIERS:
            if (limit := limits[tier]) is not None:
                sizes[tier] = max(0, min(limit, sizes[tier]))
        tile_kernels(op, target, sizes)


def tile_kernels(module: ModuleOp, target: Target, sizes: Mapping[str, int]) -> None:
    """Tiles all kernels of a module; kernels that are split are tiled again as their parts.

    Args:
        module: With kernels, and plans that launch them.
        target: Says how large L2 is.
        sizes: Bytes of the levels of memory of one core.
    """
    split: list[KernelOp] = []
    for kernel in list(_kernels(module)):
        kernel.properties.pop("tiles", None)
        if _is_tiled(kernel) and not _tile(kernel, sizes, target):
            split.append(kernel)
    if not split:
        return
    plans = [op for op in module.body.block.ops if isinstance(op, PlanOp)]
    for kernel in split_launches(module, plans, split):
        if _is_tiled(kernel):
            _tile(kernel, sizes, target)


def _kernels(module: ModuleOp) -> list[KernelOp]:
    return [op for op in module.body.block.ops if isinstance(op, KernelOp)]


def _inner(kernel: KernelOp) -> list[GEOp]:
    return [
        op
        for op in kernel.body.block.ops
        if isinstance(op, GEOp) and not isinstance(op, ConstantOp)
    ]


def _is_tiled(kernel: KernelOp) -> bool:
    """Whether a kernel keeps something on the chip, and all its sizes are known."""
    ops = _inner(kernel)
    if kernel.unit is Engine.HOST or not any(
        len(ops) > 1 or role_of(type(op)).is_hard for op in ops
    ):
        return False
    if any(op.regions for op in kernel.body.block.ops):
        return False
    values = [*kernel.body.block.args, *(result for op in ops for result in op.results)]
    return all(
        is_tensor(value.type)
        and static_shape(value.type) is not None
        and not is_string(value.type.element_type)
        for value in values
    )


def _tile(kernel: KernelOp, sizes: Mapping[str, int], target: Target) -> bool:
    """Tiles a kernel; False where it has to be split."""
    found = plan_kernel(kernel.body.block, sizes, target.l2.size)
    if isinstance(found, Tiling):
        kernel.properties["tiles"] = TilingAttr(found)
        statistics.count(NAME, f"kernels of {'several tiles' if found.tiles > 1 else 'one tile'}")
        remarks.passed(NAME, "tile", kernel, lambda: _told(kernel, found))
        return True
    reason = f"'{kernel.sym_name.data}' does not fit on the chip: {found}"
    if len(_inner(kernel)) == 1:
        if sizes[found.tier] < _whole(target).get(found.tier, 0):
            raise TilesFullError(kernel, found)
        remarks.analysis(NAME, "tile", kernel, f"{reason}; the operator library tiles it")
        return True
    statistics.count(NAME, "kernels split")
    remarks.missed(
        NAME,
        "tile",
        kernel,
        reason,
        reason=remarks.ReasonClass.COST,
        found=f"{found.needed} bytes",
        wanted=f"at most {found.available} bytes of {found.tier.upper()}",
        fix="it is split into its ops",
    )
    return False


def _whole(target: Target) -> Mapping[str, int]:
    """Returns what the machine has where nobody limits it; nothing where it is not known."""
    from ge_dialect.targets.reader import builtin_target

    try:
        return tier_sizes(builtin_target(target.name))
    except GEError:
        return {}


def _told(kernel: KernelOp, tiling: Tiling) -> str:
    used = ", ".join(f"{tiling.used(tier)} bytes of {tier.upper()}" for tier in TIERS)
    count = f"{tiling.tiles} tile{'s' if tiling.tiles != 1 else ''}"
    return f"'{kernel.sym_name.data}' takes {count}: {used}"
