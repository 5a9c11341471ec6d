"""Completes models of the first two IR versions by what later versions say themselves."""

from __future__ import annotations

import onnx

from ge_dialect.frontends.onnx.validate import subgraphs

_A = onnx.AttributeProto

# Field of an attribute -> its kind. Source: comment of `AttributeProto.type` in `onnx.proto`.
_SINGLE = (("f", _A.FLOAT), ("i", _A.INT), ("s", _A.STRING), ("t", _A.TENSOR), ("g", _A.GRAPH))
_LISTS = (
    *(("floats", _A.FLOATS), ("ints", _A.INTS), ("strings", _A.STRINGS)),
    *(("tensors", _A.TENSORS), ("graphs", _A.GRAPHS)),
)


def complete_old_model(model: onnx.ModelProto) -> None:
    """Gives a model what its IR version left out: operator set 1, and the kinds of attributes.

    Before IR version 2 an attribute did not say its kind, before version 3 a model did not say its
    operator set; an attribute without any field stays without a kind.
    """
    if not 1 <= model.ir_version < 3:
        return
    if not model.opset_import:
        model.opset_import.append(onnx.OperatorSetIdProto(version=1))
    pending = [model.graph]
    while pending:
        for node in pending.pop().node:
            for attribute in node.attribute:
                if attribute.type == _A.UNDEFINED:
                    _set_kind(attribute)
            pending.extend(subgraphs(node))


def _set_kind(attribute: onnx.AttributeProto) -> None:
    for name, kind in _SINGLE:
        if attribute.HasField(name):
            attribute.type = kind
            return
    for name, kind in _LISTS:
        if len(getattr(attribute, name)):
            attribute.type = kind
            return
