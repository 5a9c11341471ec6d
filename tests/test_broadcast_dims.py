"""Broadcasting of symbolic dimensions: what is inferred holds in every run that does not fail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.ge.types import broadcast_shapes
from ge_dialect.symbols import evaluate, parse_dim

DIMS = (
    "S", "T", "2*S", "S + 1", "min(S, 4)", "min(S, T)", "min(2*S, 6)", "min(S + 1, 1)",
    "min(S, 0)", "min(S, T, 3)", "max(S, 2)", "min(T, 2)", "1", "3",
)  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("S", "min(S, 4)", "S"),
        ("min(S, 4)", "S", "S"),
        ("2*S + 1", "min(2*S + 1, 9)", "2*S + 1"),
        ("min(S, 5)", "min(S, 3)", "min(S, 5)"),
        ("min(S, T)", "min(S, T, 3)", "min(S, T)"),
        ("S", "min(S, T)", None),
        ("S", "min(T, 4)", None),
        ("S", "T", None),
    ],
)
def test_a_dimension_covers_its_own_minimum_with_a_number(
    first: str, second: str, expected: str | None
):
    (found,) = broadcast_shapes([(parse_dim(first),), (parse_dim(second),)])
    assert found == (None if expected is None else parse_dim(expected))


@given(
    st.lists(st.sampled_from(DIMS), min_size=2, max_size=3),
    st.integers(0, 7),
    st.integers(0, 7),
)
def test_a_symbolic_result_is_what_numpy_gives(texts: list[str], s: int, t: int):
    dims = [parse_dim(text) for text in texts]
    (found,) = broadcast_shapes([(dim,) for dim in dims])
    values = {"S": s, "T": t}
    try:
        (expected,) = np.broadcast_shapes(*((evaluate(dim, values),) for dim in dims))
    except ValueError:
        return
    if found is not None:
        assert evaluate(found, values) == expected
