"""The body of a kernel that a rule's own function makes: called, checked, and put into place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeGuard, cast

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp, set_type
from ge_dialect.ge.types import compatible
from ge_dialect.locations import fuse
from ge_dialect.passes.fusion.match import Match, blame
from ge_dialect.passes.fusion.rule import FusionRule


def replace_match(rule: FusionRule, match: Match) -> tuple[list[GEOp], list[SSAValue]]:
    """Puts the ops of a replacement where the matched ops were; returns them and their results.

    Args:
        rule: Has a replacement.
        match: Whole; its ops are gone afterwards.

    Raises:
        GEError: The replacement fails, or what it gives cannot take the place of the matched ops
            (GE0444).
    """
    root = match.ops[0]
    new = _made(rule, match)
    _check(rule, match, new)
    location = fuse(op.location for op in match.producers_first)
    block = root.parent
    assert block is not None
    for op in new:
        op.location = location
        block.insert_op_before(op, root)
    for old, result in zip(root.results, new[-1].results, strict=True):
        result.name_hint = old.name_hint
        set_type(result, old.type)  # which may be wider than what follows from the operands
        old.replace_all_uses_with(result)
    for op in dict.fromkeys(match.ops):
        op.detach()
        op.erase()
    return new, list(new[-1].results)


def _made(rule: FusionRule, match: Match) -> list[GEOp]:
    """Calls the function; it comes from others, and may do or return anything."""
    assert rule.replacement is not None
    try:
        made = cast("object", rule.replacement(match))
    except GEError:
        raise
    except Exception as error:
        _refuse(rule, match, f"fails: {blame(error)}", "correct it")
    new = list(made) if _is_list(made) else []
    if not new or not all(isinstance(op, GEOp) for op in new):
        what = "nothing" if made in (None, []) else f"a {type(made).__name__}"
        _refuse(rule, match, f"gave {what}, expected a list of new ops of ge", _FORM)
    return cast("list[GEOp]", new)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence)


def _check(rule: FusionRule, match: Match, new: Sequence[GEOp]) -> None:
    """Checks that new ops can stand for those of a match."""
    inside = {result for op in match.ops for result in op.results}
    known: set[SSAValue] = set()
    seen: set[Operation] = set()
    for op in new:
        if op.parent is not None or op in seen:
            what = "a matched op" if op in match.ops else "one op twice" if op in seen else "an op"
            _refuse(rule, match, f"gave {what} ('{op.name}') that has its place already", _FORM)
        seen.add(op)
        for operand in op.operands:
            owner = operand.owner
            if operand in inside and isinstance(owner, Operation):
                _refuse(rule, match, f"reads a result of '{owner.name}', which goes", _READ)
            late = isinstance(owner, Operation) and owner.parent is None
            if late and operand not in known:
                _refuse(rule, match, f"reads in '{op.name}' what it has not given before", _FORM)
        known.update(op.results)
        _verify(rule, match, op)
    _same_results(rule, match, new[-1])


def _verify(rule: FusionRule, match: Match, op: GEOp) -> None:
    try:
        op.verify()
    except VerifyException as error:
        reason = " ".join(str(error).split())[:200]
        _refuse(rule, match, f"gave an invalid '{op.name}': {reason}", "correct it")


def _same_results(rule: FusionRule, match: Match, last: GEOp) -> None:
    root = match.ops[0]
    found = [result.type for result in last.results]
    wanted = [result.type for result in root.results]
    same = len(found) == len(wanted) and all(map(compatible, wanted, found))
    if not same:
        shown = [", ".join(map(str, types)) for types in (found, wanted)]
        problem = f"ends with {shown[0]}, expected {shown[1]} as of '{root.name}'"
        _refuse(rule, match, problem, "let its last op give the results of the matched root")


_FORM = "return the ops of the kernel in order, each made anew, the one with the results last"
_READ = "read the captures, or make the op anew"


def _refuse(rule: FusionRule, match: Match, problem: str, hint: str) -> NoReturn:
    where = f"the replacement of rule '{rule.name}' for '{match.ops[0].name}'"
    raise GEError("GE0444", f"{where} {problem}", hint=hint)
