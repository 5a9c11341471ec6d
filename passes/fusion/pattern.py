"""What a rule's pattern is made of: ops, captures, optional ops, and what their attributes may be.

A pattern is a tree that starts at the op whose result leaves the kernel. An attribute of a matched
op is compared, kept or declared not to matter; `ge.fusion` carries the op itself, so what is kept
can never be lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from ge_dialect.ge.base import GEOp


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds, with what was there and what was wanted."""

    holds: bool
    found: str = ""
    wanted: str = ""


@dataclass(frozen=True)
class Keep:
    """Any value; the fused kernel carries it."""

    def test(self, attr: Attribute | None) -> Verdict:
        """Holds always."""
        return Verdict(True)


@dataclass(frozen=True)
class Equals:
    """Exactly this number, compared in the attribute's own type.

    `1e-5` is rounded to the type of the attribute first: an f32 epsilon is never the f64 number.
    """

    value: float

    def test(self, attr: Attribute | None) -> Verdict:
        """Compares an attribute; an absent one does not hold."""
        found = number_of(attr)
        wanted = rounded(self.value, attr)
        return Verdict(found == wanted, shown(found), shown(wanted))


@dataclass(frozen=True)
class Within:
    """A number from `low` to `high`, both included, each rounded to the attribute's type."""

    low: float
    high: float

    def test(self, attr: Attribute | None) -> Verdict:
        """Compares an attribute; an absent one does not hold."""
        found = number_of(attr)
        low, high = rounded(self.low, attr), rounded(self.high, attr)
        holds = found is not None and low <= found <= high
        return Verdict(holds, shown(found), f"{shown(low)} to {shown(high)}")


@dataclass(frozen=True)
class Absent:
    """The attribute must not be there (a flag that is off)."""

    def test(self, attr: Attribute | None) -> Verdict:
        """Holds where there is no attribute."""
        return Verdict(attr is None, str(attr), "absent")


AttrSpec: TypeAlias = Keep | Equals | Within | Absent
KEEP = Keep()


@dataclass(frozen=True)
class Any:
    """Any value from outside. The same name twice means the same value."""

    name: str = ""


@dataclass(frozen=True)
class Weight:
    """A constant of any size."""

    name: str = ""


@dataclass(frozen=True)
class Node:
    """An op, its operands and attributes.

    Attributes:
        op: The op class.
        operands: Patterns of its first operands; further operands are inputs of the kernel.
        attrs: What each property may be; one that is not listed makes the rule invalid.
        commutes: Whether the two operands may be the other way round.
        name: For conditions.
    """

    op: type[GEOp]
    operands: tuple[Pattern, ...] = ()
    attrs: Mapping[str, AttrSpec] = field(default_factory=dict[str, AttrSpec])
    commutes: bool = False
    name: str = ""


@dataclass(frozen=True)
class Maybe:
    """An op that may stand before `node.operands[0]`, or be left out."""

    node: Node


Pattern: TypeAlias = Any | Weight | Node | Maybe


def number_of(attr: Attribute | None) -> float | int | None:
    """Returns the number of an attribute, exactly as it holds it."""
    if isinstance(attr, FloatAttr | IntegerAttr):
        return attr.value.data
    return None


def rounded(value: float, attr: Attribute | None) -> float:
    """Returns `value` as the type of `attr` holds it."""
    if not isinstance(attr, FloatAttr):
        return value
    type_ = cast("FloatAttr[AnyFloat]", attr).type
    return FloatAttr(value, type_).value.data


def shown(value: float | None) -> str:
    """Returns a number as messages print it: short, since f32 1e-05 is 9.999999747378752e-06."""
    if value is None:
        return "nothing"
    return f"{value:.7g}"


def nodes_of(pattern: Pattern) -> tuple[Node, ...]:
    """Returns the nodes of a pattern, root first."""
    match pattern:
        case Maybe():
            return nodes_of(pattern.node)
        case Node():
            inner = [node for operand in pattern.operands for node in nodes_of(operand)]
            return (pattern, *inner)
        case _:
            return ()
