"""The greatest and the least of several dimensions, in normal form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ge_dialect.symbols.expr import Dim, DimExpr, Opaque, opaque


def maximum(*dims: Dim) -> Dim:
    """Returns the greatest of one or more dimensions.

    Nested ones are merged, and operands that another exceeds by a number are dropped.

    Raises:
        ValueError: `dims` is empty, or the result is too large.
    """
    return _extremum("max", dims)


def minimum(*dims: Dim) -> Dim:
    """Returns the least of one or more dimensions, simplified as in `maximum`.

    Raises:
        ValueError: `dims` is empty, or the result is too large.
    """
    return _extremum("min", dims)


def _extremum(kind: Literal["max", "min"], dims: Iterable[Dim]) -> Dim:
    kept: list[Dim] = []
    for dim in dims:
        for operand in _operands(kind, dim):
            _insert(kept, operand, 1 if kind == "max" else -1)
    if not kept:
        raise ValueError(f"expected '{kind}' of one dimension or more, got none")
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda operand: (isinstance(operand, int), str(operand)))
    return opaque(kind, tuple(kept))


def _operands(kind: Literal["max", "min"], dim: Dim) -> tuple[Dim, ...]:
    if isinstance(dim, DimExpr) and len(dim.terms) == 1:
        mono, coefficient = dim.terms[0]
        head = mono[0]
        if len(mono) == coefficient == 1 and isinstance(head, Opaque) and head.kind == kind:
            return head.args
    return (dim,)


def _insert(kept: list[Dim], dim: Dim, sign: int) -> None:
    """Adds `dim` to operands no two of which differ by a number, keeping the better of such two."""
    for position, other in enumerate(kept):
        difference = dim - other
        if isinstance(difference, int):
            if difference * sign > 0:
                kept[position] = dim
            return
    kept.append(dim)
