"""Products that are known although their factors are not: `u0*u1` where a reshape keeps 24."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ge_dialect.symbols.expr import Dim, DimExpr, Mono, product, rebuild_terms
from ge_dialect.symbols.guards import Guard, Relation


def with_known_products(dim: Dim, facts: Sequence[Guard]) -> Dim:
    """Returns `dim` with products of symbols replaced by what facts say they are.

    Args:
        dim: Any.
        facts: What holds; only equalities with a product of several factors on the left count.

    Raises:
        DimLimitError: The result is too large.
    """
    if isinstance(dim, int):
        return dim
    for fact in facts:
        mono = _product(fact)
        if mono is not None:
            dim = rebuild_terms(dim, lambda found, mono=mono, fact=fact: _known(found, mono, fact))
            if isinstance(dim, int):
                return dim
    return dim


def _product(fact: Guard) -> Mono | None:
    if fact.relation is not Relation.EQUAL or not isinstance(fact.left, DimExpr):
        return None
    (mono, factor), *others = fact.left.terms
    return mono if not others and factor == 1 and len(mono) > 1 else None


def _known(found: Mono, mono: Mono, fact: Guard) -> Dim | None:
    """Returns what a product is by a fact about some of its factors; None where it is not."""
    left = Counter(found)
    left.subtract(Counter(mono))
    if any(times < 0 for times in left.values()):
        return None
    rest: Mono = tuple(atom for atom in left.elements())
    return product([fact.right, DimExpr(((rest, 1),))]) if rest else fact.right
