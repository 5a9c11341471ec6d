"""The verification of an op without what finds nothing in most, for `quick_ir`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Block, ErasedSSAValue, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedSegments,
    BaseAttr,
    OpDef,
    OperandDef,
    OptionalDef,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    ResultDef,
    VariadicDef,
    VerificationContext,
    irdl_op_verify_regions,
)
from xdsl.traits import IsolatedFromAbove, OpTrait
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.access import operands_of

_Parts: TypeAlias = Sequence[
    tuple[AttrConstraint | None, RangeConstraint, type[VariadicDef] | None]
]
"""What operands or results have to be: one by itself where that is known; otherwise in a row, and
whether there may be any number of them, or none."""


@dataclass(frozen=True)
class _Checks:
    """What to verify of an op.

    Attributes:
        operands, results: Their parts, at most one of them of any number.
        properties: What they have to be, and whether an op may be without.
        regions: Whether there are any, which xDSL verifies.
    """

    operands: _Parts
    results: _Parts
    properties: Mapping[str, tuple[AttrConstraint, bool]]
    regions: bool


_verify_anywhere, _verify_isolated = Operation.verify, IsolatedFromAbove.verify
_verify_by_name = OpDef.verify


def verify(self: Operation, verify_nested_ops: bool = True) -> None:
    """As `Operation.verify`, which looks at where an op stands: most have neither successors nor
    regions, and end no block."""
    block = self.parent
    successors = self._successors  # pyright: ignore[reportPrivateUsage]  # of the class in xDSL
    if block is None or block.last_op is self or self.regions or successors:
        return _verify_anywhere(self, verify_nested_ops)
    for operand in operands_of(self):
        if isinstance(operand, ErasedSSAValue):
            raise ValueError("Erased SSA value is used by the operation")
    try:
        self.verify_()
    except VerifyException as error:
        self.emit_error(f"Operation does not verify: {error}", error)


def verify_isolated(self: IsolatedFromAbove, op: Operation) -> None:
    """As `IsolatedFromAbove.verify`: what the ops of a block read is mostly made in that block."""
    regions = op.regions
    block = regions[0].first_block if len(regions) == 1 else None
    if block is not None and block.next_block is None and _is_closed(block):
        return
    _verify_isolated(self, op)


def _is_closed(block: Block) -> bool:
    """Whether the ops of a block read nothing from outside, and nothing in them may."""
    for op in block.ops:
        if op.regions and not op.has_trait(IsolatedFromAbove):
            return False
        for operand in operands_of(op):
            owner = operand.owner
            if owner is not block and getattr(owner, "parent", None) is not block:
                return False
    return True


def verify_op(self: OpDef, op: Operation) -> None:
    """As `OpDef.verify`, but parts are not looked up by name where their places follow from how
    many there are. What is wrong is verified again, for the message."""
    if "_ge_checks" not in (known := vars(self)):
        known["_ge_checks"] = _checks_of(self)
    checks: _Checks | None = known["_ge_checks"]
    if checks is None or not _fits(op, self, checks):
        _verify_by_name(self, op)
        return
    traits, checked = known.get("_ge_traits", (None, ()))
    if traits is not self.traits.traits:
        traits = self.traits.traits
        checked = [one for one in traits if type(one).verify is not OpTrait.verify]
        known["_ge_traits"] = traits, checked
    for trait in checked:
        trait.verify(op)


def _checks_of(definition: OpDef) -> _Checks | None:
    """Returns what to verify of an op; None where an op says itself how many parts it has."""
    if definition.successors or definition.attributes:
        return None
    if any(isinstance(one, AttrSizedSegments) for one in definition.options):
        return None
    operands = [(_alone(part), part.constr, _kind(part)) for _, part in definition.operands]
    results = [(_alone(part), part.constr, _kind(part)) for _, part in definition.results]
    if any(sum(kind is not None for *_, kind in parts) > 1 for parts in (operands, results)):
        return None
    properties = {
        name: (part.constr, isinstance(part, OptionalDef))
        for name, part in definition.properties.items()
    }
    return _Checks(operands, results, properties, bool(definition.regions))


def _kind(part: object) -> type[VariadicDef] | None:
    return next((kind for kind in (OptionalDef, VariadicDef) if isinstance(part, kind)), None)


def _alone(part: OperandDef | ResultDef) -> AttrConstraint | None:
    """Returns what a part has to be that is just one; None where only xDSL can say that."""
    constraint = part.constr
    if _kind(part) is not None or type(constraint) is not RangeLengthConstraint:
        return None
    inner = constraint.constraint
    return inner.constr if type(inner) is RangeOf else None


def _fits(op: Operation, definition: OpDef, checks: _Checks) -> bool:
    """Whether an op has the parts that it should have."""
    properties, given = checks.properties, op.properties
    successors = op._successors  # pyright: ignore[reportPrivateUsage]  # as above
    if successors or (op.regions and not checks.regions):
        return False
    if not given.keys() <= properties.keys():
        return False
    context = VerificationContext()
    try:
        if not _are(operands_of(op), checks.operands, context):
            return False
        if not _are(op.results, checks.results, context):
            return False
        if checks.regions:
            irdl_op_verify_regions(op, definition, context)
        for name, (constraint, is_optional) in properties.items():
            if (attribute := given.get(name)) is not None:
                constraint.verify(attribute, context)
            elif not is_optional:
                return False
    except VerifyException:
        return False
    return True


def _are(values: Sequence[SSAValue], parts: _Parts, context: VerificationContext) -> bool:
    """Whether values are as many as parts need; what they are is verified.

    Raises:
        VerifyException: One is something else.
    """
    types = [value.type for value in values]
    count, start = len(types), 0
    more = count - len(parts)
    if more < -1:
        return False
    for alone, constraint, kind in parts:
        if alone is not None and start < count:
            # Most have to be of just one class.
            if type(alone) is not BaseAttr or alone.attr is not type(types[start]):
                alone.verify(types[start], context)
            start += 1
            continue
        end = start + 1 if kind is None else start + 1 + more
        if kind is OptionalDef and more > 0:
            return False
        constraint.verify(types[start:end], context)
        start = end
    return start == count
