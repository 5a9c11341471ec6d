"""The strategy: a model, what goes in, and what has to come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import onnx
import onnx.checker
import onnx.printer
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from onnx.defs import onnx_opset_version

from tests.random_onnx.evaluate import Rejected
from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import available, builders
from tests.random_onnx.values import F32, Array, Value, value_info

OPSETS = (13, 17, 18, 20, 21, 23, onnx_opset_version())
MAX_NODES = 15


@dataclass(frozen=True)
class Case:
    """A model with its feeds, and its outputs in order."""

    model: onnx.ModelProto
    feeds: dict[str, Array]
    outputs: Sequence[Value]

    def __repr__(self) -> str:
        """The model as text, which is what a failure is read from."""
        feeds = {name: (array.dtype.name, array.tolist()) for name, array in self.feeds.items()}
        return f"{onnx.printer.to_text(self.model)}\nfeeds: {feeds}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Hypothesis prints fields of a dataclass otherwise."""
        printer.text(repr(self))


@st.composite
def cases(draw: st.DrawFn, first: str | None = None, opset: int | None = None) -> Case:
    """A model of up to `MAX_NODES` nodes, of which the first may be asked for."""
    if opset is None:
        opset = draw(st.sampled_from(_opsets(first)))
    grower = Grower(draw, opset)
    if first is not None:
        _grow(grower, first)
    names = available(grower.opset)
    idioms = [name for name in names if name.islower()]
    for _ in range(draw(st.integers(0 if first else 1, 8))):
        if len(grower.nodes) < MAX_NODES:
            # What passes look for is rare among nodes that are drawn one by one.
            _grow(grower, grower.one_of(names if grower.int(0, 3) else idioms))
    return _case(grower)


def _opsets(first: str | None) -> list[int]:
    return [opset for opset in OPSETS if first is None or first in available(opset)]


def _grow(grower: Grower, name: str) -> None:
    """Adds what a builder makes, or nothing where the result would depend on rounding."""
    before = len(grower.nodes), len(grower.values), len(grower.inputs), len(grower.constants)
    try:
        builders()[name](grower, name)
    except Rejected:
        lists = grower.nodes, grower.values, grower.inputs, grower.constants
        for items, count in zip(lists, before, strict=True):
            del items[count:]


def _case(grower: Grower) -> Case:
    if not grower.nodes:
        grower.emit("Identity", [grower.fresh(F32, (2,), "normal")])
    made = {name for node in grower.nodes for name in node.output}
    used = {name for node in grower.nodes for name in node.input}
    results = [value for value in grower.values if value.name in made]
    outputs = [value for value in results if value.name not in used or grower.rarely()]
    graph = helper.make_graph(
        grower.nodes,
        "random",
        [value_info(value) for value in grower.inputs],
        [value_info(value) for value in outputs],
        [numpy_helper.from_array(value.array, value.name) for value in grower.constants],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", grower.opset)])
    checker: Any = onnx.checker
    checker.check_model(model, full_check=True)
    return Case(model, {value.name: value.array for value in grower.inputs}, outputs)
