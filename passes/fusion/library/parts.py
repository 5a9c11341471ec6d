"""Parts that the patterns of several families share."""

from __future__ import annotations

from ge_dialect.ge.activations import (
    GeluOp,
    HardSwishOp,
    LeakyReluOp,
    QuickGeluOp,
    ReluOp,
    SigmoidOp,
    SiluOp,
    TanhOp,
)
from ge_dialect.ge.base import GEOp
from ge_dialect.passes.fusion.pattern import KEEP, AttrSpec, Node, Pattern
from ge_dialect.passes.fusion.rules import SEGMENTS

ACTIVATIONS: tuple[type[GEOp], ...] = (
    *(ReluOp, GeluOp, SiluOp, SigmoidOp, TanhOp),
    *(QuickGeluOp, HardSwishOp, LeakyReluOp),
)
"""Functions of one element that kernels apply on the way out."""

LIBRARY_910B = ("Ascend910B",)
"""Machines whose operator library has the newer fused kernels."""


def part(op: type[GEOp], *operands: Pattern, name: str = "", **attrs: AttrSpec) -> Node:
    """Returns a node whose properties are kept, but for those that are given."""
    properties = op.get_irdl_definition().properties
    kept: dict[str, AttrSpec] = {key: KEEP for key in properties if key not in SEGMENTS}
    return Node(op, operands, kept | attrs, name=name)


def either_order(op: type[GEOp], first: Pattern, second: Pattern, name: str = "") -> Node:
    """Returns a node whose two operands may be the other way round."""
    return Node(op, (first, second), {}, commutes=True, name=name)


def activated(operand: Pattern, name: str = "") -> tuple[Node, ...]:
    """Returns a node for each activation of an operand, to be the alternatives of a rule."""
    return tuple(part(op, operand, name=name) for op in ACTIVATIONS)
