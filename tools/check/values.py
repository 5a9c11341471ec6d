"""What a module computes, and whether two of them compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.ge_exec import PlanOp
from ge_dialect.tools.check.feeds import Feed
from ge_dialect.tools.runtime.compare import compare, tolerance_of

Array = npt.NDArray[Any]


def is_exact(passes: Sequence[ModulePass]) -> bool:
    """Whether passes keep every bit: each says so in its class attribute `exact`."""
    return all(getattr(one, "exact", False) for one in passes)


def is_plan(module: ModuleOp) -> bool:
    """Whether a module was lowered."""
    return any(isinstance(op, PlanOp) for op in module.body.block.ops)


def is_runnable(module: ModuleOp) -> bool:
    """Whether a module can be run: a graph, or a plan that is complete."""
    if not is_plan(module):
        return True
    from ge_dialect.diagnostics import GEError
    from ge_dialect.tools.runtime.executor import Executor

    try:
        Executor(module)
    except GEError:
        return False
    return True


def run(module: ModuleOp, feed: Feed) -> tuple[Any, ...]:
    """Returns what a function of a module gives: by the reference interpreter, of a plan by the
    reference runtime.

    Raises:
        Exception: Whatever the arguments cause: an index that a table does not have, for one.
    """
    if not is_plan(module):
        from ge_dialect.interpreters.functions import run_function

        if feed.dynamic:
            from ge_dialect.tools.check.specialize import specialized

            module = specialized(module, feed)
        return run_function(module, feed.arguments, feed.function)
    from ge_dialect.tools.runtime.gears import make_executor

    executor = make_executor(module)
    names = [port.name for port in executor.inputs]
    return tuple(executor.run(dict(zip(names, feed.arguments, strict=True))).values())


def difference(got: Sequence[Any], want: Sequence[Any], *, exact: bool) -> str | None:
    """Returns how results differ, on one line, or None where they do not.

    Args:
        got: The results to judge.
        want: The right ones.
        exact: Whether to the bit, NaN of any payload being one value; else within the tolerance
            of the element type.
    """
    if len(got) != len(want):
        return f"expected {len(want)} results, got {len(got)}"
    for index, (mine, theirs) in enumerate(zip(got, want, strict=True)):
        if (found := _differs(mine, theirs, exact)) is not None:
            return f"result {index}: {found}"
    return None


def _differs(got: Any, want: Any, exact: bool) -> str | None:
    if isinstance(want, list | tuple):
        if not isinstance(got, list | tuple):
            return "expected a list"
        return difference(cast("list[Any]", got), cast("list[Any]", want), exact=exact)
    if want is None or got is None:
        return None if want is got else "one of them is none"
    mine, theirs = np.asarray(got), np.asarray(want)
    if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        expected = f"{theirs.dtype}{list(theirs.shape)}"
        return f"expected {expected}, got {mine.dtype}{list(mine.shape)}"
    if exact:
        return _differs_in_bits(mine, theirs)
    if theirs.dtype.name in ("int8", "uint8"):  # quantised floats: one step is a rounding
        steps = np.abs(mine.astype(np.int16) - theirs.astype(np.int16))
        return f"a quantised value is {steps.max()} steps off" if np.any(steps > 1) else None
    found = compare(mine, theirs, tolerance_of(theirs.dtype))
    if found.ok:
        return None
    return f"{found.wrong} of {found.size} elements differ, by up to {found.max_abs:.3g}"


def _differs_in_bits(got: Array, want: Array) -> str | None:
    if want.dtype.kind == "c":
        parts = ((np.real(got), np.real(want)), (np.imag(got), np.imag(want)))
        return next((d for a, b in parts if (d := _differs_in_bits(a, b)) is not None), None)
    if want.dtype.kind not in "biuOU":  # narrow floats as well: all their values are f64's
        got, want = got.astype(np.float64), want.astype(np.float64)
    if want.dtype.kind != "f":
        wrong = got != want
        signs = np.zeros(want.shape, bool)
    else:
        numbers = ~(np.isnan(got) & np.isnan(want))
        wrong = (got != want) & numbers
        signs = (np.signbit(got) != np.signbit(want)) & numbers & ~wrong
    if np.any(wrong):
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        count = int(np.count_nonzero(wrong))
        return (
            f"{count} of {want.size} elements differ, element {list(first)}"
            f" is {got[first]!s} and was {want[first]!s}"
        )
    if np.any(signs):
        return f"the sign of {int(np.count_nonzero(signs))} zeros differs"
    return None
