"""Indices that are followed to functions of their coordinates."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.dims import SymbolicDims
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.indexing import ShapeOp
from ge_dialect.ge.rearrange import RangeOp
from ge_dialect.passes.canonicalization.index_grids import MOST_OPS, Follower
from tests.kernel_reference import F32, random
from tests.op_checks import value


def doubled(start: SSAValue, times: int) -> SSAValue:
    """Each sum reads the one before it twice, so that its paths double."""
    for _ in range(times):
        start = AddOp(start, start).result
    return start


def test_what_is_read_twice_is_followed_once() -> None:
    counted = RangeOp(0, 1, 5, i64).result
    found = Follower().of(doubled(counted, 40))
    assert found is not None
    assert (found.factors, found.base) == ((1 << 40,), 0)
    assert Follower().of(doubled(counted, MOST_OPS)) is None


def test_elements_of_shapes_are_followed_once() -> None:
    shape = ShapeOp(value(random(F32, 3, 4)), 0, 1).result
    found = SymbolicDims().followed(doubled(shape, 40), MOST_OPS)
    assert found is not None
    assert found.tolist() == [3 << 40]
    unknown = SymbolicDims().followed(doubled(shape, MOST_OPS), MOST_OPS)
    assert unknown is not None
    assert unknown.tolist() == [None]
