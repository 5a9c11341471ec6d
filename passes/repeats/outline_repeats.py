"""`ge-outline-repeats`: passes run on one of each repeated block, and the result is copied.

The layers of a transformer differ in their weights only. Of a run of equal blocks the first and the
last stay in place, of the last perhaps just the first half or more; the passes run on that short
graph. Where what became of them is alike, op by op and whatever kernels hold it, a part of the
graph as long as a block, which begins where no kernel reaches over, is copied for the blocks in
between, each copy with its own weights. Nothing is assumed of weights: a pass that looks into one
that differs between blocks, or does with one block what it did not do with the other, makes the
short graph void. Then more is left over around the blocks, which see there what they have beside
them in the whole graph; and if that does not help either, the whole one stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge_dialect.frontends.onnx.layers import ShortModule
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.repeats.adopt import adopt
from ge_dialect.passes.repeats.expand import Expansion
from ge_dialect.passes.repeats.find import find_run
from ge_dialect.passes.repeats.shorten import Shortened, can_shorten, shorten
from ge_dialect.passes.repeats.unit import Unit
from ge_dialect.repeats import KEPT

NAME = "ge-outline-repeats"
LEAST_REPEATS = 6
LEAST_OPS = 200


def shorten_repeats(
    module: ModuleOp,
    least_repeats: int = LEAST_REPEATS,
    least_ops: int = LEAST_OPS,
    *,
    close: bool = True,
) -> Shortened | None:
    """Returns a module with one short function, or None where that would not pay.

    Args:
        module: Stays as it is. Has one function with one block, its types inferred.
        least_repeats: Fewer equal blocks are left alone.
        least_ops: So many ops have to be left out.
        close: Whether little is left over around the blocks, see `find_repeats`, where that is
            possible.
    """
    functions = list(module.body.block.ops)
    if len(functions) != 1 or not isinstance(function := functions[0], FuncOp):
        return None
    if len(function.body.blocks) != 1:
        return None
    run = find_run(function.body.block, max(least_repeats, KEPT + 1), close=close)
    if run is None or len(run.skipped) * len(run.blocks[0]) < least_ops:
        return None
    short = shorten(module, function, run) if can_shorten(run) else None
    if short is None and close:
        return shorten_repeats(module, least_repeats, least_ops, close=False)
    return short


def shorten_model(found: ShortModule, least_ops: int = LEAST_OPS) -> Shortened | None:
    """Returns a model that was imported without most of its layers as the short form of the whole;
    None where that would not pay, or layers did not become alike.

    Args:
        found: What was imported; its whole function is what the short form becomes.
        least_ops: So many ops have to be left out.
    """
    if len(found.blocks.skipped) * len(found.kept[0]) < least_ops:
        return None
    return adopt(found)


def expand_repeats(short: Shortened) -> bool:
    """Replaces the whole function by what its short form has become; False, nothing done, if it
    must stay: a pass looked into a weight, or did with one block what it did not with the other."""
    unit = None if short.opened else Unit.of(short)
    return unit is not None and Expansion(unit).expand()


def optimize_repeats(
    module: ModuleOp,
    run: Callable[[ModuleOp], None],
    least_repeats: int = LEAST_REPEATS,
    least_ops: int = LEAST_OPS,
) -> int:
    """Optimises one of each repeated block; returns how many blocks are copies, 0 for none.

    Args:
        module: Is changed in place, or not at all.
        run: The passes, on a module.
        least_repeats: As in `shorten_repeats`.
        least_ops: As in `shorten_repeats`.
    """
    if rewrites.active() is not None:  # rewrites are counted one by one
        return 0
    for close in (True, False):
        short = shorten_repeats(module, least_repeats, least_ops, close=close)
        if short is None:
            return 0
        run(short.module)
        if expand_repeats(short):
            return len(short.blocks.skipped)
        if short.opened:
            return 0
    return 0


@dataclass(frozen=True)
class OutlineRepeatsPass(ModulePass):
    """Runs passes on one of each repeated block of a function and copies the result.

    What has no repeats stays as it is, and so does a graph whose blocks do not come out alike.

    Options:
    - `passes`: names of the passes to run. Default the exact and cheap ones.
    - `least-repeats`: fewer equal blocks are left alone; one of them may be what is left over.
      Default 6.
    - `least-ops`: so many ops have to be left out. Default 200.
    """

    name = NAME
    exact = True

    passes: tuple[str, ...] = ("ge-canonicalize", "ge-simplify-algebra", "ge-cse", "ge-dce")
    least_repeats: int = LEAST_REPEATS
    least_ops: int = LEAST_OPS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.passes import load_pass

        inner = [load_pass(name)() for name in self.passes]

        def run(module: ModuleOp) -> None:
            for one in inner:
                one.apply(ctx, module)

        copied = optimize_repeats(op, run, self.least_repeats, self.least_ops)
        statistics.count(NAME, "copied", copied)
