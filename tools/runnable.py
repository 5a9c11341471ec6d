"""A plan that runs: as often as wanted, from any number of threads at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ge_dialect.tools.runtime.executor import Executor, TaskTime
    from ge_dialect.tools.runtime.ports import Port


class RunnablePlan:
    """What has a module with a plan, and the weights of a plan that comes from a file."""

    module: ModuleOp
    weights: memoryview | None

    @cached_property
    def executor(self) -> Executor:
        """What runs the plan; made, and the plan verified, when it is first asked for.

        Raises:
            GEError: The plan is not sound (GE0540), or a launch does not fit its kernel (GE0807).
        """
        from ge_dialect.tools.runtime.executor import Executor

        return Executor(self.module, self.weights)

    @property
    def inputs(self) -> Sequence[Port]:
        """Name, shape and element type of each input, in the order of the model."""
        return self.executor.inputs

    @property
    def outputs(self) -> Sequence[Port]:
        """Name, shape and element type of each output, in the order of the model."""
        return self.executor.outputs

    def run(
        self,
        feeds: Mapping[str, Any],
        *,
        schedule_seed: int | None = None,
        poison: bool = False,
    ) -> dict[str, Any]:
        """Returns the outputs by name, from the reference runtime.

        Each run has memory of its own; outputs are the caller's to keep.

        Args:
            feeds: One array an input, by name, of exactly its shape and type; a list for a
                sequence, None or a value for an optional, a dictionary for a map.
            schedule_seed: Runs the streams on this thread, in a random order that the events
                allow, the same for the same seed; None runs each stream on a thread of its own.
            poison: Fills memory with 0xFF before the run, and each buffer after its last use.

        Raises:
            GEError: An input is missing or unknown, or has another shape or type (GE0801 to
                GE0803), there is not enough memory (GE0806), or a kernel fails (GE0808, GE0809).
        """
        return self.executor.run(feeds, schedule_seed=schedule_seed, poison=poison)

    def profile(self, feeds: Mapping[str, Any]) -> Sequence[TaskTime]:
        """Runs the plan and returns how long each task took, in the order of the plan.

        Raises:
            GEError: As `run`.
        """
        return self.executor.profile(feeds)[1]
