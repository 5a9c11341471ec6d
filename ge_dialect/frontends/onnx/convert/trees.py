"""Ensembles of decision trees, operators of `ai.onnx.ml`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.ml import best_label, class_types, post_transformed
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.trees import TreeEnsembleOp

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

DOMAIN = "ai.onnx.ml"

_MODES = ("LEAF", "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
_NAN_IS_YES = 8
_NAMES = "classlabels_strings"
_MANY = 3
"""Two classes or fewer have rules of their own about what the one score means."""


@converts("TreeEnsembleClassifier", domain=DOMAIN)
def classifier(node: Node) -> list[SSAValue]:
    """`TreeEnsembleClassifier` of three classes or more that are named by integers."""
    labels, names = node.get_ints("classlabels_int64s") or (), node.get_strings(_NAMES)
    types = class_types(node, not names, max(len(labels or names), _MANY - 1))
    if len(labels) < _MANY:
        raise OnHost("fewer than three classes, or classes named by strings", types)
    try:
        scores = _scores(node, "class", len(labels))
        results = [best_label(node, scores, labels), post_transformed(node, scores)]
    except OnHost as reason:
        raise OnHost(str(reason), types) from None
    return results[: len(node.used)]


@converts("TreeEnsembleRegressor", domain=DOMAIN)
def regressor(node: Node) -> SSAValue:
    """`TreeEnsembleRegressor` that sums its trees."""
    aggregate = node.get_string("aggregate_function", "SUM")
    mode = node.get_string("post_transform", "NONE")
    if aggregate != "SUM" or mode != "NONE":
        raise OnHost(f"it aggregates by {aggregate}, its transform is {mode}")
    return _scores(node, "target", node.get_int("n_targets", 1))


def _scores(node: Node, kind: str, count: int) -> SSAValue:
    """Returns the sums of the leaves, and of the base values where there are some."""
    doubles = [name for name in node.attributes if name.endswith("_as_tensor")]
    if doubles or node.element_type() != f32:
        raise OnHost("not of f32")
    tables = [node.builder.array(table) for table in _tables(node, kind)]
    scores = node.emit(TreeEnsembleOp(node[0], tables, count))
    if not (base := node.get_floats("base_values")):
        return scores
    import numpy as np

    return node.emit(AddOp(scores, node.builder.array(np.array(base, np.float32))))


def _tables(node: Node, kind: str) -> list[Array]:
    """Returns the operands of `ge.tree_ensemble` after the input."""
    import numpy as np

    trees, ids = _ints(node, "nodes_treeids"), _ints(node, "nodes_nodeids")
    find = _Finder(node, trees, ids)
    names = node.get_strings("nodes_modes")
    if unknown := set(names).difference(_MODES):
        node.fail(f"expected modes of {', '.join(_MODES)}, got {min(unknown)}")
    number = {name: index for index, name in enumerate(_MODES)}
    modes = np.fromiter((number[name] for name in names), np.uint8, len(names))
    leaf = modes == 0
    yes, no = (
        np.where(leaf, 0, find(trees, np.where(leaf, ids, _ints(node, f"nodes_{side}nodeids"))))
        for side in ("true", "false")
    )
    leaves = find(_ints(node, f"{kind}_treeids"), _ints(node, f"{kind}_nodeids"))
    order = np.argsort(leaves, kind="stable")
    places = np.nonzero(leaf)[0]
    yes[places] = np.searchsorted(leaves[order], places, "left")
    no[places] = np.searchsorted(leaves[order], places, "right")
    if node.has("nodes_missing_value_tracks_true"):
        tracks = _ints(node, "nodes_missing_value_tracks_true").astype(np.bool_)
        modes = modes + np.where(tracks & ~leaf, np.uint8(_NAN_IS_YES), np.uint8(0))
    return [
        modes,
        np.where(leaf, 0, _ints(node, "nodes_featureids")).astype(np.int32),
        _floats(node, "nodes_values"),
        yes.astype(np.int32),
        no.astype(np.int32),
        np.unique(trees, return_index=True)[1].astype(np.int32),
        _ints(node, f"{kind}_ids")[order].astype(np.int32),
        _floats(node, f"{kind}_weights")[order],
    ]


def _ints(node: Node, name: str) -> Array:
    import numpy as np

    return np.array(node.get_ints(name) or (), np.int64)


def _floats(node: Node, name: str) -> Array:
    import numpy as np

    return np.array(node.get_floats(name) or (), np.float32)


class _Finder:
    """Finds the place of a node by its tree and its number within it."""

    def __init__(self, node: Node, trees: Array, ids: Array):
        import numpy as np

        self.node = node
        self.width = int(ids.max(initial=0)) + 1
        keys = trees * self.width + ids
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def __call__(self, trees: Array, ids: Array) -> Array:
        import numpy as np

        wanted = trees * self.width + ids
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        if wanted.size and (self.keys[places] != wanted).any():
            self.node.fail("a tree refers to a node that is not there")
        return self.order[places]
