"""Models of equal layers: imported once, they become what all of them become."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.frontends.onnx.importer import import_onnx, open_model
from ge_dialect.frontends.onnx.layers import ShortModule
from ge_dialect.frontends.onnx.short_import import import_short
from ge_dialect.passes.repeats.outline_repeats import expand_repeats
from ge_dialect.printing import exact_text
from ge_dialect.tools import api
from ge_dialect.tools.short_models import load_short
from tests.onnx_models import model

Nodes = list[onnx.NodeProto]
Piece = Callable[["Stack", str, str], str]


class Stack:
    """A model that is being made.

    Attributes:
        layer: The number of the current one.
        nodes: So far.
        constants: So far.
        inputs: So far.
    """

    def __init__(self) -> None:
        self.layer = 0
        self.nodes: Nodes = []
        self.constants: dict[str, np.ndarray] = {"scale": np.full(64, 0.5, np.float32)}
        self.inputs: dict[str, tuple[str, Sequence[int | str]]] = {"x": ("float32", (4, 64))}

    def add(self, op_type: str, *names: str, count: int = 1, **attributes: Any) -> str:
        """Adds a node; returns its first output."""
        made = [f"v{len(self.nodes)}.{index}" for index in range(count)]
        name = f"/layer.{self.layer}/{op_type}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(names), made, name, **attributes))
        return made[0]

    def constant(self, kind: str, array: np.ndarray) -> str:
        """Adds an initializer of the current layer."""
        name = f"layers.{self.layer}.{kind}{len(self.constants)}"
        self.constants[name] = array
        return name

    def weight(self, *shape: int) -> str:
        """Adds a weight that is like no other."""
        seed = np.random.default_rng(len(self.constants))
        return self.constant("weight", seed.normal(size=shape).astype(np.float32))


def matmul(stack: Stack, x: str, h: str) -> str:
    return stack.add("MatMul", x, stack.weight(64, 64))


def silu(stack: Stack, x: str, h: str) -> str:
    return stack.add("Mul", x, stack.add("Sigmoid", x))


def residual(stack: Stack, x: str, h: str) -> str:
    return stack.add("Add", x, h)


def shared(stack: Stack, x: str, h: str) -> str:
    return stack.add("Mul", x, "scale")


def equal(stack: Stack, x: str, h: str) -> str:
    return stack.add("Mul", x, stack.constant("equal", np.full(64, 1.5, np.float32)))


def written(stack: Stack, x: str, h: str) -> str:
    tensor = onnx.numpy_helper.from_array(np.array(0.25, np.float32))
    return stack.add("Add", x, stack.add("Constant", value=tensor))


def shaped(stack: Stack, x: str, h: str) -> str:
    flat = stack.add("Reshape", x, stack.constant("flat", np.array([-1], np.int64)))
    return stack.add("Reshape", stack.add("Relu", flat), stack.add("Shape", h))


def halves(stack: Stack, x: str, h: str) -> str:
    first = stack.add("Split", x, count=2, axis=1, num_outputs=2)
    return stack.add("Concat", f"{first[:-1]}1", first, axis=1)


def same(stack: Stack, x: str, h: str) -> str:
    return stack.add("Identity", stack.add("Tanh", x))


def given_input(stack: Stack, x: str, h: str) -> str:
    name = f"past.{stack.layer}"
    stack.inputs[name] = ("float32", (4, 64))
    return stack.add("Add", x, name)


PIECES: tuple[Piece, ...] = (
    *(matmul, silu, residual, shared, equal, written, shaped, halves, same, given_input),
)


def layers(pieces: Sequence[Piece], count: int, *, outputs: bool = False) -> onnx.ModelProto:
    """Returns a model of so many layers, of which each may have an output of its own."""
    stack, given_ = Stack(), list[str]()
    x = stack.add("Relu", "x")
    for number in range(count):
        stack.layer, h = number, x
        for piece in pieces:
            x = piece(stack, x, h)
        if outputs:
            given_.append(stack.add("Neg", x))
    return model(stack.nodes, stack.inputs, [*given_, stack.add("Tanh", x)], stack.constants)


def short(proto: onnx.ModelProto) -> ShortModule | None:
    return import_short(open_model(proto), 6)


def assert_same_plans(proto: onnx.ModelProto, named: bool = True, **options: Any) -> list[str]:
    """Asserts that a model has the same plan with and without; returns the passes with.

    Args:
        proto: The model.
        named: Whether names are compared as well; a constant that each layer has is one in the end,
            and has not the names of all.
        options: Of the compilation.
    """
    plans = [api.compile(proto, outline=outline, **options) for outline in (True, False)]
    texts = [exact_text(plan.module, locations=named) for plan in plans]
    assert texts[0] == texts[1]
    for fact in ("nodes_before", "nodes_after", "unfused_bytes", "fired"):
        assert getattr(plans[0], fact) == getattr(plans[1], fact)
    return [one.name for one in plans[0].passes]


@given(
    pieces=st.lists(st.sampled_from(PIECES), min_size=2, max_size=7, unique=True),
    outputs=st.booleans(),
)
@settings(max_examples=12, deadline=None)
def test_plans_are_the_same_as_of_all_layers(pieces: list[Piece], outputs: bool) -> None:
    proto = layers([matmul, *pieces], 4 + 200 // len(pieces), outputs=outputs)
    assert_same_plans(proto, equal not in pieces and written not in pieces)


@pytest.mark.parametrize("pieces", [[matmul, silu, residual], [matmul, *PIECES[3:]]])
@pytest.mark.parametrize("outputs", [False, True])
def test_most_layers_are_not_imported(pieces: list[Piece], outputs: bool) -> None:
    found = short(layers(pieces, 60, outputs=outputs))
    assert found is not None
    assert len(found.blocks.skipped) >= 54
    assert len(found.kept) == 2
    assert not found.opened
    passes = assert_same_plans(layers(pieces, 60, outputs=outputs), equal not in pieces)
    assert "ge-outline-repeats" in passes


def lines_of(module: ModuleOp) -> list[str]:
    """The text in any order of lines, without the numbers of values: constants may move."""
    text = exact_text(module, locations=True)
    return sorted(re.sub(r"%([A-Za-z.]*)[\w.]*", r"%\1", text).splitlines())


@pytest.mark.parametrize("outputs", [False, True])
def test_what_no_pass_has_seen_is_the_whole_model(outputs: bool) -> None:
    # What equal constants are called is that of one of them.
    pieces = [piece for piece in PIECES if piece not in (equal, written)]
    proto = layers(pieces, 40, outputs=outputs)
    module, _, found = load_short(proto, None)
    assert found is not None
    assert expand_repeats(found.short)
    module.verify()
    whole = import_onnx(proto)
    whole.attributes.update(module.attributes)
    assert lines_of(module) == lines_of(whole)


def test_few_layers_are_imported_whole() -> None:
    proto = layers([matmul, silu], 12)
    assert short(proto) is not None
    module, _, found = load_short(proto, None)
    assert found is None
    module.verify()


def counted(stack: Stack, x: str, h: str) -> str:
    """A number that is one more in each layer."""
    before = "count" if stack.layer == 0 else f"count.{stack.layer}"
    stack.constants["count"] = stack.constants["one"] = np.array([1], np.int64)
    made = stack.add("Add", before, "one")
    stack.nodes[-1].output[0] = f"count.{stack.layer + 1}"
    assert made
    return stack.add("Mul", x, stack.add("Cast", f"count.{stack.layer + 1}", to=1))


def grown(stack: Stack, x: str, h: str) -> str:
    """A value with four rows more in each layer."""
    return stack.add("Concat", x, "x", axis=0)


def own_scale(stack: Stack, x: str, h: str) -> str:
    return stack.add("Mul", x, stack.constant("own", np.full(64, stack.layer, np.float32)))


def unnamed(stack: Stack, x: str, h: str) -> str:
    made = stack.add("Sqrt", x)
    stack.nodes[-1].name = "node"
    return made


def branched(stack: Stack, x: str, h: str) -> str:
    value = [onnx.ValueInfoProto(name=name) for name in ("a", "b")]
    bodies = [
        helper.make_graph([helper.make_node(kind, [x], [one.name])], kind, [], [one])
        for kind, one in zip(("Relu", "Neg"), value, strict=True)
    ]
    stack.inputs["c"] = ("bool", ())
    return stack.add("If", "c", then_branch=bodies[0], else_branch=bodies[1])


@pytest.mark.parametrize("piece", [counted, grown, own_scale, unnamed, branched])
def test_layers_that_differ_are_imported_whole(piece: Piece) -> None:
    assert load_short(layers([matmul, silu], 110), None)[2] is not None
    assert load_short(layers([matmul, silu, piece], 110), None)[2] is None


@pytest.mark.parametrize("piece", [counted, own_scale, unnamed])
def test_plans_of_layers_that_differ_are_the_same(piece: Piece) -> None:
    assert_same_plans(layers([matmul, silu, piece], 54))


def test_values_that_are_read_behind_the_layers_are_there() -> None:
    proto = layers([matmul, silu], 60)
    skipped = next(one for one in proto.graph.node if one.name.startswith("/layer.30/Mul"))
    last = proto.graph.node[-1]
    last.op_type = "Add"
    last.input.append(skipped.output[0])
    assert short(proto) is None
    assert_same_plans(proto)


def test_values_that_a_body_reads_are_there() -> None:
    proto = layers([matmul, silu], 110)
    skipped = next(one for one in proto.graph.node if one.name.startswith("/layer.30/Mul"))
    last = proto.graph.node[-1]
    result = onnx.ValueInfoProto(name="r")
    body = helper.make_graph(
        [helper.make_node("Add", [skipped.output[0], last.input[0]], ["r"])], "body", [], [result]
    )
    always = onnx.numpy_helper.from_array(np.array(True), "always")
    proto.graph.initializer.append(always)
    del last.input[:]
    last.input.append("always")
    last.op_type = "If"
    last.attribute.extend(
        helper.make_attribute(f"{name}_branch", body) for name in ("then", "else")
    )
    assert load_short(proto, None)[2] is None
    assert_same_plans(proto)


def test_a_first_layer_with_an_input_for_a_weight_is_its_own() -> None:
    proto = layers([matmul, silu, residual], 80)
    name = proto.graph.node[1].input[1]
    weights = [one for one in proto.graph.initializer if one.name != name]
    for one in weights:
        if "weight" in one.name:
            one.raw_data = np.zeros((64, 64), np.float32).tobytes()
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(weights)
    proto.graph.input.append(helper.make_tensor_value_info(name, 1, (64, 64)))
    assert load_short(proto, None)[2] is not None
    assert_same_plans(proto)


def test_constants_that_nobody_reads_are_no_layers() -> None:
    proto = layers([matmul, silu], 110)
    tensor = onnx.numpy_helper.from_array(np.array(1, np.float32))
    for number in range(20):
        unread = helper.make_node("Constant", [], [""], f"unread.{number}", value=tensor)
        proto.graph.node.insert(7 * number, unread)
    clip = helper.make_node("Clip", [proto.graph.node[-1].output[0], "", "scale0"], ["c"], "clip")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(1, np.float32), "scale0"))
    proto.graph.node.append(clip)
    proto.graph.output[0].name = "c"
    assert load_short(proto, None)[2] is not None
    assert_same_plans(proto)


def test_open_sizes_are_imported_whole() -> None:
    proto = layers([matmul, silu], 60)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    assert short(proto) is None


def test_weights_that_are_shared_by_layers_are_no_reason_for_others() -> None:
    proto = layers([matmul, silu, residual], 60)
    proto.graph.initializer[1].raw_data = proto.graph.initializer[-1].raw_data
    assert_same_plans(proto)


def negated(stack: Stack, x: str, h: str) -> str:
    return stack.add("MatMul", x, stack.add("Neg", stack.weight(64, 64)))


def passed_on(stack: Stack, h: str, how: str) -> str:
    """What the layer before made, by other names."""
    if how == "identity":
        return stack.add("Identity", h)
    if how == "twice":
        return stack.add("Neg", stack.add("Neg", h))
    stack.constants["one"] = np.array(1, np.float32)
    return stack.add("Mul", h, "one")


@pytest.mark.parametrize("read", ["behind", "used", "last", "first", "all"])
@pytest.mark.parametrize("how", ["identity", "twice", "times one"])
def test_what_a_layer_passes_on_is_that_of_the_layer_before(how: str, read: str) -> None:
    stack, passed = Stack(), list[str]()
    x = stack.add("Relu", "x")
    for number in range(60):
        stack.layer, h = number, x
        passed.append(passed_on(stack, h, how))
        x = silu(stack, matmul(stack, x, h), h)
        x = stack.add("Add", x, passed[-1]) if read == "used" else x
    x = stack.add("Tanh", x)
    outputs = {
        "behind": [stack.add("Add", x, passed[-1])],
        "used": [stack.add("Add", x, passed[-1])],
        "last": [x, passed[-1]],
        "first": [passed[0], x],
        "all": [*passed, x],
    }
    assert_same_plans(model(stack.nodes, stack.inputs, outputs[read], stack.constants))


def test_weights_of_layers_that_others_read_are_there() -> None:
    proto = layers([matmul, silu], 110)
    taken = next(one for one in proto.graph.node if one.name.startswith("/layer.30/MatMul"))
    proto.graph.node.insert(0, helper.make_node("Add", ["x", taken.input[1]], ["moved"], "moved"))
    proto.graph.node[1].input[0] = "moved"
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 64
    assert load_short(proto, None)[2] is None
    assert_same_plans(proto)


def test_a_pass_that_looks_into_weights_has_the_whole_model() -> None:
    proto = layers([negated, silu], 60)
    assert load_short(proto, None)[2] is not None
    assert "ge-outline-repeats" not in assert_same_plans(proto)


@pytest.mark.parametrize(
    "options",
    [
        *({"level": level} for level in (0, 1, 3)),
        {"donated_inputs": ("x",)},
        {"streams": 2},
        {"why_not": ("MatMulSwiGlu",)},
        {"precision": "fp16"},
        {"verify_each": True},
    ],
)
def test_plans_are_the_same_under_options(options: dict[str, Any]) -> None:
    assert_same_plans(layers([matmul, silu, residual], 54), **options)


def test_weights_in_files_stay_there(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    proto = layers([matmul, silu, residual], 60)
    onnx.save_model(proto, path, save_as_external_data=True, location="weights.bin")  # pyright: ignore[reportUnknownMemberType]
    plans = [api.compile(path, outline=outline) for outline in (True, False)]
    texts = [exact_text(plan.module, locations=True) for plan in plans]
    assert texts[0] == texts[1]
    assert texts[0].count("weights.bin") == 60
