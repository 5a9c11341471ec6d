"""Nodes that are alike: what comes out is what each of them becomes by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.frontends.onnx.replay import Replayer
from ge_dialect.printing import exact_text
from tests.onnx_models import imported, model, names_of, node, run

X = {"x": ("float32", (4, 4)), "z": ("float32", (4, 4))}
rows = np.array([2, 8], np.int64)
same = np.array([16, 1], np.int64)


def test_operands_that_are_one_value_are_not_taken_for_two() -> None:
    proto = model(
        [node("Mul", "x", "x", out="a"), node("Mul", "x", "z", out="b"), node("Sub", "a", "b")],
        X,
        ["y"],
    )
    x, z = np.full((4, 4), 3, np.float32), np.full((4, 4), 5, np.float32)
    np.testing.assert_array_equal(run(proto, x, z)[0], x * x - x * z)


def test_constants_are_compared_by_value() -> None:
    proto = model(
        [
            node("Reshape", "x", "rows", out="a"),
            node("Reshape", "z", "rows", out="b"),
            node("Reshape", "z", "same", out="y"),
        ],
        X,
        ["a", "b", "y"],
        {"rows": rows, "same": same},
    )
    shapes = [array.shape for array in run(proto, *[np.zeros((4, 4), np.float32)] * 2)]
    assert shapes == [(2, 8), (2, 8), (16, 1)]


def test_attributes_are_compared() -> None:
    proto = model(
        [node("Softmax", "x", out="a", axis=0), node("Softmax", "z", out="y", axis=1)],
        X,
        ["a", "y"],
    )
    found = run(proto, *[np.eye(4, 3, dtype=np.float32)[:, [0, 1, 2, 2]]] * 2)
    np.testing.assert_allclose(found[0].sum(0), 1, rtol=1e-6)
    np.testing.assert_allclose(found[1].sum(1), 1, rtol=1e-6)


def test_a_like_node_has_its_own_name_and_weight() -> None:
    weights = {name: np.full((4, 512), k, np.float32) for k, name in enumerate("vw")}
    nodes = [node("MatMul", "x", "v", out="a"), node("MatMul", "x", "w", out="y")]
    nodes[1].name = "second"
    module = imported(model(nodes, {"x": X["x"]}, ["a", "y"], weights))
    assert names_of(module) == ["ge.matmul", "ge.matmul"]
    text = exact_text(module, locations=True)
    assert text.count('loc("MatMul_node")') == text.count('loc("second")') == 1
    assert "ge.matmul %x, %v" in text and "ge.matmul %x, %w" in text


@pytest.mark.parametrize(
    "name", ["llama-prefill.dynamo-dyn", "bert.ts-static", "unet.dynamo-static", "mamba.ts-static"]
)
def test_a_model_is_what_it_is_without(
    name: str, zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zoo / name / "model.onnx"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    text = exact_text(import_onnx(str(path)), locations=True)

    def unknown(self: Replayer, *_: object) -> None:
        return None

    monkeypatch.setattr(Replayer, "key", unknown)
    assert exact_text(import_onnx(str(path)), locations=True) == text


def test_nodes_that_compute_shapes_are_not_repeated() -> None:
    proto = model(
        [
            node("Shape", "x", out="s"),
            node("Shape", "z", out="t"),
            node("Add", "s", "t", out="a"),
            node("Reshape", "x", "s", out="y"),
        ],
        {"x": ("float32", ("N", 4)), "z": ("float32", ("N", 4))},
        ["y", "a"],
    )
    assert isinstance(proto, onnx.ModelProto)
    x = np.ones((3, 4), np.float32)
    found = run(proto, x, x)
    assert found[0].shape == (3, 4)
    assert found[1].tolist() == [6, 8]
