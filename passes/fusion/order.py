"""Why the op that a rule wants is not there: an earlier pass stopped before it made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from xdsl.ir import Operation, SSAValue

from ge_dialect.locations import location_name, op_name
from ge_dialect.passes.fusion.match import Failure
from ge_dialect.remarks import Kind, ReasonClass, Remark

RAISING = "ge-raise"

MAX_OPS = 32
"""How many producers are looked at, to find the one that an earlier pass stopped at."""


class Stopped:
    """Where raising stopped, as its remarks say; looked up once for each op that rules miss."""

    def __init__(self, so_far: Iterable[Remark]):
        composites = _composites()
        self._remarks = [
            (composites[remark.rule], remark)
            for remark in so_far
            if remark.kind is Kind.MISSED
            and remark.pass_name == RAISING
            and remark.rule in composites
        ]
        self._places: dict[str, dict[tuple[str, str | None], Remark]] = {}

    def places(self, wanted: str) -> Mapping[tuple[str, str | None], Remark]:
        """Returns the remarks about not making an op of this name, by the op that they are about
        and its node."""
        if (found := self._places.get(wanted)) is None:
            found = self._places[wanted] = {
                (remark.op_name, remark.location): remark
                for composite, remark in self._remarks
                if composite in wanted
            }
        return found

    def first(self, wanted: str) -> Remark | None:
        """Returns the first remark about not making an op of this name."""
        return next((remark for made, remark in self._remarks if made in wanted), None)


def waits_on(failure: Failure, stopped: Stopped) -> Failure | None:
    """Returns the failure as one of order, where raising stopped before it made the wanted op.

    Args:
        failure: Where the rule stopped.
        stopped: What raising said.
    """
    if failure.at is None or not failure.missing:
        return None
    places = stopped.places(failure.missing)
    for op in _producers(failure.at) if places else ():
        if (remark := places.get((op_name(op), location_name(op)))) is not None:
            return _chained(failure, op, remark)
    return None


def _chained(failure: Failure, op: Operation, remark: Remark) -> Failure:
    message = f"waits on '{remark.rule}' of {RAISING}, which stopped: {remark.message}"
    return Failure(
        op,
        ReasonClass.ORDER,
        message,
        remark.found or failure.found,
        remark.wanted or failure.wanted,
        remark.fix or f"let {RAISING} make '{failure.missing}' first: see its own remark",
        missing=failure.missing,
        at=failure.at,
        chained=True,
    )


@cache
def _composites() -> Mapping[str, str]:
    """Returns what each pattern of raising makes, by its name."""
    from ge_dialect.passes.raising.raise_composites import raising_patterns

    return {type(pattern).__name__: pattern.composite for pattern in raising_patterns()}


def _producers(value: SSAValue) -> Iterator[Operation]:
    """Yields the ops that a value comes from, nearest first, at most `MAX_OPS`."""
    waiting: dict[Operation, None] = {}
    seen: set[Operation] = set()
    if isinstance(value.owner, Operation):
        waiting.setdefault(value.owner)
    while waiting and len(seen) < MAX_OPS:
        op = next(iter(waiting))
        del waiting[op]
        seen.add(op)
        yield op
        for operand in op.operands:
            if isinstance(operand.owner, Operation) and operand.owner not in seen:
                waiting.setdefault(operand.owner)
