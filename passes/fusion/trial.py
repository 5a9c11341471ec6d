"""The counterfactual of a near miss: the change that would make it fire, tried on a clone.

Only the matched ops are cloned, into a function of their own with the same constants, and with a
return of each value that others read; so a trial costs as much as the match did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.greatest import byte_size
from ge_dialect.ge.symbolic import DATA_SYMBOLS, SYMBOLS, function_of
from ge_dialect.passes.fusion.attrs import plain
from ge_dialect.passes.fusion.build import fuse_match
from ge_dialect.passes.fusion.match import Failure, Match, match_rule
from ge_dialect.passes.fusion.pattern import shown
from ge_dialect.passes.fusion.rule import FusionRule
from ge_dialect.remarks import ReasonClass

GATES = (ReasonClass.DISABLED, ReasonClass.VERSION, ReasonClass.TARGET)


def counterfactual(rule: FusionRule, match: Match) -> str | None:
    """Returns what would make a rule fire, as `with epsilon 1e-05 it fires and saves 4096 bytes`.

    None where no change is known, or where trying it has shown that it does not help.

    Args:
        rule: What did not fire.
        match: Its whole structure with the failures.
    """
    clone = isolate(match)
    root = clone[match.ops[0]]
    assert isinstance(root, GEOp)
    changes: dict[str, None] = {}
    for failure in match.failures:
        changed, text = _changed(rule, match, failure, clone)
        if changed is None:
            return None
        rule = changed
        changes.setdefault(text)
    if not _fires(rule, root):
        return None
    condition = " and ".join(filter(None, changes))
    fires = f"with {condition} it fires" if condition else "without that it fires"
    saved = saved_bytes(match)
    return fires if saved is None else f"{fires} and saves {saved} bytes"


def _changed(
    rule: FusionRule, match: Match, failure: Failure, clone: dict[Operation, Operation]
) -> tuple[FusionRule | None, str]:
    """Removes the cause of a failure, in the clone or in the rule; returns the rule and a text."""
    if failure.repair is not None:
        return _repaired(rule, failure, clone)
    if failure.reason in GATES:
        return rule, ""
    if failure.reason is ReasonClass.DTYPE and failure.op in match.ops and match.casts:
        return replace(rule, cast_tolerant=True), "a cast-tolerant rule"
    if failure.reason is ReasonClass.USE:
        names = [name for name, op in match.named.items() if op is failure.op]
        if names and names[0] not in rule.outputs:
            given = (*rule.outputs, names[0])
            return replace(rule, outputs=given), f"'{names[0]}' among the outputs of the rule"
    return None, ""


def _repaired(
    rule: FusionRule, failure: Failure, clone: dict[Operation, Operation]
) -> tuple[FusionRule | None, str]:
    repair = failure.repair
    assert repair is not None
    properties = clone[failure.op].properties
    attr = repair.spec.repaired(properties.get(repair.attribute))
    if attr is None:
        properties.pop(repair.attribute, None)
        return rule, f"no {repair.attribute}"
    properties[repair.attribute] = attr
    value = plain(attr)
    return rule, f"{repair.attribute} {attr if value is None else shown(value)}"


def _fires(rule: FusionRule, root: GEOp) -> bool:
    """Whether a rule fires in a clone, and what it makes is valid."""
    match = match_rule(rule, root, explain=False)
    if not match.ok:
        return False
    function = root.parent_op()
    assert isinstance(function, FuncOp)
    try:
        for op in match.producers_first:
            op.verify()
        fuse_match(rule, match)
        function.verify()
    except VerifyException:
        return False
    return True


def isolate(match: Match) -> dict[Operation, Operation]:
    """Returns clones of the matched ops, in a new function that is part of a new module."""
    ops = match.producers_first
    inside = {result for op in ops for result in op.results}
    outside = list(dict.fromkeys(v for op in ops for v in op.operands if v not in inside))
    inputs = [value for value in outside if not isinstance(value.owner, ConstantOp)]
    block = Block(arg_types=[value.type for value in inputs])
    mapping: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for value in outside:
        if isinstance(value.owner, ConstantOp):
            block.add_op(constant := value.owner.clone())
            mapping[value] = constant.result
    clones: dict[Operation, Operation] = {}
    for op in ops:
        block.add_op(clone := op.clone(mapping))
        clones[op] = clone
    results = [mapping[value] for value in _left(match)]
    block.add_op(ReturnOp(*results))
    types = [value.type for value in inputs], [value.type for value in results]
    trial = FuncOp("trial", types, Region(block))
    if (around := function_of(match.ops[0])) is not None:
        kept = (SYMBOLS, DATA_SYMBOLS)  # conditions ask what sizes may be
        trial.attributes |= {n: a for n, a in around.attributes.items() if n in kept}
    ModuleOp([trial])
    return clones


def _left(match: Match) -> Iterator[SSAValue]:
    """Yields the results that somebody outside reads, and those of the root."""
    inside = set[Operation](match.ops)
    for op in match.producers_first:
        for result in op.results:
            if op is match.ops[0] or any(use.operation not in inside for use in result.uses):
                yield result


def saved_bytes(match: Match) -> int | None:
    """Returns the traffic that fusing a match saves; None where a size is not known.

    Each inner value is written once and read by each reader; in a kernel it stays on the chip. An
    inner value that others read as well is still written.
    """
    inside = set[Operation](match.ops)
    total = 0
    for op in match.producers_first:
        if op is match.ops[0] or op.view_of() is not None:
            continue
        for result in op.results:
            users = [use.operation for use in result.uses]
            readers = sum(user in inside for user in users)
            if (size := byte_size(result.type)) is None:
                return None
            total += size * (readers + (readers == len(users) and bool(users)))
    return total
