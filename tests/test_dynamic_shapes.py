"""Symbols from the command line to the run: ranges, guards, equalities, gears, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import ge_dialect
from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.input_shapes import parse_input_shapes
from ge_dialect.ge.symbolic import symbol_ranges
from ge_dialect.lowering.at_sizes import greatest_sizes, least_sizes, plan_at
from ge_dialect.lowering.om.encode import plan_of, plans_of
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.symbols import (
    Dim,
    Guard,
    Relation,
    SymbolRange,
    evaluate,
    parse_dim,
    solve_for,
    solving_order,
    symbol,
)
from ge_dialect.symbols.feasible import feasible_values, show_values
from ge_dialect.tools import api, ge_compile
from ge_dialect.tools.api import CompiledPlan, CompileOptions, compile, load_model, make_context
from ge_dialect.tools.compile_arguments import parse
from ge_dialect.tools.dynamic_shapes import read_arguments, set_shape_range
from ge_dialect.tools.report.choose_gears import choose_gears, mean_cost
from ge_dialect.tools.report.shape_advice import advise, parse_histogram
from ge_dialect.tools.runtime.executor import Executor, load_plan
from ge_dialect.tools.runtime.gears import GearExecutor, make_executor


def graph(arguments: str, symbols: Mapping[str, tuple[int, int | str]], body: str) -> ModuleOp:
    """A module with one function that returns `%y` of any type."""
    declared = ", ".join(
        f"{name} = #ge.symbol<{low}, {high}, 1, \"dim 0 of input 'x'\">"
        for name, (low, high) in symbols.items()
    )
    result = body.rpartition("-> ")[2].partition(" loc")[0]
    text = (
        f"func.func @main({arguments}) -> {result} attributes {{ge.symbols = {{{declared}}}}} {{\n"
        f"{body}\nfunc.return %y : {result}\n}}"
    )
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def tensor(*dims: int | str) -> str:
    """A type of f32 whose texts are expressions."""
    sizes = "x".join("?" if isinstance(dim, str) else str(dim) for dim in dims)
    names = ", ".join(f'"{dim}"' for dim in dims if isinstance(dim, str))
    return f"tensor<{sizes}xf32, #ge.dims<{names}>>" if names else f"tensor<{sizes}xf32>"


def added(n: tuple[int, int]) -> CompiledPlan:
    """`x` of `[N, 8]` plus `y` of `[4, 8]`."""
    x, y = tensor("N", 8), tensor(4, 8)
    arguments = f'%x: {x} {{ge.name = "x"}}, %z: {y} {{ge.name = "z"}}'
    return compile(graph(arguments, {"N": n}, f'%y = ge.add %x, %z : ({x}, {y}) -> {y} loc("Add")'))


def test_a_dimension_that_is_a_formula_is_read_off_the_input():
    x = tensor("16*H")
    module = graph(f'%x: {x} {{ge.name = "x"}}', {"H": (1, 4)}, f"%y = ge.relu %x : ({x}) -> {x}")
    plan = compile(module)
    assert plan.run({"x": np.ones(48, np.float32)})["result0"].shape == (48,)
    with pytest.raises(GEError, match=r"dim 0 of input 'x' is 47, expected a value of 16\*H"):
        plan.run({"x": np.ones(47, np.float32)})
    with pytest.raises(GEError, match=r"H = 5 leaves 1\.\.4 declared for input 'x' dim 0"):
        plan.run({"x": np.ones(80, np.float32)})


def test_a_range_of_one_broadcasts_without_a_check():
    plan = added((1, 1))
    assert plan.summary["guards"] == []
    assert plan.run({"x": np.ones((1, 8), np.float32), "z": np.ones((4, 8), np.float32)})


def test_a_size_that_may_be_one_is_checked_in_the_run():
    plan = added((1, 4))
    assert [guard.get("condition") for guard in plan.summary["guards"]] == [
        None,
        "N = 4, or one of them 1",
    ]
    feeds = {"z": np.ones((4, 8), np.float32)}
    for size in (1, 4):
        assert plan.run(feeds | {"x": np.ones((size, 8), np.float32)})["result0"].shape == (4, 8)
    with pytest.raises(GEError, match="GE0821: expected N = 4, or one of them 1, got N = 2; 'Add'"):
        plan.run(feeds | {"x": np.ones((2, 8), np.float32)})


def test_an_equality_is_put_into_all_types():
    x, z = tensor("total", 8), tensor("past + 1", 8)
    ranges: dict[str, tuple[int, int | str]] = {"past": (1, 9), "total": (2, 8)}
    arguments = f'%x: {x} {{ge.name = "x"}}, %z: {z} {{ge.name = "z"}}'
    plan = compile(graph(arguments, ranges, f"%y = ge.add %x, %z : ({x}, {z}) -> tensor<?x8xf32>"))
    assert [(g["symbol"], g["lo"], g["hi"]) for g in plan.summary["guards"]] == [("past", 1, 7)]
    ones = np.ones((5, 8), np.float32)
    assert plan.run({"x": ones, "z": ones})["result0"].shape == (5, 8)
    with pytest.raises(GEError, match=r"GE0803: input '[xz]'"):
        plan.run({"x": ones, "z": ones[:4]})


def test_a_baked_constant_is_found_before_the_run():
    x, y = tensor("S", 1, 6), tensor(1, 136, 6)
    module = graph(
        f'%x: {x} {{ge.name = "x"}}',
        {"S": (136, 272)},
        f'%y = ge.reshape %x : ({x}) -> {y} loc("Reshape_3")',
    )
    with pytest.raises(GEError) as caught:
        compile(module)
    assert str(caught.value).startswith(
        "GE0330: only S = 136 of the declared 136..272 (dim 0 of input 'x') works: 'Reshape' at"
        " 'Reshape_3' (the elements of [S, 1, 6] and [1, 136, 6]) needs 6*S = 816;"
        ' give --input_shape "x:136,1,6"'
    )


def test_sizes_that_never_fit_are_an_error():
    x, y = tensor("S", 6), tensor(7, 6)
    module = graph(f"%x: {x}", {"S": (2, 5)}, f"%y = ge.reshape %x : ({x}) -> {y}")
    with pytest.raises(GEError, match="GE0330: no size of S"):
        compile(module)


def mlp() -> onnx.ModelProto:
    """A model of two inputs, `relu(x @ w) + b`, with symbols for the batch and the rows."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4, 64], np.arange(256.0) / 512)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Add", ["r", "b"], ["y"], "Add"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B", "S", 4])
    b = helper.make_tensor_value_info("b", TensorProto.FLOAT, ["B", 1, 64])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "mlp", [x, b], [y], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def mlp_feeds(batch: int, rows: int) -> dict[str, np.ndarray]:
    """Inputs of `mlp`."""
    rng = np.random.default_rng(batch * 100 + rows)
    x = rng.standard_normal((batch, rows, 4)).astype(np.float32)
    return {"x": x, "b": rng.standard_normal((batch, 1, 64)).astype(np.float32)}


def mlp_result(feeds: Mapping[str, np.ndarray]) -> np.ndarray:
    """What `mlp` gives."""
    weight = (np.arange(256.0, dtype=np.float32) / 512).reshape(4, 64)
    return np.maximum(feeds["x"] @ weight, 0) + feeds["b"]


@pytest.mark.parametrize("streams", [1, 2])
def test_every_size_of_a_range_runs_from_one_file(streams: int, tmp_path: Path):
    path = tmp_path / "mlp.om"
    compile(mlp(), input_shapes="x:1~3,2~5,4", streams=streams).save(path)
    loaded = load_plan(str(path))
    executor = Executor(loaded.module, loaded.weights)
    for batch, rows in product(range(1, 4), range(2, 6)):
        feeds = mlp_feeds(batch, rows)
        np.testing.assert_allclose(
            executor.run(feeds, poison=True)["y"], mlp_result(feeds), rtol=1e-5, atol=1e-6
        )


def test_a_plan_is_right_at_both_ends():
    plan = compile(mlp(), input_shapes="x:1~3,2~5,4")
    for sizes in (least_sizes, greatest_sizes):
        values = sizes(plan_of(plan.module))
        static = plan_at(plan.module, values)
        static.verify()
        verify_plan(plan_of(static))
        feeds = mlp_feeds(values["B"], values["S"])
        np.testing.assert_allclose(Executor(static).run(feeds)["y"], mlp_result(feeds), rtol=1e-5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<1, 3, 1, "dim 0', '<1, 9, 1, "dim 0', "up to 720, but has 240"),
        ('ge_exec.symbol "S"', 'ge_exec.symbol "B"', "expected a dimension of 'B'|two values"),
    ],
)
def test_a_plan_with_too_few_bytes_is_refused(old: str, new: str, message: str):
    plan = compile(mlp(), input_shapes="x:1~3,2~5,4")
    text = str(plan.module)
    assert old in text
    with pytest.raises(Exception, match=message):
        module = Parser(make_context(), text.replace(old, new)).parse_module()
        module.verify()
        verify_plan(plan_of(module))


def test_gears_share_kernels_and_weights_and_the_inputs_choose(tmp_path: Path):
    path = tmp_path / "mlp.om"
    plan = compile(mlp(), input_shapes="x:-1,-1,4;b:-1,1,64", dynamic_dims=[(1, 2, 1), (3, 5, 3)])
    assert len(plans_of(plan.module)) == 2
    plan.save(path)
    loaded = load_plan(str(path))
    executor = make_executor(loaded.module, loaded.weights)
    assert isinstance(executor, GearExecutor)
    for batch, rows in ((1, 2), (3, 5)):
        feeds = mlp_feeds(batch, rows)
        np.testing.assert_allclose(
            executor.run(feeds, poison=True)["y"], mlp_result(feeds), rtol=1e-5, atol=1e-6
        )
    with pytest.raises(GEError, match=r"GE0822: no gear is for.*pad the inputs to B=3 S=5"):
        executor.run(mlp_feeds(2, 5))
    static = compile(mlp(), input_shapes="x:3,5,4")
    static.save(path)
    assert len(loaded.weights) == len(load_plan(str(path)).weights)


def test_gears_that_contradict_themselves_are_refused():
    message = r"GE0331: gear 1 \(B=3 S=5\) gives 'B' the size 3 in one place and 2 in another"
    with pytest.raises(GEError, match=message):
        compile(mlp(), input_shapes="x:-1,-1,4;b:-1,1,64", dynamic_dims=[(1, 2, 1), (3, 5, 2)])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--dynamic_dims 1,2 --input_shape x:-1,-1,4", "2 to 100 different gears, got 1"),
        ("--dynamic_dims 1,2;1,3", "--dynamic_dims needs --input_shape with -1"),
        ("--dynamic_dims 1,2;1,3 --dynamic_batch_size 1,2", "exclude each other"),
        ("--dynamic_dims 1,2;1,3 --input_shape_range x:1~2,3,4", "exclude each other"),
        ("--dynamic_dims 1,-1;1,3 --input_shape x:-1,-1,4", "expected whole numbers, got '1,-1'"),
        ("--dynamic_batch_size 1,2 --input_shape x:1,-1,4", "-1 for the first dimension alone"),
        ("--dynamic_image_size 4,4;8,8 --input_shape x:-1,4,4", "height and width of one input"),
        ("--dynamic_dims 1,2;3 --input_shape x:-1,-1,4", "gear 1 has 1 sizes"),
        ("--dynamic_dims 1;2 --input_shape x:1,2,4", "-1 where the gears differ"),
        ("--input_shape x:1,2,4 --input_shape_range x:1~2,2,4", "contradicts its --input_shape"),
    ],
)
def test_options_of_atc_are_checked_as_atc_does(flags: str, message: str):
    with pytest.raises(GEError, match=message):
        _ = read_arguments(parse(["m.onnx", "-o", "o.om", *flags.split()]))


@pytest.mark.parametrize("how", ["--check-numerics", "--check-numerics=each"])
def test_numerics_are_checked_of_every_gear(how: str, tmp_path: Path):
    path = tmp_path / "mlp.onnx"
    path.write_bytes(mlp().SerializeToString())
    flags = f"{path} -o {tmp_path / 'o.om'} -q {how} --input_shape"
    assert ge_compile.run([*flags.split(), "x:1~3,2~5,4"]) == 0
    gears = ["x:-1,2,4;b:-1,1,64", "--dynamic_batch_size", "1,2"]
    assert ge_compile.run([*flags.split(), *gears]) == 0


def test_a_gear_that_computes_something_else_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "mlp.onnx"
    path.write_bytes(mlp().SerializeToString())
    plans: list[CompiledPlan] = []
    compile_all = api.compile

    def compile_wrong(model: str, **options: Any) -> CompiledPlan:
        plan = compile_all(model, **options)
        if options.get("dynamic_dims"):
            plan.module = compile_all(wrong(), **options).module
            plans.append(plan)
        return plan

    monkeypatch.setattr(api, "compile", compile_wrong)
    flags = f"{path} -o {tmp_path / 'o.om'} -q --check-numerics --input_shape x:-1,2,4;b:-1,1,64"
    with pytest.raises(GEError, match="GE0902: gear 0: values changed where gears share a graph"):
        ge_compile.run([*flags.split(), "--dynamic_batch_size", "1,2"])
    assert plans


def wrong() -> onnx.ModelProto:
    """`mlp` with a difference in place of the sum."""
    model = mlp()
    model.graph.node[2].op_type = "Sub"
    return model


def test_options_of_atc_are_understood():
    def asked(flags: str):
        return read_arguments(parse(["m.onnx", "-o", "o.om", *flags.split()]))

    ranged = asked("--input_shape x:-1,8,4 --input-shape-range x:[1~3,8,4]").shapes
    assert ranged == parse_input_shapes("x:1~3,8,4")
    assert asked("--input_shape x:-1,8;y:-1,2 --dynamic_batch_size 1,2,4").gears == (
        (1,),
        (2,),
        (4,),
    )
    image = asked("--input_shape x:1,3,-1,-1 --dynamic_image_size 4,6;8,8")
    assert image.gears == ((4, 6), (8, 8))


def test_ranges_are_set_on_an_imported_module():
    assert getattr(ge_dialect, "set_shape_range") is set_shape_range  # noqa: B009 - loaded lazily
    module, _ = load_model(mlp())
    set_shape_range(module, "x", (1, 3), (2, 5), 4)
    ranges = symbol_ranges(next(iter(module.body.block.ops)))
    assert [(r.lo, r.hi) for r in ranges.values()] == [(1, 3), (2, 5)]
    for name, dims, code in (
        ("z", (1,), "GE0217"),
        ("x", (1,), "GE0218"),
        ("x", (1, 2, 3), "GE0218"),
    ):
        with pytest.raises(GEError, match=code):
            set_shape_range(module, name, *dims)
    feeds = mlp_feeds(3, 2)
    np.testing.assert_allclose(compile(module).run(feeds)["y"], mlp_result(feeds), rtol=1e-5)
    with pytest.raises(GEError, match="no function"):
        set_shape_range(module, "x", 1)


def test_what_a_range_costs_is_a_remark():
    x = tensor("S")
    text = (
        f'func.func @main(%x: {x}) -> tensor<?xi64, #ge.dims<"S">> attributes {{ge.symbols ='
        ' {S = #ge.symbol<1, 8, 1, "">}} {\n'
        '%y = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>\n'
        'func.return %y : tensor<?xi64, #ge.dims<"S">>\n}'
    )
    plan = compile(Parser(make_context(), text).parse_module())
    (remark,) = [r for r in plan.remarks if r.pass_name == "ge-constant-fold"][:1]
    assert "its size [S] is not known" in str(remark)
    assert "[SYMBOL]" in str(remark)
    assert plan.run({"arg0": np.ones(3, np.float32)})["result0"].tolist() == [0, 1, 2]


def test_advice_compares_a_range_with_gears():
    histogram = parse_histogram("1,2=90;3,5=10")
    shapes = parse_input_shapes("x:1~3,2~5,4;b:1~3,1,64")
    options = CompileOptions()
    advice = advise(mlp(), shapes, histogram, 2, options)
    assert advice.gears == [(1, 2), (3, 5)]
    assert advice.names == ("B", "S")
    assert '--dynamic_dims "1,2,1;3,5,3"' in "\n".join(advice.lines())
    with pytest.raises(GEError, match="GE0108"):
        parse_histogram("1,x=3")


@given(
    st.dictionaries(st.tuples(st.integers(1, 20)), st.integers(1, 9), min_size=1, max_size=6),
    st.integers(1, 4),
)
def test_gears_of_one_size_are_the_best(histogram: dict[tuple[int, ...], int], count: int):
    def cost(sizes: tuple[int, ...]) -> float:
        return 3.0 + sizes[0]

    gears = choose_gears(histogram, cost, count)
    top = max(histogram)
    assert len(gears) <= count
    assert top in gears
    best = min(
        mean_cost(histogram, [*chosen, top], cost)
        for chosen in product(histogram, repeat=min(count - 1, 3))
    )
    assert mean_cost(histogram, gears, cost) <= best + 1e-9


@given(st.integers(1, 9), st.integers(-9, 9), st.integers(0, 50), st.integers(0, 50))
def test_symbols_are_solved_out_of_sizes(factor: int, rest: int, s: int, t: int):
    dim: Dim = factor * symbol("S") + 2 * symbol("T") + rest
    size = evaluate(dim, {"S": s, "T": t})
    assert solve_for(dim, "S", size, {"T": t}) == s
    order = solving_order([dim, symbol("T")])
    assert order == [("T", 1), ("S", 0)]
    if factor > 1:
        assert solve_for(dim, "S", size + 1, {"T": t}) is None


@given(
    st.sampled_from(["S", "2*S + 1", "S*T", "S floordiv 2", "min(S, 3)"]),
    st.sampled_from(["T", "T + 2", "6", "3*T"]),
    st.sampled_from(list(Relation)),
)
def test_feasible_values_are_those_that_hold(left: str, right: str, relation: Relation):
    guard = Guard(parse_dim(left), relation, parse_dim(right), "")
    ranges = {"S": SymbolRange(1, 6), "T": SymbolRange(1, 4)}
    pairs = [
        {"S": s, "T": t}
        for s, t in product(range(1, 7), range(1, 5))
        if guard.holds({"S": s, "T": t})
    ]
    for name, values in feasible_values([guard], ranges).items():
        assert values == tuple(sorted({pair[name] for pair in pairs}))


def test_values_are_shown_as_ranges():
    assert show_values((4, 5, 6)) == "4..6"
    assert show_values((8, 16, 24), 8) == "8..24 by 8"
    assert show_values((1, 4)) == "1, 4"
    assert show_values(tuple(range(0, 40, 2))).endswith(", ...")
