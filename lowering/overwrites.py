"""Whether tasks write over what they read only where their kernels may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.in_place import in_place_pairs_of
from ge_dialect.ge_exec import KernelOp, LaunchOp, StoreOp
from ge_dialect.ge_exec.control import TaskOp
from ge_dialect.lowering.plan_bytes import Access, overlap
from ge_dialect.lowering.plan_clocks import CODE
from ge_dialect.lowering.plan_names import describe, describe_task


@dataclass
class Overwrites:
    """Checks the tasks of a plan.

    Attributes:
        kernels: Those beside the plan, by name.
        pairs: Of the kernels so far, the arguments and results that may share bytes.
    """

    kernels: Mapping[str, KernelOp] = field(default_factory=dict[str, KernelOp])
    pairs: dict[KernelOp, Sequence[tuple[int, int]]] = field(
        default_factory=dict[KernelOp, Sequence[tuple[int, int]]]
    )

    def check(self, task: TaskOp, read: Sequence[Access], written: Sequence[Access]) -> None:
        """Checks one task.

        Args:
            task: Any.
            read: The bytes that it reads.
            written: The bytes that it writes.

        Raises:
            GEError: It writes over something that it still reads, or two results to one place.
        """
        for j, target in enumerate(written):
            for other in written[:j]:
                if overlap(target, other):
                    what = f"{describe_task(task)} writes two results to the same bytes"
                    raise GEError(CODE, what)
            if isinstance(task, StoreOp) and overlap(read[1], target):
                what = f"{describe_task(task)} writes over the number of its slice"
                raise GEError(CODE, what)
            for i, source in enumerate(read):
                if source.arena is not target.arena or not overlap(source, target):
                    continue
                same = (source.start, source.end) == (target.start, target.end)
                if not same or (i, j) not in self._pairs_of(task):
                    raise GEError(
                        CODE,
                        f"{describe_task(task)} writes {describe(target.owner)} over"
                        f" {describe(source.owner)}, which it still reads",
                    )

    def _pairs_of(self, task: TaskOp) -> Sequence[tuple[int, int]]:
        """Returns what the kernel of a task may write over; nothing where it runs none."""
        if not isinstance(task, LaunchOp):
            return ()
        if (kernel := self.kernels.get(task.kernel.string_value())) is None:
            return ()
        if (known := self.pairs.get(kernel)) is None:
            known = self.pairs[kernel] = in_place_pairs_of(kernel.body.block)
        return known
