"""Ensembles of trees against a walk in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function
from tests.onnx_models import names_of

Array = npt.NDArray[Any]
NAN = float("nan")

# Two trees: the first asks twice, the second once and tells apart what is no number.
TREES: dict[str, list[Any]] = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "BRANCH_EQ", "LEAF", "LEAF"],
    "nodes_featureids": [0, 1, 0, 0, 0, 1, 0, 0],
    "nodes_values": [0.5, -1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0],
    "nodes_truenodeids": [1, 3, 0, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [2, 4, 0, 0, 0, 2, 0, 0],
    "nodes_missing_value_tracks_true": [0, 0, 0, 0, 0, 1, 0, 0],
}
LEAVES: dict[str, list[Any]] = {
    "treeids": [0, 0, 0, 1, 1, 1],
    "nodeids": [2, 3, 4, 1, 1, 2],
    "ids": [0, 1, 2, 0, 2, 1],
    "weights": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
}
X = np.array([[0, 0], [1, 0], [0.5, -1], [0, 2], [NAN, NAN], [0, NAN]], np.float32)
SCORES = [
    [0, 2 + 32, 0],
    [1, 32, 0],
    [0, 32, 4],
    [8, 2, 16],
    [1 + 8, 0, 16],
    [8, 0, 4 + 16],
]
"""By hand: 32 is the second tree's answer where feature 1 is neither 2 nor missing."""


def ensemble(op: str, kind: str, **attributes: Any) -> onnx.ModelProto:
    """A model of one node."""
    outputs = ["label", "y"] if op.endswith("Classifier") else ["y"]
    leaves = {f"{kind}_{name}": values for name, values in LEAVES.items()}
    node = helper.make_node(
        op, ["x"], outputs, domain="ai.onnx.ml", **TREES, **leaves, **attributes
    )
    graph = helper.make_graph(
        [node],
        "test",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, X.shape)],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets)


def test_a_classifier_sums_the_leaves_of_all_trees():
    module = import_onnx(ensemble("TreeEnsembleClassifier", "class", classlabels_int64s=[7, 5, 3]))
    assert "TreeEnsembleClassifier" not in names_of(module)
    labels, scores = run_function(module, [X])
    assert scores.tolist() == SCORES
    assert labels.tolist() == [5, 5, 5, 3, 3, 3]


def test_scores_are_transformed_after_the_base_values():
    module = import_onnx(
        ensemble(
            "TreeEnsembleClassifier",
            "class",
            classlabels_int64s=[0, 1, 2],
            base_values=[1.0, 0.0, -1.0],
            post_transform="SOFTMAX",
        )
    )
    _, found = run_function(module, [X])
    powers = np.exp(np.array(SCORES) + np.array([1, 0, -1]))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-6)


def test_a_regressor_has_targets_in_the_place_of_classes():
    module = import_onnx(ensemble("TreeEnsembleRegressor", "target", n_targets=3))
    (found,) = run_function(module, [X])
    assert found.tolist() == SCORES


def test_two_classes_stay_on_the_host():
    proto = ensemble("TreeEnsembleClassifier", "class", classlabels_int64s=[0, 1])
    assert names_of(import_onnx(proto)) == ["TreeEnsembleClassifier"]


def test_a_node_that_is_not_there_is_named():
    proto = ensemble("TreeEnsembleRegressor", "target", n_targets=3)
    for attribute in proto.graph.node[0].attribute:
        if attribute.name == "nodes_truenodeids":
            attribute.ints[0] = 9
    with pytest.raises(GEError, match="refers to a node that is not there"):
        import_onnx(proto)
