"""Reference semantics of ensembles of trees: all rows and trees go down a level at a time."""

from __future__ import annotations

import numpy as np

from ge_dialect.ge.trees import TreeEnsembleOp
from ge_dialect.interpreters.kernels.numeric import Array, iota
from ge_dialect.interpreters.registry import semantics

_NAN_IS_YES = 8


@semantics(TreeEnsembleOp)
def tree_ensemble(
    op: TreeEnsembleOp,
    x: Array,
    modes: Array,
    features: Array,
    thresholds: Array,
    yes: Array,
    no: Array,
    roots: Array,
    targets: Array,
    weights: Array,
) -> Array:
    """Evaluates `ge.tree_ensemble`.

    Raises:
        ValueError: A tree has a cycle.
    """
    at = np.broadcast_to(roots.astype(np.int64), (x.shape[0], roots.size)).copy()
    inner = np.nonzero(modes[at])
    for _ in range(modes.size):
        if not inner[0].size:
            break
        nodes = at[inner]
        goes = _compare(x[inner[0], features[nodes]], thresholds[nodes], modes[nodes])
        at[inner] = np.where(goes, yes[nodes], no[nodes])
        open_ = modes[at[inner]] != 0
        inner = (inner[0][open_], inner[1][open_])
    if inner[0].size:
        raise ValueError("expected trees without cycles")
    return _sums(at, yes, no, targets, weights, op.num_targets.value.data)


def _compare(x: Array, threshold: Array, mode: Array) -> Array:
    kind = mode & ~np.array(_NAN_IS_YES, mode.dtype)
    tests = (
        x <= threshold,
        x < threshold,
        x >= threshold,
        x > threshold,
        x == threshold,
        x != threshold,
    )
    goes = np.select([kind == number for number in range(1, 7)], tests, False)
    return goes | (np.isnan(x) & (mode >= _NAN_IS_YES))


def _sums(
    leaves: Array, starts: Array, stops: Array, targets: Array, weights: Array, count: int
) -> Array:
    """Returns the weights of the leaves that each row reached, summed by target."""
    first, last = starts[leaves], stops[leaves]
    sums = np.zeros((leaves.shape[0], count))
    rows = np.broadcast_to(iota(leaves.shape[0])[:, None], leaves.shape)
    for step in range(int((last - first).max(initial=0))):
        has = first + step < last
        index = first[has] + step
        np.add.at(sums, (rows[has], targets[index]), weights[index].astype(np.float64))
    return sums.astype(np.float32)
