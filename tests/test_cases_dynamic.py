"""Cases of dynamic shapes that compilers get wrong, each with all that is expected of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import pytest
from xdsl.dialects.builtin import f32
from xdsl.dialects.func import FuncOp
from xdsl.utils.test_value import create_ssa_value

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.frontends.onnx.input_shapes import parse_input_shapes
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.symbolic import guards_of, symbol_ranges
from ge_dialect.ge.types import Shape, is_tensor, shape_of, tensor_type, value_shape
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.symbols import SymbolRange, bounds, symbol
from ge_dialect.tools.api import compile, make_context
from tests.test_data_sizes import FLOAT, INT, Array, check, floats, model, node


def imported(proto: onnx.ModelProto, shapes: str | None = None) -> tuple[FuncOp, Shape]:
    """The function of a model with all types known, and the shape of its result."""
    module = import_onnx(proto, input_shapes=shapes)
    OptimizePipeline(0).apply(make_context(), module)
    function = next(op for op in module.body.block.ops if isinstance(op, FuncOp))
    (result,) = function.function_type.outputs
    assert is_tensor(result)
    return function, shape_of(result)


def reshaped(dims: tuple[int | str, ...], target: str) -> Shape:
    """The shape of `x` reshaped to words: `d0` is dimension 0 of `x` as ops compute it."""
    words = target.split()
    constants: dict[str, Array] = {}
    nodes = [node("Shape", "x", "shape")]
    for word in words:
        if word.startswith("d"):
            constants[f"at_{word}"] = np.array([int(word[1:])])
            nodes.append(node("Gather", f"shape at_{word}", word))
        else:
            constants[word] = np.array([int(word)])
    nodes += [node("Concat", target, "target", axis=0), node("Reshape", "x target", "y")]
    return imported(model({"x": (FLOAT, dims)}, nodes, {"y": FLOAT}, constants))[1]


def test_k19_a_reshape_of_known_dims_infers_the_rest():
    a, b = symbol("a"), symbol("b")
    assert reshaped(("a", "b", 2, 3), "d0 d1 -1") == (a, b, 6)
    assert reshaped(("a", "b", 2, 3), "d0 -1 6") == (a, b, 6)
    x = create_ssa_value(tensor_type(f32, (a, b, 2, 3)))
    assert value_shape(ReshapeOp(x, (a, None, 6)).result) == (a, b, 6)


def test_k19_a_reshape_to_what_a_run_says_keeps_rank_and_elements():
    nodes = [node("Reshape", "x target", "y")]
    inputs = {"x": (onnx.TensorProto.UINT8, (2, 4, 3)), "target": (INT, (2,))}
    proto = model(inputs, nodes, {"y": onnx.TensorProto.UINT8})
    function, shape = imported(proto)
    assert shape == (symbol("u0"), symbol("u1"))
    assert [str(guard) for guard in guards_of(function)] == ["u0*u1 = 24"]
    x = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    check(proto, [{"x": x, "target": np.array(target)} for target in ([3, 8], [-1, 1])])


def test_k19_a_scalar_becomes_one_element():
    assert reshaped((), "-1") == (1,)


def test_k20_lengths_of_joined_and_cut_values():
    nodes = [node("Concat", "five x", "joined", axis=0), node("Relu", "joined", "y")]
    five: Mapping[str, Array] = {"five": floats(5, 2)}
    proto = model({"x": (FLOAT, ("N", 2))}, nodes, {"y": FLOAT}, five)
    function, shape = imported(proto, "x:1~32,2")
    assert shape == (symbol("N") + 5, 2)
    assert bounds(symbol("N") + 5, symbol_ranges(function)) == (6, 37)
    check(proto, [{"x": floats(n, 2)} for n in (1, 9, 32)], "x:1~32,2")
    joined = ConcatOp(
        [
            create_ssa_value(tensor_type(f32, (5, 2))),
            create_ssa_value(tensor_type(f32, (symbol("N"), 2))),
        ],
        0,
    )
    assert value_shape(SliceOp(joined.result, [0], [5], [0]).result) == (5, 2)


@pytest.mark.parametrize("pool", ["MaxPool", "AveragePool"])
def test_k20_a_window_of_16_every_16_undoes_a_factor(pool: str):
    nodes = [node(pool, "x", "y", kernel_shape=[16, 16], strides=[16, 16])]
    proto = model({"x": (FLOAT, (1, 3, "16*H", "16*W"))}, nodes, {"y": FLOAT})
    assert imported(proto)[1] == (1, 3, symbol("H"), symbol("W"))
    runs = [{"x": floats(1, 3, 16 * h, 32)} for h in (1, 4)]
    plan = check(proto, runs, "x:1,3,16~64,16~64")
    assert [(op.symbol.data, op.known.lo, op.known.hi) for op in plan_of(plan.module).symbols] == [
        ("H", 1, 4),
        ("W", 1, 4),
    ]
    with pytest.raises(GEError, match=r"GE0218: dim 2 of input 'x' is 16\*H in the model"):
        imported(proto, "x:1,3,17~31,16~64")


def added() -> onnx.ModelProto:
    """`x` of `[N, 8]` plus `z` of `[4, 8]`."""
    inputs = {"x": (FLOAT, ("N", 8)), "z": (FLOAT, (4, 8))}
    return model(inputs, [node("Add", "x z", "y")], {"y": FLOAT})


def test_k21_a_range_of_one_broadcasts_without_a_check():
    function, shape = imported(added(), "x:1~1,8;z:4,8")
    assert shape == (4, 8)
    assert guards_of(function) == ()
    plan = check(added(), [{"x": floats(1, 8), "z": floats(4, 8)}], "x:1~1,8;z:4,8")
    assert plan.summary["guards"] == []


def test_k21_a_size_that_may_be_one_is_checked_in_the_run():
    function, shape = imported(added(), "x:1~4,8;z:4,8")
    assert shape == (4, 8)
    assert [str(guard) for guard in guards_of(function)] == ["N = 4, or one of them 1"]
    plan = check(added(), [{"x": floats(n, 8), "z": floats(4, 8)} for n in (1, 4)], "x:1~4,8;z:4,8")
    for n in (2, 3):
        with pytest.raises(GEError, match=f"GE0821: expected N = 4, or one of them 1, got N = {n}"):
            plan.run({"x": floats(n, 8), "z": floats(4, 8)})


def test_k23_the_middle_of_a_range_is_a_typical_size():
    assert SymbolRange(1000, 1200).middle == 1100
    assert SymbolRange(1000, 1200, 64).middle == 1088
    assert SymbolRange(60, 70, 64).middle == 64
    with pytest.raises(GEError, match="GE0522: no maximum for dim rows"):
        _ = SymbolRange(0, None, 1, "dim rows").middle
    with pytest.raises(GEError, match="GE0216"):
        parse_input_shapes("x:9~3")
    with pytest.raises(ValueError, match=r"expected a multiple of 1 in \[9, 3\], got none"):
        SymbolRange(9, 3)
    plan = compile(added(), input_shapes="x:1~4,8;z:4,8", level=0)
    assert plan_of(plan.module).symbols[0].known.middle == 2


def test_k24_a_lower_bound_alone_makes_no_plan():
    nodes = [node("Conv", "x w", "y")]
    weight = {"w": floats(4, 3, 3, 3)}
    proto = model({"x": (FLOAT, ("N", 3, 8, 8))}, nodes, {"y": FLOAT}, weight)
    with pytest.raises(GEError) as caught:
        compile(proto, input_shapes="x:1~-1,3,8,8")
    assert caught.value.code == "GE0522"
    assert caught.value.message.startswith("no upper bound for dim 0 of input 'x' (N)")
    assert '--input_shape "x:1~8,3,8,8"' in str(caught.value.hint)


def test_k25_a_baked_constant_is_found_before_the_run():
    nodes = [onnx.helper.make_node("Reshape", ["x", "baked"], ["y"], "Reshape_3")]
    baked = {"baked": np.array([1, 136, 6])}
    proto = model({"x": (FLOAT, ("S", 1, 6))}, nodes, {"y": FLOAT}, baked)
    with pytest.raises(GEError) as caught:
        compile(proto, input_shapes="x:136~272,1,6")
    assert str(caught.value).startswith(
        "GE0330: only S = 136 of the declared 136..272 (dim 0 of input 'x') works: 'Reshape' at"
        " 'Reshape_3' (the elements of [S, 1, 6] and [1, 136, 6]) needs 6*S = 816;"
        ' give --input_shape "x:136,1,6"'
    )
    check(proto, [{"x": floats(136, 1, 6)}], "x:136~136,1,6")
