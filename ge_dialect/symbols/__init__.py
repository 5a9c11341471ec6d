"""Dimension expressions over symbols, their ranges, and proofs about them."""

from ge_dialect.symbols.assumed import assumed, assuming
from ge_dialect.symbols.division import ceil_div, floor_div, mod
from ge_dialect.symbols.expr import (
    Dim,
    DimExpr,
    DimLimitError,
    evaluate,
    product,
    substitute,
    symbol,
    symbols_of,
)
from ge_dialect.symbols.extrema import maximum, minimum
from ge_dialect.symbols.guards import Guard, Relation
from ge_dialect.symbols.parse import import_dim, parse_dim, sanitise
from ge_dialect.symbols.products import with_known_products
from ge_dialect.symbols.ranges import (
    SymbolRange,
    bounds,
    prove_divisible,
    prove_equal,
    simplify,
)
from ge_dialect.symbols.solve import linear_in, solve_for, solving_order

__all__ = [
    "Dim",
    "DimExpr",
    "DimLimitError",
    "Guard",
    "Relation",
    "SymbolRange",
    "assumed",
    "assuming",
    "bounds",
    "ceil_div",
    "evaluate",
    "floor_div",
    "import_dim",
    "linear_in",
    "maximum",
    "minimum",
    "mod",
    "parse_dim",
    "product",
    "prove_divisible",
    "prove_equal",
    "sanitise",
    "simplify",
    "solve_for",
    "solving_order",
    "substitute",
    "symbol",
    "symbols_of",
    "with_known_products",
]
