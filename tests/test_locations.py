"""Names of the user's nodes, through fused and nested locations."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.test import TestOp

from ge_dialect.locations import fuse, location_name, location_names, name_location

A, B, C, D = (name_location(name) for name in "abcd")
LINE = FileLineColLoc(StringAttr("model.py"), IntAttr(3), IntAttr(7))


def at(location: LocationAttr) -> TestOp:
    op = TestOp()
    op.location = location
    return op


@pytest.mark.parametrize(
    ("location", "names"),
    [
        (UnknownLoc(), ()),
        (A, ("a",)),
        (LINE, ("model.py:3:7",)),
        (NameLoc(StringAttr("a"), LINE), ("a",)),
        (CallSiteLoc(A, B), ("a",)),
        (CallSiteLoc(UnknownLoc(), B), ()),
        (FusedLoc((A, FusedLoc((B, UnknownLoc()), NoneAttr()), A), StringAttr("x")), ("a", "b")),
    ],
)
def test_names_are_found_in_any_location(location: LocationAttr, names: tuple[str, ...]):
    assert location_names(at(location)) == names


def test_a_message_names_three_and_counts_the_rest():
    assert location_name(at(UnknownLoc())) is None
    assert location_name(at(fuse([A, B]))) == "a, b"
    assert location_name(at(fuse([A, B, C, D]))) == "a, b, c and 1 more"


def test_fusing_flattens_and_keeps_order():
    assert fuse([]) == UnknownLoc()
    assert fuse([UnknownLoc(), A, A]) == A
    assert fuse([B, fuse([A, C]), B]) == FusedLoc((B, A, C), NoneAttr())


def test_deep_nesting_is_no_recursion():
    nested: LocationAttr = A
    for _ in range(2000):
        nested = FusedLoc((nested, B), NoneAttr())
    assert fuse([nested]) == fuse([A, B])
