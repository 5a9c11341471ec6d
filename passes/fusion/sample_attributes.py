"""Attributes for the graphs that a rule is tried on: what it allows, the plainest first."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import OptPropertyDef, PropertyDef

from ge_dialect.passes.fusion.attrs import (
    Absent,
    Among,
    AttrSpec,
    Equals,
    Present,
    Within,
    attribute_of,
)

EPSILON = 1e-5

TEXTS: Mapping[str, tuple[str, ...]] = {
    "approximate": ("none", "tanh"),
    "mode": ("constant", "edge", "reflect", "DCR", "CRD"),
    "reduction": ("none", "add"),
}
"""What properties that are texts may be; the verifier of an op refuses what is not for it."""


def attributes(
    definition: PropertyDef, name: str, spec: AttrSpec, rank: int
) -> list[Attribute | None]:
    """Returns attributes that fit what a rule says of a property, None for one that is left out.

    Args:
        definition: Of the property.
        name: Of the property.
        spec: What the rule says.
        rank: Of the tensors around, for lists with a number for each dimension.
    """
    like = like_of(definition)
    match spec:
        case Equals():
            return [attribute_of(spec.value, like)]
        case Within():
            ends = [end for end in (spec.low, spec.high) if abs(end) != float("inf")]
            return [attribute_of(end, like) for end in ends] or [*_any(definition, name, rank)]
        case Among():
            return [attribute_of(value, like) for value in spec.values]
        case Absent():
            return [None]
        case Present():
            return [*_any(definition, name, rank)] or [UnitAttr()]
        case _:
            return _kept(definition, name, rank)


def _kept(definition: PropertyDef, name: str, rank: int) -> list[Attribute | None]:
    """Returns values of a property that may be anything: what stands by default, then others."""
    found: list[Attribute | None] = [*_any(definition, name, rank)]
    if definition.default_value is not None:
        found = [definition.default_value, *(a for a in found if a != definition.default_value)]
    return [None, *found] if isinstance(definition, OptPropertyDef) else found


def like_of(definition: PropertyDef) -> Attribute | None:
    """Returns an attribute of the kind that a property has, where that can be told."""
    text = str(definition.constr)
    if "DenseArray" in text:
        return DenseArrayBase.from_list(i64, [])
    if "FloatAttr" in text:
        return FloatAttr(0.0, f32)
    if "IntegerAttr" in text:
        return IntegerAttr(0, i1 if "(1)" in text else i64)
    return StringAttr("") if "StringAttr" in text else None


def _any(definition: PropertyDef, name: str, rank: int) -> list[Attribute]:
    """Returns likely values of a property that may be anything; none where that is not known."""
    text = str(definition.constr)
    match like_of(definition):
        case DenseArrayBase():
            return [DenseArrayBase.from_list(i64, one) for one in _lists(name, rank)]
        case FloatAttr():
            values = (EPSILON, 0.125) if "epsilon" in name else (0.5, 2.0)
            return [FloatAttr(value, f32) for value in values]
        case IntegerAttr() if "(1)" in text:
            return [IntegerAttr(0, i1), IntegerAttr(-1, i1)]
        case IntegerAttr():
            return [IntegerAttr(n, i64) for n in ((-1, 0) if name == "axis" else (0, 1))]
        case StringAttr():
            return [StringAttr(value) for value in TEXTS.get(name, ())]
        case _:
            return [UnitAttr()] if "UnitAttr" in text else []


def _lists(name: str, rank: int) -> list[list[int]]:
    if name == "perm":
        last = [*range(rank - 2), rank - 1, rank - 2]
        turned = [*range(1, rank), 0]
        return [[max(0, axis) for axis in order] for order in (last, turned, [*range(rank)])]
    if name == "axes":
        return [[1], [0], [-1]]
    return [[1] * rank, [2] * rank, [0] * rank]
