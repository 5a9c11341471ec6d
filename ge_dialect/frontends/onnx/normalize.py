"""Takes the spellings out of an ONNX model: local functions and forms of `Constant`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import onnx.defs
import onnx.inliner
from onnx.checker import ValidationError
from onnx.shape_inference import InferenceError
from onnx.version_converter import ConvertError

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.external import ExternalFiles
from ge_dialect.frontends.onnx.load import LoadedModel
from ge_dialect.frontends.onnx.problems import Problems, shorten
from ge_dialect.frontends.onnx.rows import NodeRow, rows_of
from ge_dialect.frontends.onnx.tensors import TensorReader, nested_tensors, unique_key
from ge_dialect.frontends.onnx.validate import domain_of, node_label, subgraphs
from ge_dialect.frontends.onnx.wire import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

_T = onnx.TensorProto
_A = onnx.AttributeProto
# Nodes that inlining may make; functions that call functions can grow without bound.
MAX_INLINED_NODES = 1_000_000

_INLINER_ERRORS = (RuntimeError, ValueError, ConvertError, InferenceError, ValidationError)

_FunctionKey = tuple[str, str, str]

# Attribute of `Constant` -> its kind, and (element type, rank) of the tensor it stands for.
_CONSTANT_FORMS: dict[str, tuple[int, int, int]] = {
    "value_float": (_A.FLOAT, _T.FLOAT, 0),
    "value_floats": (_A.FLOATS, _T.FLOAT, 1),
    "value_int": (_A.INT, _T.INT64, 0),
    "value_ints": (_A.INTS, _T.INT64, 1),
    "value_string": (_A.STRING, _T.STRING, 0),
    "value_strings": (_A.STRINGS, _T.STRING, 1),
}


def normalize(
    loaded: LoadedModel, threshold: int = DEFAULT_THRESHOLD, *, owned: bool = False
) -> LoadedModel:
    """Returns the model without local functions, each `Constant` with a tensor as its `value`.

    Args:
        loaded: Not changed, unless `owned`; the result shares its weights.
        threshold: In bytes; longer constants become handles.
        owned: Whether nobody else has the model, so that it need not be copied.

    Raises:
        GEError: A function cannot be inlined (GE0214), or a `Constant` is malformed (GE0215) or
            sparse (GE0213).
    """
    model = loaded.bare
    if not owned:
        model = onnx.ModelProto()
        model.CopyFrom(loaded.model)
    weights = dict(loaded.weights)
    reader = TensorReader(loaded.path, (), ExternalFiles(None, None), threshold, weights)
    used = {*weights, *(tensor.name for tensor in model.graph.initializer)}
    if model.functions:
        loaded.unread.read_into(model.graph)
        model = inline_functions(model)
        # Conversion to the model's opset makes tensors of its own.
        for path, tensor in nested_tensors(model, rows_of(model.graph.node)):
            if tensor.data_location != _T.EXTERNAL:
                reader.take(tensor, unique_key(path, used), keep=False)
    problems = Problems()
    nodes = loaded.nodes if model is loaded.bare else rows_of(model.graph.node)
    _ConstantForms(reader, problems, used).nodes(nodes, "")
    problems.raise_first()
    return LoadedModel(model, weights, loaded.path, loaded.opset, nodes, loaded.unread)


def normalize_body(loaded: LoadedModel, function: onnx.FunctionProto) -> onnx.GraphProto:
    """Returns the nodes of a function that ONNX made, as `normalize` would leave them.

    Args:
        loaded: The model that the nodes become part of; large tensors enter its weights.
        function: Without attributes of its own.

    Raises:
        GEError: A `Constant` is malformed (GE0215) or sparse (GE0213).
    """
    model = onnx.ModelProto(graph=onnx.GraphProto(node=function.node))
    files = ExternalFiles(None, None)
    reader = TensorReader(loaded.path, (), files, DEFAULT_THRESHOLD, loaded.weights)
    used = set(loaded.weights)
    for path, tensor in nested_tensors(model, rows_of(model.graph.node)):
        if tensor.data_location != _T.EXTERNAL:
            reader.take(tensor, unique_key(path, used), keep=False)
    problems = Problems()
    nodes = rows_of(model.graph.node)
    _ConstantForms(reader, problems, used).nodes(nodes, f"{function.name}/")
    problems.raise_first()
    return model.graph


def inline_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model with every call of a model-local function replaced by its nodes.

    Raises:
        GEError: Functions call themselves, grow beyond `MAX_INLINED_NODES` nodes, or are written
            for an opset that cannot be converted to the model's (GE0214).
    """
    _check_growth(model)
    align_opsets(model)
    try:
        inlined = onnx.inliner.inline_local_functions(model, convert_version=True)
    except _INLINER_ERRORS as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise _cannot_inline(f"local functions cannot be inlined: {reason[0]}") from error
    if inlined.functions:
        names = [f"'{function.name}'" for function in inlined.functions]
        raise _cannot_inline(f"local functions of another opset remain: {shorten(names)}")
    return inlined


def align_opsets(model: onnx.ModelProto) -> None:
    """Gives functions the model's operator sets where their operators are the same in both.

    The conversion of what remains is ONNX's, which does not know every operator.
    """
    wanted = {domain_of(entry.domain): entry.version for entry in model.opset_import}
    for function in model.functions:
        for entry in function.opset_import:
            domain, version = domain_of(entry.domain), wanted.get(domain_of(entry.domain))
            if version in (None, entry.version):
                continue
            used = {
                node.op_type
                for node in _all_nodes(function.node)
                if domain_of(node.domain) == domain
            }
            if all(
                _since(one, version, domain) == _since(one, entry.version, domain) for one in used
            ):
                entry.version = version


def _since(op_type: str, version: int, domain: str) -> int | None:
    """Returns the version of an operator that an operator set has, None where it has none."""
    if not onnx.defs.has(op_type, version, domain):
        return None
    return onnx.defs.get_schema(op_type, version, domain).since_version


def _cannot_inline(message: str) -> GEError:
    return GEError("GE0214", message, hint="export the model without local functions")


def _key(item: onnx.NodeProto | onnx.FunctionProto, name: str) -> _FunctionKey:
    return domain_of(item.domain), name, item.overload


def _check_growth(model: onnx.ModelProto) -> None:
    """Refuses functions that call themselves, or that inlining would blow up."""
    bodies = {_key(function, function.name): function for function in model.functions}
    sizes: dict[_FunctionKey, int] = {}
    for key in _callees_first(bodies):
        sizes[key] = _inlined_size(bodies[key].node, sizes)
    if (total := _inlined_size(model.graph.node, sizes)) > MAX_INLINED_NODES:
        raise _cannot_inline(
            f"local functions grow to {total} nodes, the limit is {MAX_INLINED_NODES}"
        )


def _callees_first(bodies: dict[_FunctionKey, onnx.FunctionProto]) -> list[_FunctionKey]:
    """Orders functions so that each comes after those it calls."""
    order: list[_FunctionKey] = []
    state: dict[_FunctionKey, bool] = {}  # False while its callees are under way
    for root in bodies:
        stack = [root]
        while stack:
            key = stack[-1]
            if state.get(key):
                stack.pop()
                continue
            calls = [call for call in _calls(bodies[key].node) if call in bodies]
            pending = [call for call in calls if not state.get(call)]
            if any(call in state for call in pending):
                raise _cannot_inline(f"local function '{key[1]}' calls itself")
            state[key] = not pending
            if pending:
                stack.append(pending[0])
            else:
                order.append(key)
                stack.pop()
    return order


def _all_nodes(nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The nodes and those of their subgraphs."""
    found: list[onnx.NodeProto] = []
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        found.append(node)
        for graph in subgraphs(node):
            pending.extend(reversed(graph.node))
    return found


def _calls(nodes: Sequence[onnx.NodeProto]) -> list[_FunctionKey]:
    return list(dict.fromkeys(_key(node, node.op_type) for node in _all_nodes(nodes)))


def _inlined_size(nodes: Sequence[onnx.NodeProto], sizes: dict[_FunctionKey, int]) -> int:
    return sum(sizes.get(_key(node, node.op_type), 1) for node in _all_nodes(nodes))


class _ConstantForms:
    """Rewrites `Constant` nodes in place."""

    def __init__(self, reader: TensorReader, problems: Problems, used: set[str]):
        self.reader = reader
        self.problems = problems
        self.used = used

    def nodes(self, nodes: Sequence[NodeRow], prefix: str) -> None:
        """Rewrites those among the nodes of a graph and of its bodies."""
        for index, row in enumerate(nodes):
            kind = row.kind
            is_constant = kind.op_type == "Constant" and domain_of(kind.domain) == ""
            if not is_constant and not kind.bodies:
                continue
            path = f"{prefix}{row.name or f'{kind.op_type}_{index}'}/"
            if is_constant:
                self.constant(row.node, index, f"{path}value")
            for body in kind.bodies:
                self.nodes(rows_of(body.node), path)

    def constant(self, node: onnx.NodeProto, index: int, path: str) -> None:
        if len(node.attribute) != 1:
            names = shorten([f"'{attribute.name}'" for attribute in node.attribute]) or "none"
            what = f"expected one attribute of 'Constant', got {names}"
            self.problems.add("GE0215", what, node_label(node, index))
            return
        attribute = node.attribute[0]
        if attribute.name == "sparse_value":
            what = "sparse constants are not supported"
            self.problems.add("GE0213", what, node_label(node, index), "use a dense 'value'")
        elif (problem := _constant_problem(attribute)) is not None:
            self.problems.add("GE0215", problem, node_label(node, index))
        elif attribute.name != "value":
            node.attribute[0].CopyFrom(self.value(attribute, path))

    def value(self, attribute: onnx.AttributeProto, path: str) -> onnx.AttributeProto:
        """Returns the attribute `value` that says the same."""
        from onnx.helper import get_attribute_value, make_attribute

        _, data_type, rank = _CONSTANT_FORMS[attribute.name]
        value = get_attribute_value(attribute)
        values = value if rank else [value]
        tensor = _T(data_type=data_type, dims=[len(values)] if rank else [])
        if data_type == _T.FLOAT:
            tensor.float_data.extend(values)
        elif data_type == _T.INT64:
            tensor.int64_data.extend(values)
        else:
            tensor.string_data.extend(values)
        self.reader.take(tensor, unique_key(path, self.used), keep=False)
        return make_attribute("value", tensor)


def _constant_problem(attribute: onnx.AttributeProto) -> str | None:
    """Says what is wrong with the attribute of a `Constant`, or None where nothing is."""
    form = _CONSTANT_FORMS.get(attribute.name)
    wanted = _A.TENSOR if attribute.name == "value" else None if form is None else form[0]
    found = f"'Constant' with attribute '{attribute.name}' of kind {_kind(attribute.type)}"
    if wanted is None:
        return found
    if attribute.type != wanted:
        return f"{found}, expected {_kind(wanted)}"
    return f"{found} that is empty" if wanted == _A.TENSOR and not attribute.HasField("t") else None


def _kind(number: int) -> str:
    known = _A.AttributeType.values()
    return _A.AttributeType.Name(number) if number in known else str(number)  # pyright: ignore[reportArgumentType]  # an enumerator
