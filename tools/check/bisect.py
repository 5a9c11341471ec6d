"""The first rewrite of a pipeline that makes something go wrong, in log2 runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.ge.symbolic import assuming_ranges
from ge_dialect.passes.rewrites import Rewritten, counting


@dataclass(frozen=True)
class Culprit:
    """What a bisection found.

    Attributes:
        step: Position of the pass in the pipeline.
        pass_: The pass.
        number: Of the rewrite in the whole pipeline, from 1; 0 where the pass is wrong without
            any rewrite that counts.
        total: Rewrites of the whole pipeline.
        rewrite: The rewrite, or None.
        fires: How often its rule fired in that run of the pass.
        runs: How often the pipeline was run to find it.
    """

    step: int
    pass_: ModulePass
    number: int
    total: int
    rewrite: Rewritten | None
    fires: int
    runs: int

    def __str__(self) -> str:
        """One line: pass, rule, match and op."""
        name = f"'{self.pass_.name}' (pass {self.step + 1})"
        if self.rewrite is None:
            return f"{name}, whatever its rewrites"
        rule = f"{self.rewrite.rule}, match {self.rewrite.match} of {self.fires}"
        number = f"rewrite {self.number} of {self.total}"
        return f"{name}: {rule} ({number}): {self.rewrite.where}"


def run_passes(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    *,
    limit: int | None = None,
    traced: bool = False,
) -> Sequence[Rewritten]:
    """Runs passes on a module, the first `limit` rewrites only; returns them where traced."""
    with counting(limit=limit, traced=traced) as rewrites, assuming_ranges(module):
        for step, pass_ in enumerate(passes):
            rewrites.step = step
            pass_.apply(ctx, module)
    return rewrites.trace


def bisect(
    ctx: Context,
    original: ModuleOp,
    passes: Sequence[ModulePass],
    is_wrong: Callable[[ModuleOp], bool],
    *,
    limit: int | None = None,
) -> Culprit:
    """Finds the first rewrite after which a module is wrong.

    Takes one run to number the rewrites and then log2 of their number; passes are deterministic.

    Args:
        ctx: Knows all dialects.
        original: What the passes start from; it is not changed.
        passes: All of them make it wrong.
        is_wrong: Judges a module that the passes were run on; where it cannot, it says no.
        limit: Of the rewrites of the run that went wrong.
    """
    trace = run_passes(ctx, original.clone(), passes, limit=limit, traced=True)
    runs = 0

    def wrong(allowed: int | None, count: int) -> bool:
        nonlocal runs
        runs += 1
        candidate = original.clone()
        try:
            run_passes(ctx, candidate, passes[:count], limit=allowed)
            candidate.verify()
        except Exception:  # half of the rewrites may leave what another pass cannot take
            return False
        return is_wrong(candidate)

    number = _first(len(trace), lambda allowed: wrong(allowed, len(passes)))
    if number == 1 and wrong(0, len(passes)):
        number = 0
    if number == 0:
        step = _first(len(passes), lambda count: wrong(limit, count)) - 1
        return Culprit(max(step, 0), passes[max(step, 0)], 0, len(trace), None, 0, runs)
    found = trace[number - 1]
    fires = sum(
        (one.step, one.rule, one.pass_name) == (found.step, found.rule, found.pass_name)
        for one in trace
    )
    return Culprit(found.step, passes[found.step], number, len(trace), found, fires, runs)


def _first(total: int, wrong: Callable[[int], bool]) -> int:
    """Returns a number whose prefix is wrong and that of the one before is not; `total` is wrong
    and 0 is not, which is not tried."""
    low, high = 0, total
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wrong(middle) else (middle, high)
    return high
