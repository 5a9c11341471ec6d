"""Attributes that are made without the check of their parts are those that xDSL makes."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType, f32, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import int_attr
from ge_dialect.ge.types import Shape, tensor_type


def parts_of(attribute: Attribute) -> set[str]:
    return {name for name in vars(attribute) if not name.startswith("_ge_")}  # those are kept


def assert_same(made: Attribute, known: Attribute) -> None:
    assert (made, hash(made), str(made), repr(made)) == (
        known,
        hash(known),
        str(known),
        repr(known),
    )
    assert parts_of(made) == parts_of(known)
    made._verify()  # pyright: ignore[reportPrivateUsage]  # the check that was left out


@pytest.mark.parametrize("value", [0, -1, 7, True, 2**63 - 1, -(2**63), 2**63, 2**64 - 1], ids=str)
def test_integers(value: int) -> None:
    assert_same(int_attr(value), IntegerAttr(value, i64))


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_integers_without_room_are_refused(value: int) -> None:
    with pytest.raises(VerifyException, match="out of range"):
        int_attr(value)


@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 5), (None, 4)], ids=str)
def test_tensor_types(shape: Shape) -> None:
    sizes = [size if isinstance(size, int) else DYNAMIC_INDEX for size in shape]
    assert_same(tensor_type(f32, shape), TensorType(f32, sizes))
