"""Dimension expressions over symbols, their ranges, and proofs about them."""

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
from ge_dialect.symbols.parse import import_dim, parse_dim, sanitise
from ge_dialect.symbols.ranges import (
    SymbolRange,
    bounds,
    prove_divisible,
    prove_equal,
    simplify,
)

__all__ = [
    "Dim",
    "DimExpr",
    "DimLimitError",
    "SymbolRange",
    "bounds",
    "ceil_div",
    "evaluate",
    "floor_div",
    "import_dim",
    "maximum",
    "minimum",
    "mod",
    "parse_dim",
    "product",
    "prove_divisible",
    "prove_equal",
    "sanitise",
    "simplify",
    "substitute",
    "symbol",
    "symbols_of",
]
