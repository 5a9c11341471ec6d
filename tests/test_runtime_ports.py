"""Inputs and outputs of the runtime: names, shapes, types."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.runtime.ports import Port, check_feeds, random_feeds

Array = npt.NDArray[Any]

PORTS = (Port("x", (2, 3), np.dtype(np.float32)), Port("n", (), np.dtype(np.int64)))


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({}, "GE0801: 2 of 2 inputs are missing: 'x' float32[2, 3], 'n' int64[]"),
        (
            {"x": 0, "n": 0, "m": 0},
            "GE0802: unknown input 'm'; the inputs of the model are: 'x', 'n'",
        ),
        ({"x": np.zeros((3, 2), np.float32), "n": np.int64(1)}, "got float32[3, 2]"),
        ({"x": np.zeros((2, 3)), "n": np.int64(1)}, "convert it with .astype('float32')"),
        (
            {"x": np.zeros((2, 3), np.float32), "n": np.int32(1)},
            "GE0803: input 'n': expected int64[], got int32[]; convert it with .astype('int64')",
        ),
    ],
)
def test_feeds_that_do_not_fit_are_refused(feeds: dict[str, Array], message: str):
    with pytest.raises(GEError) as caught:
        check_feeds(PORTS, feeds)
    assert message in str(caught.value)


def test_feeds_may_have_another_byte_order():
    swapped = {"x": np.ones((2, 3), ">f4"), "n": np.array(5, ">i8")}
    assert check_feeds(PORTS, swapped)["n"] == 5


def test_random_feeds_fit_and_depend_on_the_seed_alone():
    names = ("bool", "int4", "uint8", "bfloat16", "float8_e4m3fn", "complex64", "object")
    import ml_dtypes

    types = [np.dtype(getattr(ml_dtypes, name, name)) for name in names]
    ports = [Port(name, (3, 2), dtype) for name, dtype in zip(names, types, strict=True)]
    first, again = random_feeds(ports, 1), random_feeds(ports, 1)
    check_feeds(ports, first)
    assert all((first[name] == again[name]).all() for name in names)
    assert (first["bfloat16"] != random_feeds(ports, 2)["bfloat16"]).any()
