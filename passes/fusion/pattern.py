"""What a rule's pattern is made of: ops, captures, optional ops, and alternatives.

A pattern is a tree that starts at the op whose result leaves the kernel; a value that is captured
under one name twice, or an op that is reached twice, makes it a graph. An attribute of a matched
op is compared, kept or declared not to matter; `ge.fusion` carries the op itself, so what is kept
can never be lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ge_dialect.ge.base import GEOp
from ge_dialect.passes.fusion.attrs import (
    DONT_CARE,
    KEEP,
    Absent,
    Among,
    AttrSpec,
    DontCare,
    Equals,
    Keep,
    Plain,
    Present,
    Verdict,
    Within,
    number_of,
    rounded,
    shown,
)

__all__ = [
    "DONT_CARE",
    "KEEP",
    "NOTHING",
    "Absent",
    "Among",
    "Any",
    "AttrSpec",
    "Const",
    "DontCare",
    "Equals",
    "Keep",
    "Maybe",
    "Node",
    "Nothing",
    "OneOf",
    "Pattern",
    "Plain",
    "Present",
    "Verdict",
    "Weight",
    "Within",
    "nodes_of",
    "number_of",
    "rounded",
    "shown",
]


@dataclass(frozen=True)
class Any:
    """Any value from outside. The same name twice means the same value."""

    name: str = ""


@dataclass(frozen=True)
class Weight:
    """A constant of any size."""

    name: str = ""


@dataclass(frozen=True)
class Const:
    """A constant of one element with this value, compared in the constant's own type."""

    value: float
    name: str = ""


@dataclass(frozen=True)
class Nothing:
    """An optional operand that is not there; only in `Node.ports`."""


NOTHING = Nothing()


@dataclass(frozen=True)
class Node:
    """An op, its operands and attributes.

    Attributes:
        op: The op class.
        operands: Patterns of its first operands; further operands are inputs of the kernel.
        attrs: What each property may be; one that is not listed makes the rule invalid.
        commutes: Whether the two operands may be the other way round.
        name: For conditions, and for `FusionRule.outputs`.
        ports: Patterns of operands by the name that the op gives them, for optional ones.
        result: Which result of the op the reader takes.
    """

    op: type[GEOp]
    operands: tuple[Pattern, ...] = ()
    attrs: Mapping[str, AttrSpec] = field(default_factory=dict[str, AttrSpec])
    commutes: bool = False
    name: str = ""
    ports: Mapping[str, Pattern] = field(default_factory=dict[str, "Pattern"])
    result: int = 0


@dataclass(frozen=True)
class Maybe:
    """An op that may stand before `node.operands[0]`, or be left out."""

    node: Node


@dataclass(frozen=True)
class OneOf:
    """Any of several patterns, the first that fits."""

    choices: tuple[Pattern, ...]


Pattern: TypeAlias = Any | Weight | Const | Nothing | Node | Maybe | OneOf


def nodes_of(pattern: Pattern) -> tuple[Node, ...]:
    """Returns the nodes of a pattern, root first; those of all alternatives."""
    match pattern:
        case Maybe():
            return nodes_of(pattern.node)
        case OneOf():
            return tuple(node for choice in pattern.choices for node in nodes_of(choice))
        case Node():
            inner = (*pattern.operands, *pattern.ports.values())
            return (pattern, *(node for operand in inner for node in nodes_of(operand)))
        case _:
            return ()
