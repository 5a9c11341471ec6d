"""Remarks: what they say, who gets them, and that they cost nothing otherwise."""

from __future__ import annotations

import json

import pytest
from xdsl.dialects.builtin import NoneAttr, UnknownLoc, UnregisteredOp
from xdsl.dialects.test import TestOp

from ge_dialect import remarks
from ge_dialect.locations import name_location
from ge_dialect.remarks import Kind, ReasonClass


def make_op(name: str | None = None) -> TestOp:
    op = TestOp()
    op.location = UnknownLoc() if name is None else name_location(name)
    return op


def test_a_remark_is_one_line():
    with remarks.collect() as collector:
        remarks.passed("ge-dce", "DropDead", make_op(), "erased")
        remarks.analysis("ge-schedule", "order", make_op("n"), "peak is 4096 bytes")
    assert [str(r) for r in collector.remarks] == [
        "remark: [passed] ge-dce: DropDead: test.op: erased",
        'remark: [analysis] ge-schedule: order: test.op: peak is 4096 bytes at "n"',
    ]


def test_a_miss_says_what_was_found_and_what_to_do():
    with remarks.collect() as collector:
        remarks.missed(
            "ge-fuse-rules",
            "FlashAttentionLayerNorm",
            make_op("/ln/LayerNormalization"),
            "'epsilon' differs",
            reason=ReasonClass.ATTR,
            found=1e-6,
            wanted=1e-5,
            fix="set epsilon to 1e-05",
        )
    (remark,) = collector.remarks
    assert str(remark) == (
        "remark: [missed] ge-fuse-rules: FlashAttentionLayerNorm: test.op: 'epsilon' differs "
        'at "/ln/LayerNormalization" (found 1e-06, wanted 1e-05) [ATTR]; fix: set epsilon to 1e-05'
    )
    assert json.loads(remark.to_json()) == {
        "kind": "missed",
        "pass": "ge-fuse-rules",
        "rule": "FlashAttentionLayerNorm",
        "op": "test.op",
        "location": "/ln/LayerNormalization",
        "reason": "ATTR",
        "message": "'epsilon' differs",
        "found": "1e-06",
        "wanted": "1e-05",
        "fix": "set epsilon to 1e-05",
    }


def test_what_is_not_known_is_left_out():
    with remarks.collect() as collector:
        remarks.missed("p", "r", make_op(), "m", found=0)
    (remark,) = collector.remarks
    assert str(remark) == "remark: [missed] p: r: test.op: m (found 0)"
    assert json.loads(remark.to_json()).keys() == {"kind", "pass", "rule", "op", "message", "found"}


def test_equal_remarks_come_once_and_in_order():
    with remarks.collect() as collector:
        for message in ("b", "a", "b"):
            remarks.passed("p", "r", make_op(), message)
    assert [r.message for r in collector.remarks] == ["b", "a"]


def test_nothing_is_built_where_nobody_listens():
    def fail() -> str:
        raise AssertionError("the message was built")

    remarks.passed("p", "r", make_op(), fail)
    remarks.missed("p", "r", make_op(), fail)
    remarks.analysis("p", "r", make_op(), fail)
    assert not remarks.listening()
    with remarks.collect() as collector:
        assert remarks.listening()
        remarks.passed("p", "r", make_op(), lambda: "late")
    assert [r.message for r in collector.remarks] == ["late"]


def test_outer_collectors_hear_what_inner_ones_do():
    with remarks.collect() as outer:
        remarks.passed("p", "r", make_op(), "before")
        with remarks.collect() as inner:
            remarks.passed("p", "r", make_op(), "inside")
        remarks.passed("p", "r", make_op(), "after")
    assert [r.message for r in inner.remarks] == ["inside"]
    assert [r.message for r in outer.remarks] == ["before", "inside", "after"]


def test_an_error_ends_the_collection():
    with pytest.raises(ValueError, match="stop"), remarks.collect():
        raise ValueError("stop")
    assert not remarks.listening()


def test_hostile_names_stay_on_one_line():
    with remarks.collect() as collector:
        remarks.passed("p", "r", make_op('a"\nb'), "two\nlines")
    (remark,) = collector.remarks
    assert str(remark) == 'remark: [passed] p: r: test.op: two\\nlines at "a\\"\\nb"'
    assert json.loads(remark.to_json())["location"] == 'a"\nb'


def test_ops_of_unknown_dialects_keep_their_name():
    op = UnregisteredOp.with_name("foreign.thing").create()
    with remarks.collect() as collector:
        remarks.passed("p", "r", op, "m")
    assert collector.remarks[0].op_name == "foreign.thing"
    assert collector.remarks[0].kind is Kind.PASSED
    assert not isinstance(op.location, NoneAttr)
