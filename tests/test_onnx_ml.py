"""Operators of ai.onnx.ml that become tensor operators, against ONNX's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function
from ge_dialect.tools.api import compile
from tests.onnx_models import names_of, reference

Array = npt.NDArray[Any]
RNG = np.random.default_rng(5)
X = RNG.standard_normal((5, 4)).astype(np.float32)
HOLES = np.where(RNG.random((5, 4)) < 0.3, np.float32(np.nan), X)
ROWS = np.array([[3, 4, 0, 0], [0, 0, 0, 0]], np.float32)
COEFFICIENTS = RNG.standard_normal(12).tolist()


def built(op: str, inputs: list[Array], outputs: str = "y", **attributes: Any) -> onnx.ModelProto:
    """A model of one node; its outputs declare nothing."""
    names = [f"x{i}" for i in range(len(inputs))]
    node = helper.make_node(op, names, outputs.split(), op, domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph(
        [node],
        "test",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in zip(names, inputs, strict=True)
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs.split()],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets)


CASES: list[tuple[str, list[Array], dict[str, Any]]] = [
    ("LinearRegressor", [X], {"coefficients": COEFFICIENTS, "intercepts": [1.0, 2.0, 3.0],
                              "targets": 3}),
    ("LinearRegressor", [X], {"coefficients": COEFFICIENTS[:4], "intercepts": [0.5]}),
    ("Scaler", [X], {"offset": [1.0, 2.0, 3.0, 4.0], "scale": [0.5, 2.0, 1.0, 3.0]}),
    ("Scaler", [X], {"offset": [1.5], "scale": [0.5]}),
    ("Normalizer", [ROWS], {"norm": "L2"}),
    ("Normalizer", [ROWS], {"norm": "L1"}),
    ("Binarizer", [X], {"threshold": 0.25}),
    ("ArrayFeatureExtractor", [X, np.array([[3, 0, 3]])], {}),
    ("ArrayFeatureExtractor", [X[0], np.array([1, 2])], {}),
    ("Imputer", [HOLES], {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0],
                          "replaced_value_float": float("nan")}),
    ("Imputer", [np.array([[1, 7], [7, 2]])], {"imputed_value_int64s": [9],
                                               "replaced_value_int64": 7}),
    ("OneHotEncoder", [np.array([[1, 5], [2, 9]])], {"cats_int64s": [1, 2, 5]}),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "attributes"), CASES, ids=[case[0] for case in CASES])
def test_an_operator_is_made_of_tensor_operators(
    op: str, inputs: list[Array], attributes: dict[str, Any]
):
    proto = built(op, inputs, **attributes)
    module = import_onnx(proto)
    assert all(name.startswith("ge.") for name in names_of(module))
    (found,) = run_function(module, inputs)
    feeds = {f"x{i}": x for i, x in enumerate(inputs)}
    (wanted,) = reference(proto, feeds)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_integers_are_scaled_as_floats():
    x = np.array([[1, 4]])
    (found,) = run_function(import_onnx(built("Scaler", [x], offset=[1.5], scale=[0.5])), [x])
    assert found.tolist() == [[-0.25, 1.25]]


@pytest.mark.parametrize("mode", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_a_classifier_gives_labels_and_scores(mode: str):
    options = {"coefficients": COEFFICIENTS, "intercepts": [0.5, 0.0, -0.5]}
    proto = built("LinearClassifier", [X], "y z", classlabels_ints=[7, 3, 5],
                  post_transform=mode, **options)  # fmt: skip
    module = import_onnx(proto)
    assert all(name.startswith("ge.") for name in names_of(module))
    label, scores = run_function(module, [X])
    wanted = reference(proto, {"x0": X})
    np.testing.assert_array_equal(label, wanted[0])
    np.testing.assert_allclose(scores, wanted[1], rtol=1e-5, atol=1e-6)


SUPPORT: dict[str, Any] = {
    "coefficients": [0.5, -0.5],
    "kernel_params": [0.1, 0.0, 3.0],
    "kernel_type": "RBF",
    "rho": [0.25],
    "support_vectors": X[:2].reshape(-1).tolist(),
    "vectors_per_class": [1, 1],
}
TREE: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [1, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_values": [0.0, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "class_treeids": [0, 0],
    "class_nodeids": [1, 2],
    "class_ids": [1, 1],
    "class_weights": [-1.0, 1.0],
    "base_values": [0.25],
    "post_transform": "LOGISTIC",
}


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("SVMClassifier", SUPPORT | {"classlabels_ints": [0, 1]}),
        ("TreeEnsembleClassifier", TREE | {"classlabels_int64s": [0, 1]}),
        ("TreeEnsembleClassifier", TREE | {"classlabels_strings": ["a", "b"]}),
        ("LinearClassifier", {"coefficients": COEFFICIENTS[:8], "intercepts": [0.5, 0.0],
                              "classlabels_strings": ["a", "b"]}),
    ],
    ids=["vectors", "tree", "tree-of-strings", "linear-of-strings"],
)  # fmt: skip
def test_what_a_classifier_on_the_host_gives_has_a_shape(op: str, attributes: dict[str, Any]):
    """ONNX infers none, and a plan has to know how large its results are."""
    proto = built(op, [X], "y z", **attributes)
    label, scores = compile(proto).run({"x0": X}).values()
    assert label.shape == (5,) and scores.shape == (5, 2)
    wanted = reference(proto, {"x0": X})
    assert label.tolist() == np.asarray(wanted[0]).tolist()
    np.testing.assert_allclose(scores, wanted[1], rtol=1e-5)
