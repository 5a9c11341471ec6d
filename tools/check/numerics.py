"""`--check-numerics`: the values of a module before and after passes, and what changed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.check.bisect import Culprit, bisect
from ge_dialect.tools.check.feeds import DRAWS, Draw, Feed, functions_of, random_feed
from ge_dialect.tools.check.reduce import Reducer
from ge_dialect.tools.check.reproducer import (
    ON_STDERR,
    pipeline_text,
    replay,
    reproducer_text,
    write_reproducer,
)
from ge_dialect.tools.check.values import difference, is_exact, is_runnable, run


@dataclass(frozen=True)
class Mismatch:
    """Results that differ.

    Attributes:
        feed: The arguments.
        message: How they differ, on one line.
        stopped: Whether there are no results any more.
    """

    feed: Feed
    message: str
    stopped: bool = False


@dataclass
class Reference:
    """What a module computes, for arguments that it can take.

    Attributes:
        results: Of each set of arguments.
        skipped: Why functions or arguments were left out, one line each.
    """

    results: list[tuple[Feed, tuple[Any, ...]]] = field(
        default_factory=list[tuple[Feed, tuple[Any, ...]]]
    )
    skipped: dict[str, None] = field(default_factory=dict[str, None])


def reference_of(
    module: ModuleOp, seed: int, draws: Sequence[Draw] = DRAWS, *, extremes: bool
) -> Reference:
    """Runs every function of a module on random arguments."""
    reference = Reference()
    for function in functions_of(module):
        for draw in draws:
            name = function.sym_name.data
            try:
                feed = random_feed(function, draw, seed, extremes=extremes)
                reference.results.append((feed, run(module, feed)))
            except Exception as error:  # arguments that mean nothing: an index out of range
                why = f"@{name} does not take {draw.name}: {type(error).__name__}: {error}"
                reference.skipped[why] = None
    return reference


def mismatch_of(module: ModuleOp, reference: Reference, *, exact: bool) -> Mismatch | None:
    """Returns the first results of a module that differ from the reference."""
    for feed, want in reference.results:
        stopped = False
        try:
            message = difference(run(module, feed), want, exact=exact)
        except Exception as error:  # it did run before
            stopped, message = True, f"it does not run any more: {type(error).__name__}: {error}"
        if message is not None:
            return Mismatch(feed, f"@{feed.function} on {feed.draw.name}: {message}", stopped)
    return None


@dataclass
class NumericsCheck:
    """Compares the values of a module through a pipeline.

    Attributes:
        ctx: Knows all dialects.
        passes: The pipeline.
        each: Whether after every pass, not only at the end.
        seed: Of the random arguments.
        path: Where the reduced module goes; None for a name of its own.
        limit: Of the rewrites of the run.
        reduces: Whether a module that shows a fault is reduced and written.
    """

    ctx: Context
    passes: Sequence[ModulePass]
    each: bool = False
    seed: int = 0
    path: str | None = None
    limit: int | None = None
    reduces: bool = True

    def begin(self, module: ModuleOp) -> None:
        """Takes the values of a module that no pass has run on.

        Raises:
            GEError: None of its functions runs on random arguments (GE0903).
        """
        self.original = module.clone()
        self.reference = reference_of(module, self.seed, extremes=is_exact(self.passes))
        self.done = 0
        if not self.reference.results:
            why = next(iter(self.reference.skipped), "there is no public function of tensors")
            raise GEError("GE0903", f"numerics cannot be checked: {why}")

    def after(self, module: ModuleOp) -> None:
        """Compares after the next pass of the pipeline, where that was asked for.

        Raises:
            GEError: The values are not those of the input (GE0902).
        """
        self.done += 1
        if self.each:
            self.check(module)

    def end(self, module: ModuleOp) -> None:
        """Compares after the last pass; raises as `after`."""
        self.done = len(self.passes)
        self.check(module)

    def check(self, module: ModuleOp) -> None:
        """Compares after the passes so far; raises as `after`."""
        if not is_runnable(module):  # buffers without addresses: a later pass gives them
            return
        done = self.passes[: self.done]
        found = mismatch_of(module, self.reference, exact=is_exact(done))
        if found is not None:
            raise self._explain(found, done)

    def _explain(self, found: Mismatch, passes: Sequence[ModulePass]) -> GEError:
        one = Reference([next(r for r in self.reference.results if r[0] is found.feed)])
        exact = is_exact(passes)

        def is_wrong(module: ModuleOp) -> bool:
            again = mismatch_of(module, one, exact=exact)
            return again is not None and again.stopped == found.stopped

        culprit = bisect(self.ctx, self.original, passes, is_wrong, limit=self.limit)
        message = f"values changed: {culprit}; {found.message}; {culprit.runs} runs to find it"
        if not self.reduces:
            return GEError("GE0902", message)
        where, count = self._reduce(culprit, passes, found)
        again = where if where == ON_STDERR else f"ge-opt --run-reproducer {where}"
        return GEError("GE0902", message, hint=f"reduced to {count} ops: {again}")

    def _reduce(
        self, culprit: Culprit, passes: Sequence[ModulePass], found: Mismatch
    ) -> tuple[str, int]:
        """Writes the smallest module that shows the fault; returns where, and its ops."""
        guilty: Sequence[ModulePass] = (culprit.pass_,)
        draws = [found.feed.draw]
        start = replay(self.ctx, self.original.clone(), passes[: culprit.step])
        if start is None or not self._fails(start.clone(), guilty, draws):
            guilty, start = passes, self.original.clone()

        def fails(module: ModuleOp) -> bool:
            return self._fails(module, guilty, draws)

        small = Reducer(start, fails, found.feed.function).run()
        arguments = ["-p", pipeline_text(guilty), "--check-numerics"]
        if self.seed:
            arguments.append(f"--numerics-seed={self.seed}")
        count = sum(1 for _ in small.walk()) - 3  # module, function and return
        text = reproducer_text(small, arguments, f"values changed: {culprit}")
        return write_reproducer(self.path, text), count

    def _fails(self, module: ModuleOp, passes: Sequence[ModulePass], draws: Sequence[Draw]) -> bool:
        """Whether passes change the values of a module, which they are run on."""
        exact = is_exact(passes)
        reference = reference_of(module, self.seed, draws, extremes=exact)
        if not reference.results or replay(self.ctx, module, passes) is None:
            return False
        return mismatch_of(module, reference, exact=exact) is not None
