"""Why the op that a rule wants is not there: an earlier pass did not make it, or another rule took
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.structure import FusionOp
from ge_dialect.locations import location_name, op_name
from ge_dialect.passes.fusion.match import Failure
from ge_dialect.passes.fusion.rule import Rule
from ge_dialect.remarks import Kind, ReasonClass, Remark

RAISING = "ge-raise"

MAX_OPS = 32
"""How many producers are looked at, to find the one that an earlier pass stopped at."""


def overlap(rule: Rule, failure: Failure) -> Failure | None:
    """Returns the failure as an overlap, where a kernel holds the op that the rule wants.

    Args:
        rule: The one that came too late.
        failure: Where it stopped.
    """
    owner = None if failure.at is None else failure.at.owner
    if not isinstance(owner, FusionOp) or not failure.missing:
        return None
    if all(op.name != failure.missing for op in owner.body.block.ops):
        return None
    winner = owner.kernel_name.data if owner.rule is None else owner.rule.data
    message = f"'{winner}' took '{failure.missing}' first"
    fix = f"give '{rule.name}' a higher priority, or disable '{winner}'"
    return replace(
        failure, reason=ReasonClass.OVERLAP, message=message, found=winner, wanted="", fix=fix
    )


def waits_on(failure: Failure, so_far: tuple[Remark, ...]) -> Failure | None:
    """Returns the failure as one of order, where raising stopped before it made the wanted op.

    Args:
        failure: Where the rule stopped.
        so_far: What earlier passes said.
    """
    if failure.at is None or not failure.missing:
        return None
    stopped = {(r.op_name, r.location): r for r in so_far if _is_of(r, failure.missing)}
    if not stopped:
        return None
    for op in _producers(failure.at):
        if (remark := stopped.get((op_name(op), location_name(op)))) is not None:
            return _chained(failure, op, remark)
    return None


def stopped_at(wanted: str, so_far: tuple[Remark, ...]) -> Remark | None:
    """Returns the first remark of raising that it did not make an op of this name."""
    return next((remark for remark in so_far if _is_of(remark, wanted)), None)


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


def _is_of(remark: Remark, wanted: str) -> bool:
    if remark.kind is not Kind.MISSED or remark.pass_name != RAISING:
        return False
    return (composite := _composites().get(remark.rule)) is not None and composite in wanted


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
