"""Operators of `ai.onnx.ml` that are a few tensor operators: scaling, linear models, selection.

Source: ONNX, "ai.onnx.ml" operator schemas (docs/Operators-ml.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import Attribute, SSAValue

from ge_dialect.frontends.onnx.convert.delegate import apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.activations import SigmoidOp
from ge_dialect.ge.attributes import StringType
from ge_dialect.ge.binary import AddOp, DivOp, MulOp, SubOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.dtypes import is_float, is_string, to_numpy
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.reductions import SoftmaxOp
from ge_dialect.ge.selection import ArgMaxOp
from ge_dialect.ge.types import MaybeDim, element_type_of, tensor_type, value_shape

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

DOMAIN = "ai.onnx.ml"
_INT64 = 7
_FLOAT = 1


def class_types(node: Node, labels: bool, columns: MaybeDim) -> list[Attribute]:
    """Returns the types of what a classifier gives: a label and the scores of each row.

    ONNX's inference does not know them.

    Args:
        node: Its first operand has the rows.
        labels: Whether labels are integers, else they are strings.
        columns: How many scores each row gets.
    """
    shape = node.shape()
    rows: MaybeDim = shape[0] if len(shape) == 2 else 1
    label = tensor_type(i64 if labels else StringType(), (rows,))
    types: list[Attribute] = [label, tensor_type(f32, (rows, columns))]
    return types[: len(node.used)]


def post_transformed(node: Node, scores: SSAValue) -> SSAValue:
    """Returns scores, one a class, as the node wants them.

    Raises:
        OnHost: It wants something that no op does.
    """
    match node.get_string("post_transform", "NONE"):
        case "NONE":
            return scores
        case "SOFTMAX":
            return node.emit(SoftmaxOp(scores, -1))
        case "LOGISTIC":
            return node.emit(SigmoidOp(scores))
        case mode:
            raise OnHost(f"its transform is {mode}")


def best_label(node: Node, scores: SSAValue, labels: tuple[int, ...]) -> SSAValue:
    """Returns the label of the highest score of each row, of the first one where several are."""
    best = node.emit(ArgMaxOp(scores, 1, keepdims=False))
    return node.emit(GatherOp(node.builder.ints(labels), best, 0))


def _matrix(node: Node) -> SSAValue:
    """Returns the input as a matrix of f32."""
    x = node[0]
    if is_string(element_type_of(x)):
        raise OnHost("it works on strings")
    if len(value_shape(x)) == 1:
        x = node.reshape(x, (1, value_shape(x)[0]))
    if len(value_shape(x)) != 2:
        raise OnHost("its input is no matrix")
    return x if element_type_of(x) == f32 else node.emit(CastOp(x, f32))


def _product(node: Node, rows: int) -> SSAValue:
    """Returns `X @ coefficients' + intercepts` for so many rows of coefficients."""
    x, found = _matrix(node), np.array(node.get_floats("coefficients") or (), np.float32)
    if rows < 1 or not found.size or found.size % rows:
        node.fail(f"expected coefficients for {rows} rows, got {found.size}")
    weight = np.ascontiguousarray(found.reshape(rows, -1).T)
    scores = node.emit(MatmulOp(x, node.builder.array(weight)))
    if not (intercepts := node.get_floats("intercepts")):
        return scores
    return node.emit(AddOp(scores, node.builder.array(np.array(intercepts, np.float32))))


@converts("LinearRegressor", domain=DOMAIN)
def linear_regressor(node: Node) -> SSAValue:
    """`LinearRegressor`."""
    if (mode := node.get_string("post_transform", "NONE")) != "NONE":
        raise OnHost(f"its transform is {mode}")
    return _product(node, node.get_int("targets", 1))


@converts("LinearClassifier", domain=DOMAIN)
def linear_classifier(node: Node) -> list[SSAValue]:
    """`LinearClassifier` with a score for each class, and classes that are integers."""
    labels, names = node.get_ints("classlabels_ints"), node.get_strings("classlabels_strings")
    count, given = len(labels or names), node.get_floats("intercepts")
    types = class_types(node, not names, count if count > 1 else None)
    if not labels or given is None or len(given) != count or count < 2:
        raise OnHost("one score for two classes, or classes named by strings", types)
    try:
        scores = _product(node, count)
        return [best_label(node, scores, labels), post_transformed(node, scores)][: len(node.used)]
    except OnHost as reason:
        raise OnHost(str(reason), types) from None


@converts("SVMClassifier", domain=DOMAIN)
def svm_classifier(node: Node) -> list[SSAValue]:
    """`SVMClassifier`, which always runs on the host: only its types are known."""
    labels, names = node.get_ints("classlabels_ints"), node.get_strings("classlabels_strings")
    count = len(labels or names)
    columns = count if node.get_floats("prob_a") or count == 2 else count * (count - 1) // 2
    raise OnHost("support vectors", class_types(node, not names, columns or None))


@converts("Scaler", domain=DOMAIN)
def scaler(node: Node) -> SSAValue:
    """`Scaler`: `(X - offset) * scale` for each column."""
    x, rank = _matrix(node), len(node.shape())
    offset, scale = node.get_floats("offset"), node.get_floats("scale")
    if offset:
        x = node.emit(SubOp(x, node.builder.array(np.array(offset, np.float32))))
    if scale:
        x = node.emit(MulOp(x, node.builder.array(np.array(scale, np.float32))))
    return x if rank == 2 else node.reshape(x, node.shape())


@converts("Normalizer", domain=DOMAIN)
def normalizer(node: Node) -> SSAValue:
    """`Normalizer` by the sum of magnitudes or of squares; a row of zeros stays."""
    norm = node.get_string("norm", "MAX")
    if norm not in ("L1", "L2"):
        raise OnHost(f"its norm is {norm}")
    x = _matrix(node)
    axes = node.builder.ints([1])
    size = apply(node, f"Reduce{norm}", x, axes, keepdims=1)
    zero, one = (node.builder.number(value, f32) for value in (0.0, 1.0))
    divisor = apply(node, "Where", apply(node, "Equal", size, zero), one, size)
    result = node.emit(DivOp(x, divisor))
    return result if len(node.shape()) == 2 else node.reshape(result, node.shape())


@converts("Binarizer", domain=DOMAIN)
def binarizer(node: Node) -> SSAValue:
    """`Binarizer`: 1 above the threshold, else 0."""
    kind = node.element_type()
    threshold = node.builder.number(node.get_float("threshold", 0.0), f32)
    x = node[0] if kind == f32 else node.emit(CastOp(node[0], f32))
    return node.emit(CastOp(apply(node, "Greater", x, threshold), kind))


@converts("ArrayFeatureExtractor", domain=DOMAIN)
def array_feature_extractor(node: Node) -> SSAValue:
    """`ArrayFeatureExtractor`: some columns, which may come again."""
    x, index = node[0], node.reshape(node[1], (None,))
    if len(value_shape(x)) == 1:
        x = node.reshape(x, (1, value_shape(x)[0]))
    return node.emit(GatherOp(x, index, len(value_shape(x)) - 1))


@converts("Imputer", domain=DOMAIN)
def imputer(node: Node) -> SSAValue:
    """`Imputer`: one value, or one a column, in the place of another one, or of NaN."""
    kind = node.element_type()
    suffix = "float" if is_float(kind) else "int64"
    values = node.attributes.get(f"imputed_value_{suffix}s")
    if not values or not isinstance(values, tuple) or is_string(kind):
        raise OnHost("what it puts in is of another type")
    new = node.builder.array(np.array(values, to_numpy(kind)))
    replaced = node.attributes.get(f"replaced_value_{suffix}", 0)
    if isinstance(replaced, float) and np.isnan(replaced):
        missing = apply(node, "IsNaN", node[0])
    else:
        assert isinstance(replaced, int | float)
        missing = apply(node, "Equal", node[0], node.builder.number(replaced, kind))
    return apply(node, "Where", missing, new, node[0])


@converts("OneHotEncoder", domain=DOMAIN)
def one_hot_encoder(node: Node) -> SSAValue:
    """`OneHotEncoder` of integers, with zeros for what is no category."""
    categories = node.get_ints("cats_int64s")
    if not categories or is_string(node.element_type()) or not node.get_flag("zeros", True):
        raise OnHost("categories are strings, or others are refused")
    x = apply(node, "Cast", node[0], to=_INT64)
    wide = node.reshape(x, (*value_shape(x), 1))
    same = apply(node, "Equal", wide, node.builder.ints(categories))
    return apply(node, "Cast", same, to=_FLOAT)
