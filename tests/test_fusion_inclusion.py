"""Rules whose kernels do all that those of another rule do."""

from __future__ import annotations

import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.unary import AbsOp, NegOp
from ge_dialect.passes.fusion.inclusion import rules_including
from ge_dialect.passes.fusion.pattern import Any, Maybe, Node, OneOf
from ge_dialect.passes.fusion.registry import registry_of
from ge_dialect.passes.fusion.rule import FusionRule
from ge_dialect.tools.contracts import check_required

INNER = Node(NegOp, (Any("x"),))
OTHER = Node(AbsOp, (Any("x"),))


def rule(name: str, *patterns: Node) -> FusionRule:
    return FusionRule(name, name, patterns[0], alternatives=patterns[1:])


@pytest.mark.parametrize(
    ("patterns", "inside"),
    [
        ((Node(AddOp, (Any("y"), INNER)),), True),
        ((Node(AddOp, (Any("y"), Maybe(Node(AbsOp, (INNER,))))),), True),
        ((Node(AddOp, (Any("y"), Maybe(INNER))),), False),
        ((Node(AddOp, (Any("y"), OneOf((INNER, OTHER)))),), False),
        ((Node(AddOp, (Any("y"), OneOf((INNER, Node(AbsOp, (INNER,)))))),), True),
        ((Node(AddOp, (Any("y"), INNER)), Node(AddOp, (Any("y"), OTHER))), False),
        ((OTHER,), False),
    ],
)
def test_what_is_there_wherever_a_pattern_matches_is_inside(
    patterns: tuple[Node, ...], inside: bool
) -> None:
    rules = [rule("Inner", INNER), rule("Larger", *patterns)]
    assert rules_including("Inner", rules) == (["Larger"] if inside else [])
    assert rules_including("Unknown", rules) == []


def test_the_kernel_of_the_article_counts_for_the_smaller_one() -> None:
    rules = list(registry_of(()).ordered())
    assert rules_including("FlashAttentionLayerNorm", rules) == [
        "FlashAttentionLayerNormDropoutAdd"
    ]


def test_a_larger_kernel_meets_a_requirement() -> None:
    inner, larger = "FlashAttentionLayerNorm", "FlashAttentionLayerNormDropoutAdd"
    check_required([f"{inner}:3"], {inner: 1, larger: 2}, [])
    with pytest.raises(GEError, match=f"expected 4 fusions by '{inner}', got 3"):
        check_required([f"{inner}:4"], {inner: 1, larger: 2}, [])
    with pytest.raises(GEError, match=f"expected 1 fusions by '{larger}', got 0"):
        check_required([f"{larger}:1"], {inner: 1}, [])
