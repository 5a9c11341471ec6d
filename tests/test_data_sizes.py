"""Sizes that depend on data: symbols with bounds, planned bytes, and the size of each run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import BoundedType, ObjectType
from ge_dialect.lowering import data_sizes
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.om.graph import om_model
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.symbols import Guard, Relation, parse_dim, with_known_products
from ge_dialect.tools.api import CompiledPlan, compile, make_context
from ge_dialect.tools.runtime.executor import Executor, load_plan

Array = npt.NDArray[Any]

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def model(
    inputs: Mapping[str, tuple[int, Sequence[int | str]]],
    nodes: Sequence[onnx.NodeProto],
    outputs: Mapping[str, int],
    constants: Mapping[str, Array] | None = None,
) -> onnx.ModelProto:
    """A model with inputs of given types, and outputs of given element types alone."""
    graph = helper.make_graph(
        list(nodes),
        "sizes",
        [helper.make_tensor_value_info(n, kind, list(dims)) for n, (kind, dims) in inputs.items()],
        [helper.make_tensor_value_info(n, kind, None) for n, kind in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """A node named like its op, of values named in two lists of words."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(op, names, outputs.split(), op, **attributes)


def check(
    proto: onnx.ModelProto,
    runs: Sequence[Mapping[str, Array]],
    shapes: str | None = None,
    **options: Any,
) -> CompiledPlan:
    """Compiles a model for one stream and for two, and compares all runs with the reference."""
    reference: Any = ReferenceEvaluator(proto)
    plans = [compile(proto, input_shapes=shapes, streams=n, **options) for n in (1, 2)]
    for plan in plans:
        verify_plan(plan_of(plan.module))
        executor = Executor(plan.module)
        for seed, feeds in enumerate(runs):
            wanted: list[Array] = reference.run(None, dict(feeds))
            for seeded in (None, seed):
                outputs = executor.run(feeds, poison=True, schedule_seed=seeded)
                for got, want in zip(outputs.values(), wanted, strict=True):
                    assert got.shape == want.shape
                    np.testing.assert_allclose(got, want, rtol=1e-5)
    return plans[0]


def held(plan: CompiledPlan) -> tuple[int, int]:
    """How many values have bytes up to a size in a plan, and how many are on the heap."""
    types = [value.type for op in plan_of(plan.module).walk() for value in op.results]
    return (
        sum(isinstance(type_, BoundedType) for type_ in types),
        sum(isinstance(type_, ObjectType) for type_ in types),
    )


def symbols(plan: CompiledPlan) -> list[tuple[str, int, int | None]]:
    """The symbols of a plan with their ranges."""
    return [(op.symbol.data, op.known.lo, op.known.hi) for op in plan_of(plan.module).symbols]


def positives() -> onnx.ModelProto:
    """The indices where an input of 4 times 8 is positive, and the sum of the two, doubled."""
    nodes = [
        node("Greater", "x zero", "where"),
        node("NonZero", "where", "found"),
        node("Transpose", "found", "rows"),
        node("GatherND", "x rows", "values"),
        node("Add", "values values", "twice"),
    ]
    zero = {"zero": np.zeros((), np.float32)}
    return model({"x": (FLOAT, (4, 8))}, nodes, {"rows": INT, "twice": FLOAT}, zero)


def floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_what_is_found_has_planned_bytes_for_the_most(tmp_path: Path):
    runs = [{"x": floats(4, 8)}, {"x": -np.ones((4, 8), np.float32)}, {"x": np.ones((4, 8), "f")}]
    plan = check(positives(), runs)
    assert symbols(plan) == [("u0", 0, 32)]
    bounded, objects = held(plan)
    assert bounded >= 3
    assert objects == 0
    plan.save(tmp_path / "x.om")
    loaded = load_plan(str(tmp_path / "x.om"))
    outputs = Executor(loaded.module, loaded.weights).run(runs[0], poison=True)
    assert outputs["rows"].shape == (int((runs[0]["x"] > 0).sum()), 2)


def test_a_bound_follows_from_ranges_of_inputs():
    proto = positives()
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
    runs = [{"x": floats(n, 8, seed=n)} for n in (1, 3, 6)]
    plan = check(proto, runs, "x:1~6,8")
    assert symbols(plan) == [("N", 1, 6), ("u0", 0, 48)]


def test_sizes_of_gears_are_bounded_by_each():
    proto = positives()
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
    plan = compile(proto, input_shapes="x:-1,8", dynamic_dims=[(1,), (6,)])
    text = str(plan.module)
    assert "<0, 8, 1," in text
    assert "<0, 48, 1," in text


def test_a_limit_below_a_bound_is_an_object(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(data_sizes, "MAX_PLANNED_BYTES", 100)
    plan = check(positives(), [{"x": floats(4, 8)}])
    assert held(plan)[1] >= 2


def test_results_of_one_op_share_a_size():
    names = "values first back counts"
    nodes = [node("Unique", "x", names), node("Mul", "values values", "squares")]
    kinds = {"squares": FLOAT, "first": INT, "back": INT, "counts": INT}
    runs = [{"x": np.array(x, np.float32)} for x in ([1, 2, 2, 1, 3, 3], [0] * 6, list(range(6)))]
    plan = check(model({"x": (FLOAT, (6,))}, nodes, kinds), runs)
    assert symbols(plan) == [("u0", 0, 6)]
    assert held(plan)[1] == 0


def test_entries_kept_by_a_condition():
    nodes = [node("Compress", "x keep", "kept", axis=1), node("Relu", "kept", "y")]
    inputs = {"x": (FLOAT, (3, 5)), "keep": (BOOL, (4,))}
    keeps = ([True] * 4, [False] * 4, [True, False, True, False])
    runs = [{"x": floats(3, 5), "keep": np.array(keep)} for keep in keeps]
    assert symbols(check(model(inputs, nodes, {"y": FLOAT}), runs)) == [("u0", 0, 4)]


def test_a_reshape_to_what_a_run_computes_keeps_the_elements():
    """The rank and the product are known: bytes for 24 elements, not for 24 times 24."""
    nodes = [node("Reshape", "x target", "r"), node("Add", "r r", "y")]
    inputs = {"x": (TensorProto.UINT8, (2, 4, 3)), "target": (INT, (2,))}
    x = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    runs = [{"x": x, "target": np.array(t)} for t in ([4, 6], [24, 1], [-1, 8], [2, -1])]
    proto = model(inputs, nodes, {"y": TensorProto.UINT8})
    plan = check(proto, runs)
    assert symbols(plan) == [("u0", 1, 24), ("u1", 1, 24)]
    assert [str(op.guard) for op in plan_of(plan.module).guards] == ["u0*u1 = 24"]
    output = plan_of(plan.module).outputs[0].buffer.type
    assert isinstance(output, BoundedType)
    assert (output.most, str(output.value)) == (24, 'tensor<?x?xui8, #ge.dims<"u0", "u1">>')


def test_what_a_later_op_asks_is_checked_when_the_size_is_known():
    nodes = [node("NonZero", "x", "found"), node("Add", "found z", "y")]
    inputs = {"x": (FLOAT, (6,)), "z": (INT, (1, 4))}
    z = np.arange(4).reshape(1, 4)
    fits = {"x": np.array([1, 0, 1, 1, 0, 1], np.float32), "z": z}
    one = {"x": np.array([0, 0, 1, 0, 0, 0], np.float32), "z": z}
    plan = check(model(inputs, nodes, {"y": INT}), [fits, one])
    assert [str(op.guard) for op in plan_of(plan.module).guards] == ["u0 = 4, or one of them 1"]
    with pytest.raises(GEError, match="GE0821: expected u0 = 4, or one of them 1, got u0 = 2"):
        plan.run({"x": np.array([0, 0, 1, 0, 0, 1], np.float32), "z": z})


def scanning(trips: int) -> onnx.ModelProto:
    """A loop that goes on while a sum is small, and stacks what it has seen."""
    body = helper.make_graph(
        [
            node("Add", "v x", "w"),
            node("ReduceSum", "w", "sum", keepdims=0),
            node("Less", "sum limit", "go"),
            node("Identity", "w", "seen"),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", INT, []),
            helper.make_tensor_value_info("c", BOOL, []),
            helper.make_tensor_value_info("v", FLOAT, [3]),
        ],
        [
            helper.make_tensor_value_info("go", BOOL, []),
            helper.make_tensor_value_info("w", FLOAT, [3]),
            helper.make_tensor_value_info("seen", FLOAT, [3]),
        ],
    )
    loop = helper.make_node("Loop", ["trips", "yes", "x"], ["last", "all"], "Loop", body=body)
    return model(
        {"x": (FLOAT, (3,)), "limit": (FLOAT, ())},
        [loop, node("Neg", "all", "y")],
        {"last": FLOAT, "y": FLOAT},
        {"trips": np.array(trips), "yes": np.array(True)},
    )


def test_slices_of_a_loop_are_as_many_as_its_trips():
    runs = [{"x": np.ones(3, "f"), "limit": np.array(limit, "f")} for limit in (1, 20, 1000)]
    plan = check(scanning(9), runs)
    assert symbols(plan) == [("u0", 0, 9)]
    assert held(plan)[0] >= 1  # what is computed from the slices
    assert held(plan)[1] == 1  # the slices themselves grow


def test_sizes_of_slices_are_judged_after_the_loop():
    """As a converter from Keras takes the last step of a loop that it does not count."""
    proto = scanning(9)
    last, limits = np.array([-1]), np.array([2**31 - 1])
    for name, array in (("last_one", last), ("end", limits), ("axis", np.array([0]))):
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    proto.graph.initializer.append(numpy_helper.from_array(np.array([3]), "three"))
    proto.graph.node.append(node("Slice", "all last_one end axis", "step"))
    proto.graph.node.append(node("Reshape", "step three", "z"))
    proto.graph.output.append(helper.make_tensor_value_info("z", FLOAT, [3]))
    run = {"x": np.ones(3, "f"), "limit": np.array(20, "f")}
    plan = check(proto, [run])
    assert [str(op.guard) for op in plan_of(plan.module).guards] == ["3*min(u0, 1) = 3"]


def branching() -> onnx.ModelProto:
    """What is found, or a constant: a result that is as long as the one or the other."""
    found = helper.make_graph(
        [node("NonZero", "x", "a")], "then", [], [helper.make_tensor_value_info("a", INT, None)]
    )
    other = helper.make_graph(
        [node("Identity", "k", "b")], "else", [], [helper.make_tensor_value_info("b", INT, [1, 2])]
    )
    choice = helper.make_node("If", ["c"], ["z"], "If", then_branch=found, else_branch=other)
    return model(
        {"x": (FLOAT, (5,)), "c": (BOOL, ())},
        [choice, node("Neg", "z", "y")],
        {"y": INT},
        {"k": np.array([[7, 8]])},
    )


def test_a_branch_gives_what_either_side_may():
    x = np.array([1, 0, 3, 4, 0], np.float32)
    runs = [{"x": x, "c": np.array(c)} for c in (True, False, True)]
    plan = check(branching(), runs)
    assert sorted(hi or 0 for _, _, hi in symbols(plan)) == [5, 5]


def test_what_nothing_bounds_stays_on_the_heap():
    nodes = [node("Range", "first last step", "r"), node("Add", "r r", "y")]
    inputs: dict[str, tuple[int, Sequence[int | str]]] = dict.fromkeys(
        ("first", "last", "step"), (INT, ())
    )
    runs = [
        {"first": np.array(a), "last": np.array(b), "step": np.array(c)}
        for a, b, c in ((0, 5, 1), (3, 30, 7), (4, 4, 1))
    ]
    plan = check(model(inputs, nodes, {"y": INT}), runs)
    assert symbols(plan) == [("u0", 0, None)]
    assert held(plan) == (0, 2)
    assert any("nothing bounds u0" in str(remark) for remark in plan.remarks)


def test_shapes_of_what_was_found_are_known_as_expressions():
    """`ConstantOfShape(Shape(found))` has the size of what was found, and waits for it."""
    nodes = [
        node("NonZero", "x", "found"),
        node("Shape", "found", "s"),
        node("ConstantOfShape", "s", "zeros", value=numpy_helper.from_array(np.array([7]))),
        node("Concat", "found zeros", "y", axis=1),
    ]
    runs = [{"x": np.array(x, np.float32)} for x in ([1, 0, 1], [0, 0, 0], [1, 1, 1])]
    plan = check(model({"x": (FLOAT, (3,))}, nodes, {"y": INT}), runs)
    output = plan_of(plan.module).outputs[0].buffer.type
    assert isinstance(output, BoundedType)
    assert '"2*u0"' in str(output)


SIZED = 'tensor<?xf32, #ge.dims<"u0">>'
DECLARED = 'ge.data_symbols = {u0 = #ge.symbol<0, 4, 1, "found">}'
TWO_SIZES = f"""
func.func @main(%x: tensor<4xf32> {{ge.name = "x"}}) -> {SIZED} attributes {{{DECLARED}}} {{
  %i = ge.host_call "ai.onnx::NonZero" version 21 (%x)
    : (tensor<4xf32>) -> tensor<1x?xi64, #ge.dims<"u0">>
  %c = ge.constant dense<2.0> : tensor<1xf32>
  %y = ge.broadcast_to %c : (tensor<1xf32>) -> {SIZED}
  func.return %y : {SIZED}
}}
"""


def test_a_task_that_reads_no_found_value_waits_for_its_size():
    for streams in (1, 2):
        module = Parser(make_context(), TWO_SIZES).parse_module()
        plan = compile(module, level=0, streams=streams)
        verify_plan(plan_of(plan.module))
        for seed in range(4):
            feeds = {"x": np.array([0, 1, 0, 1], np.float32)}
            outputs = Executor(plan.module).run(feeds, poison=True, schedule_seed=seed)
            assert outputs["result0"].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<0, 32, 1,", "<0, 99, 1,", "up to 1584, but has 512"),
        ("dim 1 <0, 32", "dim 0 <0, 32", "expected a dimension of 'u0'"),
    ],
)
def test_a_plan_that_says_sizes_wrong_is_refused(old: str, new: str, message: str):
    text = str(compile(positives()).module)
    assert old in text
    with pytest.raises(Exception, match=message):
        module = Parser(make_context(), text.replace(old, new)).parse_module()
        module.verify()
        verify_plan(plan_of(module))


def test_a_plan_that_uses_a_size_before_it_is_told_is_refused():
    module = compile(Parser(make_context(), TWO_SIZES).parse_module(), level=0).module
    plan = plan_of(module)
    (stream,) = plan.streams
    first, second = plan.tasks()
    first.detach()
    stream.body.block.insert_op_after(first, second)
    first.properties["id"], second.properties["id"] = second.id, first.id
    with pytest.raises(GEError, match="needs 'u0', which no task before it tells"):
        verify_plan(plan)


def test_a_run_that_leaves_a_bound_is_an_error():
    text = str(compile(positives()).module).replace("<0, 32, 1,", "<0, 3, 1,")
    module = Parser(make_context(), text).parse_module()
    with pytest.raises(GEError, match=r"GE0820: u0 = 32 leaves 0\.\.3: what 'NonZero' at"):
        Executor(module).run({"x": np.ones((4, 8), np.float32)})


def test_products_that_are_known_replace_their_factors():
    fact = Guard(parse_dim("u0*u1"), Relation.EQUAL, parse_dim("4*S"), "")
    assert str(with_known_products(parse_dim("8*u0*u1 + u0"), [fact])) == "32*S + u0"
    assert str(with_known_products(parse_dim("u0*u1*u1"), [fact])) == "4*S*u1"
    assert str(with_known_products(parse_dim("u0*T"), [fact])) == "T*u0"
    broadcast = Guard(parse_dim("u0*u1"), Relation.BROADCAST, 4, "")
    assert str(with_known_products(parse_dim("u0*u1"), [broadcast])) == "u0*u1"


@pytest.mark.parametrize(
    "name", ["yolo-head.ts-static", "yolo-head.dynamo-static", "ssdlite.ts-static"]
)
def test_detectors_of_the_zoo_have_planned_bytes(name: str, zoo: Path):
    plan = compile(zoo / name / "model.onnx", streams=2)
    bounded, objects = held(plan)
    assert bounded >= 3
    assert objects <= 1  # the result of a branch in ssdlite
    executor = Executor(plan.module)
    with np.load(zoo / name / "io.npz") as arrays:
        feeds = {key[6:]: arrays[key] for key in arrays if key.startswith("input.")}
        for seed in (None, 1, 2):
            outputs = executor.run(feeds, poison=True, schedule_seed=seed)
            for key, got in outputs.items():
                want = arrays[f"output.{key}"]
                assert got.shape == want.shape
                np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


def test_viewers_show_sizes_and_guards():
    nodes = [node("NonZero", "x", "found"), node("Add", "found z", "y")]
    inputs: dict[str, tuple[int, Sequence[int | str]]] = {
        "x": (FLOAT, ("N",)),
        "z": (INT, (1, 4)),
    }
    plan = compile(model(inputs, nodes, {"y": INT}), input_shapes="x:1~6;z:1,4")
    (graph,) = om_model(plan_of(plan.module), "m", 0).graphs
    attrs = {op.name: op.attrs for op in graph.ops}
    assert attrs["x"]["sizes"] == ["dim 0 is N: N 1..6"]
    assert "sizes" not in attrs["z"]
    assert attrs["NonZero"]["sizes"] == ["dim 1 is u0: u0 0..6"]
    assert attrs["NonZero"]["guards"] == ["u0 = 4, or one of them 1"]
    labels = [
        event["args"]["labels"]
        for event in json.loads(plan.trace())["traceEvents"]
        if event["name"] == "process_labels"
    ]
    assert labels == ["size N 1..6, size u0 0..6, guard u0 = 4, or one of them 1"]


def test_viewers_show_gears(tmp_path: Path):
    proto = positives()
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
    compile(proto, input_shapes="x:-1,8", dynamic_dims=[(1,), (6,)]).save(tmp_path / "g.om")
    assert b"gears" in (tmp_path / "g.om").read_bytes()
    assert b"N=6" in (tmp_path / "g.om").read_bytes()
