"""ONNX's backend interface, and the runner of ONNX's conformance tests."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.backend import GEBackend, GERep
from tests.conformance import suites
from tests.conformance.exclusions import EXCLUSIONS, Exclusion
from tests.conformance.page import exclusions

ROOT = Path(__file__).resolve().parent.parent
ONES = np.ones((2, 3), np.float32)


def add_model(*shapes: Sequence[int | str] | None) -> onnx.ModelProto:
    """`y = a + b`, with inputs of the given shapes; None is a shape nobody knows."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip("ab", shapes, strict=True)
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "add", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def test_a_static_model_is_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rep = GEBackend.prepare(add_model((2, 3), (3,)))
    monkeypatch.setattr("ge_dialect.tools.backend.compile", None)
    (found,) = rep.run([ONES, np.arange(3, dtype=np.float32)])
    np.testing.assert_array_equal(found, [[1, 2, 3], [1, 2, 3]])


@pytest.mark.parametrize("shape", [("N", 3), (None, 3), None])
def test_a_dynamic_model_is_compiled_once_for_each_set_of_shapes(
    shape: Sequence[int | str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[object] = []
    build: Callable[..., Any] = GERep.__dict__["_compile"]

    def count(self: GERep, shapes: object) -> Any:
        compiled.append(shapes)
        return build(self, shapes)

    monkeypatch.setattr(GERep, "_compile", count)
    rep = GEBackend.prepare(add_model(shape, (3,)))
    for rows in (2, 5, 2):
        (found,) = rep.run([np.ones((rows, 3), np.float32), np.ones(3, np.float32)])
        np.testing.assert_array_equal(found, np.full((rows, 3), 2, np.float32))
    assert compiled == [{"a": (2, 3)}, {"a": (5, 3)}]


def test_a_numpy_scalar_is_an_array_without_dimensions() -> None:
    rep = GEBackend.prepare(add_model((), ()))
    (found,) = rep.run([np.float32(1.5), np.float32(2)])
    assert found == np.float32(3.5)
    assert found.shape == ()


def test_inputs_may_be_given_by_name() -> None:
    (found,) = GEBackend.run_model(add_model((2, 3), (2, 3)), {"b": ONES, "a": ONES})
    np.testing.assert_array_equal(found, ONES + ONES)


@pytest.mark.parametrize(
    ("inputs", "code", "what"),
    [
        ([ONES], "GE0801", "1 of 2 inputs are missing: b"),
        ([ONES, ONES, ONES], "GE0802", "expected 2 inputs, got 3"),
        ({"a": ONES, "b": ONES, "c": ONES}, "GE0802", "'c'"),
        ([ONES, ONES.astype(np.float64)], "GE0803", "float64"),
    ],
)
def test_wrong_inputs_are_refused(inputs: Any, code: str, what: str) -> None:
    rep = GEBackend.prepare(add_model(("N", 3), (2, 3)))
    with pytest.raises(GEError, match=what) as caught:
        rep.run(inputs)
    assert caught.value.code == code


def test_an_initializer_is_no_input() -> None:
    model = add_model((2, 3), (2, 3))
    model.graph.initializer.append(onnx.numpy_helper.from_array(ONES, "b"))
    (found,) = GEBackend.run_model(model, [ONES])
    np.testing.assert_array_equal(found, ONES + ONES)


def test_options_reach_the_compiler() -> None:
    model = add_model((2, 3), (2, 3))
    with pytest.raises(GEError, match="streams"):
        GEBackend.prepare(model, streams=0)
    with pytest.raises(TypeError, match="speed"):
        GEBackend.prepare(model, speed=1)


def test_the_device_is_the_cpu() -> None:
    assert GEBackend.supports_device("CPU")
    assert GEBackend.supports_device("CPU:0")
    assert not GEBackend.supports_device("CUDA")
    with pytest.raises(ValueError, match="expected device 'CPU', got 'CUDA'"):
        GEBackend.prepare(add_model((), ()), "CUDA")


def test_compatible_is_what_can_be_imported() -> None:
    model = add_model((2, 3), (3,))
    assert GEBackend.is_compatible(model)
    assert not GEBackend.is_compatible(model, "CUDA")
    model.graph.node[0].op_type = "NoSuchOperator"
    assert not GEBackend.is_compatible(model)


@pytest.mark.parametrize("info", [None, [(np.dtype(np.float32), (2, 3))]])
def test_one_node_runs(info: Any) -> None:
    node = helper.make_node("Sub", ["a", "b"], ["y"])
    (found,) = GEBackend.run_node(node, [ONES, np.float32(3)], outputs_info=info)
    np.testing.assert_array_equal(found, np.full((2, 3), -2, np.float32))


def test_one_node_has_the_meaning_of_its_operator_set() -> None:
    """Softmax was over all dimensions from `axis` on, before operator set 13."""
    node = helper.make_node("Softmax", ["x"], ["y"], axis=0)
    (old,) = GEBackend.run_node(node, [ONES], opset_version=11)
    (new,) = GEBackend.run_node(node, [ONES], opset_version=13)
    np.testing.assert_allclose(old, np.full((2, 3), 1 / 6), rtol=1e-6)
    np.testing.assert_allclose(new, np.full((2, 3), 1 / 2), rtol=1e-6)


def test_one_node_of_another_domain_runs() -> None:
    node = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml", threshold=0.5)
    (found,) = GEBackend.run_node(node, [np.asarray([0.25, 0.75], np.float32)])
    np.testing.assert_array_equal(found, np.asarray([0, 1], np.float32))


def outcome_of(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch, **exclusion: Any
) -> suites.Outcome:
    """What the runner makes of a test that ends in `error`."""
    table = [Exclusion("test_x*", "because", **exclusion)]
    monkeypatch.setattr(suites, "EXCLUSIONS", table)

    def run() -> None:
        if error is not None:
            raise error

    return suites.check(suites.Test("node", "test_x", run))


REFUSED = GEError("GE0220", "no")


@pytest.mark.parametrize(
    ("error", "exclusion", "status"),
    [
        (REFUSED, {}, "excluded"),
        (None, {}, "failed"),  # the exclusion is not needed
        (AssertionError("wrong value"), {}, "failed"),
        (ValueError("no code"), {}, "failed"),
        (None, {"random": True}, "excluded"),
        (AssertionError("wrong shape"), {"random": True}, "failed"),
        (REFUSED, {"random": True}, "failed"),
    ],
)
def test_an_exclusion_holds_only_where_it_says_so(
    error: Exception | None,
    exclusion: dict[str, Any],
    status: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert outcome_of(error, monkeypatch, **exclusion).status == status


def test_a_test_that_skips_itself_has_failed() -> None:
    def skip() -> None:
        raise unittest.SkipTest("not now")

    assert suites.check(suites.Test("node", "test_x", skip)).status == "failed"
    assert suites.check(suites.Test("node", "test_x", lambda: None)).status == "passed"


def test_the_page_lists_the_exclusions() -> None:
    assert exclusions() in (ROOT / "docs" / "conformance.md").read_text()
    for exclusion in EXCLUSIONS:
        assert exclusion.reason.endswith(".")
