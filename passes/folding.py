"""Evaluating an op at compile time, as the passes name it; the code is the interpreters'."""

from __future__ import annotations

from ge_dialect.interpreters.folding import (
    evaluate_constant,
    foldable,
    has_constant_operands,
    is_shape_computation,
    operand_bytes,
    replace_by_constants,
    result_bytes,
)

__all__ = [
    "evaluate_constant",
    "foldable",
    "has_constant_operands",
    "is_shape_computation",
    "operand_bytes",
    "replace_by_constants",
    "result_bytes",
]
