"""Projections of one tensor by several weights, as one kernel."""

from __future__ import annotations

from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.passes.fusion.pattern import Any, Node, Weight
from ge_dialect.passes.fusion.rule import SiblingRule

PROJECTION = Node(MatmulOp, (Any("x"), Weight("weight")))

RULES = (SiblingRule("QKVProjection", "QKVProjectionFusion", PROJECTION, count=3, priority=5),)
