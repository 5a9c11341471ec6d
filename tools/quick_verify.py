"""The verification of an op without the look-up of its parts by name, for `quick_ir`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedSegments,
    OpDef,
    OptionalDef,
    RangeConstraint,
    VariadicDef,
    VerificationContext,
)
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.access import operands_of

_Parts: TypeAlias = Sequence[RangeConstraint]
_Checks: TypeAlias = tuple[_Parts, _Parts, Mapping[str, tuple[AttrConstraint, bool]]]
"""What operands and results have to be, and properties; of these, whether an op may be without."""

_verify_by_name = OpDef.verify


def verify_op(self: OpDef, op: Operation) -> None:
    """As `OpDef.verify`, but parts are not looked up by name where all ops have as many of them.
    What is wrong is verified again, for the message."""
    if "_ge_checks" not in (known := vars(self)):
        known["_ge_checks"] = _checks_of(self)
    checks: _Checks | None = known["_ge_checks"]
    if checks is None or not _fits(op, *checks):
        _verify_by_name(self, op)
        return
    for trait in self.traits:
        trait.verify(op)


def _checks_of(definition: OpDef) -> _Checks | None:
    """Returns what to verify of an op; None where ops of the definition differ in their parts."""
    parts = (*definition.operands, *definition.results)
    if definition.regions or definition.successors or definition.attributes:
        return None
    if any(isinstance(one, AttrSizedSegments) for one in definition.options):
        return None
    if any(isinstance(part, VariadicDef) for _, part in parts):
        return None
    return (
        [part.constr for _, part in definition.operands],
        [part.constr for _, part in definition.results],
        {
            name: (part.constr, isinstance(part, OptionalDef))
            for name, part in definition.properties.items()
        },
    )


def _fits(
    op: Operation,
    operands: _Parts,
    results: _Parts,
    properties: Mapping[str, tuple[AttrConstraint, bool]],
) -> bool:
    """Whether an op without regions has the parts that it should have."""
    read, made, given = operands_of(op), op.results, op.properties
    if len(read) != len(operands) or len(made) != len(results):
        return False
    if op.regions or op.successors or any(name not in properties for name in given):
        return False
    context = VerificationContext()
    try:
        for value, constraint in zip(read, operands, strict=True):
            constraint.verify((value.type,), context)
        for value, constraint in zip(made, results, strict=True):
            constraint.verify((value.type,), context)
        for name, (constraint, is_optional) in properties.items():
            if (attribute := given.get(name)) is not None:
                constraint.verify(attribute, context)
            elif not is_optional:
                return False
    except VerifyException:
        return False
    return True
