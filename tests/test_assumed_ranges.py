"""Types under declared ranges: what a range decides is in no type, and runs agree with ONNX."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import is_tensor, shape_of
from ge_dialect.symbols import SymbolRange, assumed, assuming, simplify, symbol
from ge_dialect.tools.api import compile
from tests.test_data_sizes import FLOAT, Array, check, floats, model, node

SIZES = (1, 2, 31, 32)


def shifted() -> onnx.ModelProto:
    """Each row beside the one before it, zeros before the first: as token shifts are exported."""
    constants: dict[str, Array] = {
        "zero": np.array([0]),
        "minus": np.array([-1]),
        "axis": np.array([0]),
        "pads": np.array([1, 0, 0, 0]),
    }
    nodes = [
        node("Slice", "x zero minus axis", "before"),
        node("Pad", "before pads", "padded"),
        node("Concat", "x padded", "y", axis=1),
    ]
    return model({"x": (FLOAT, ("S", 4))}, nodes, {"y": FLOAT}, constants)


def biased() -> onnx.ModelProto:
    """The last S of 64 rows of a table, added: as ALiBi is exported."""
    constants: dict[str, Array] = {
        "table": floats(64, 4),
        "most": np.array([64]),
        "end": np.array([2**63 - 1]),
        "axis": np.array([0]),
    }
    nodes = [
        node("Shape", "x", "size", start=0, end=1),
        node("Sub", "most size", "start"),
        node("Slice", "table start end axis", "rows"),
        node("Add", "x rows", "y"),
    ]
    return model({"x": (FLOAT, ("S", 4))}, nodes, {"y": FLOAT}, constants)


def last(rows: int | None) -> onnx.ModelProto:
    """The last S rows of a table of so many, or of `x` itself, counted from the back."""
    constants: dict[str, Array] = {
        "end": np.array([2**63 - 1]),
        "axis": np.array([0]),
        "table": floats(rows or 1, 4),
    }
    nodes = [
        node("Shape", "x", "size", start=0, end=1),
        node("Neg", "size", "start"),
        node("Slice", f"{'x' if rows is None else 'table'} start end axis", "rows"),
        node("Add", "x rows", "y"),
    ]
    return model({"x": (FLOAT, ("S", 4))}, nodes, {"y": FLOAT}, constants)


@pytest.mark.parametrize("rows", [None, 32, 64])
def test_rows_counted_from_the_back_are_as_many(rows: int | None):
    proto = last(rows)
    check(proto, [{"x": floats(size, 4)} for size in SIZES], "x:1~32,4")
    (function,) = import_onnx(proto, input_shapes="x:1~32,4").body.block.ops
    assert not any(isinstance(op, HostCallOp) for op in function.walk())


def test_a_count_from_the_back_that_may_be_none_is_left_to_the_host():
    """`x[-0:]` is all of `x`."""
    proto = last(64)
    check(proto, [{"x": floats(size, 4)} for size in (1, 32)], "x:0~32,4")
    (function,) = import_onnx(proto, input_shapes="x:0~32,4").body.block.ops
    assert any(isinstance(op, HostCallOp) for op in function.walk())


def test_a_shift_by_one_row_has_the_rows_it_is_of():
    proto = shifted()
    check(proto, [{"x": floats(size, 4)} for size in SIZES], "x:1~32,4")
    (function,) = import_onnx(proto, input_shapes="x:1~32,4").body.block.ops
    sizes = {
        str(shape_of(result.type)[0])
        for op in function.walk()
        for result in op.results
        if is_tensor(result.type) and len(shape_of(result.type)) == 2
    }
    assert sizes == {"S", "S - 1"}


def test_rows_from_a_place_that_the_size_tells_need_no_host():
    proto = biased()
    check(proto, [{"x": floats(size, 4)} for size in SIZES], "x:1~32,4")
    plan = compile(proto, input_shapes="x:1~32,4")
    assert not any(isinstance(op, HostCallOp) for op in plan.module.walk())
    assert plan.summary["host_calls"] == ["Shape x1"]  # the size itself


def test_a_place_that_may_be_negative_is_left_to_the_host():
    check(biased(), [{"x": floats(size, 4)} for size in (1, 64)], "x:1~64,4")
    (function,) = import_onnx(biased(), input_shapes="x:1~100,4").body.block.ops
    assert any(isinstance(op, HostCallOp) for op in function.walk())


def test_ranges_are_assumed_inside_only():
    size, ranges = symbol("S"), {"S": SymbolRange(1, 32)}
    with assuming(ranges):
        assert assumed() == ranges
        with assuming({}):
            assert not assumed()
        assert simplify(size, assumed()) == size
    assert not assumed()
