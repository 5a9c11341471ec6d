"""Recurrent layers: against onnx.reference where it has them, else against the equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.ge.lstm import DynamicQuantizeLSTMOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.interpreters.kernels import recurrent as kernels
from tests.onnx_models import names_of
from tests.op_checks import run

Array = npt.NDArray[Any]
STEPS, BATCH, FEATURES, HIDDEN = 4, 3, 5, 6
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
TANH = ("Tanh", 0.0, 0.0)
SIGMOID = ("Sigmoid", 0.0, 0.0)


def feeds(op: str, direction: str, dtype: str = "f4", layout: int = 0) -> dict[str, Array]:
    """Random operands of a node, by name."""
    rng = np.random.default_rng(7)
    sweeps = 2 if direction == "bidirectional" else 1
    rows = GATES[op] * HIDDEN
    state = (BATCH, sweeps, HIDDEN) if layout else (sweeps, BATCH, HIDDEN)
    shapes = {
        "X": (BATCH, STEPS, FEATURES) if layout else (STEPS, BATCH, FEATURES),
        "W": (sweeps, rows, FEATURES),
        "R": (sweeps, rows, HIDDEN),
        "B": (sweeps, 2 * rows),
        "H": state,
    }
    if op == "LSTM":
        shapes |= {"C": state, "P": (sweeps, 3 * HIDDEN)}
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}


def layer(
    op: str, arrays: dict[str, Array], lengths: bool = False, **attributes: Any
) -> onnx.ModelProto:
    """A model of one node; lengths are an input of their own."""
    inputs = ["X", "W", "R", "B", "L" if lengths else "", *(n for n in "HCP" if n in arrays)]
    outputs = ["Y", "Yh", "Yc"] if op == "LSTM" else ["Y", "Yh"]
    node = helper.make_node(op, inputs, outputs, hidden_size=HIDDEN, **attributes)
    values = dict(arrays) | ({"L": np.zeros(BATCH, np.int32)} if lengths else {})
    graph = helper.make_graph(
        [node],
        "test",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in values.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_layers_agree_with_onnx(op: str, direction: str, dtype: str):
    arrays = feeds(op, direction, dtype)
    proto = layer(op, arrays, direction=direction)
    module = import_onnx(proto)
    assert op not in names_of(module)  # a host call has the name of its operator
    found = run_function(module, list(arrays.values()))
    evaluator: Any = ReferenceEvaluator(proto)
    atol = {"f2": 2e-2, "f4": 1e-5, "f8": 1e-12}[dtype]
    for got, want in zip(found, evaluator.run(None, arrays), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=0, atol=atol)


def test_batch_first_is_the_same_with_dimensions_swapped():
    plain, swapped = feeds("GRU", "reverse"), feeds("GRU", "reverse", layout=1)
    for name in ("X", "H"):
        swapped[name] = plain[name].swapaxes(0, 1)
    options: dict[str, Any] = {"direction": "reverse", "linear_before_reset": 1}
    module = import_onnx(layer("GRU", plain, **options))
    y, h = run_function(module, list(plain.values()))
    module = import_onnx(layer("GRU", swapped, layout=1, **options))
    z, g = run_function(module, list(swapped.values()))
    np.testing.assert_array_equal(z, y.transpose(2, 0, 1, 3))
    np.testing.assert_array_equal(g, h.swapaxes(0, 1))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_a_sequence_in_a_batch_is_as_it_is_alone(direction: str):
    arrays = feeds("LSTM", direction)
    lengths = np.array([2, 4, 1], np.int32)
    order = ["X", "W", "R", "B", "H", "C", "P"]
    module = import_onnx(layer("LSTM", arrays, lengths=True, direction=direction))
    y, h, c = run_function(module, [*(arrays[name] for name in order), lengths])
    for row, length in enumerate(lengths):
        one = arrays | {name: arrays[name][:, row : row + 1] for name in ("X", "H", "C")}
        one["X"] = one["X"][:length]
        alone = run_function(import_onnx(layer("LSTM", one, direction=direction)), [*one.values()])
        np.testing.assert_allclose(y[:length, :, row], alone[0][:, :, 0], atol=1e-6)
        assert not y[length:, :, row].any()
        np.testing.assert_allclose(h[:, row], alone[1][:, 0], atol=1e-6)
        np.testing.assert_allclose(c[:, row], alone[2][:, 0], atol=1e-6)


def test_functions_take_their_parameters_in_order():
    names = ["HardSigmoid", "Softsign", "Affine"]
    arrays = feeds("LSTM", "forward")
    attributes: dict[str, Any] = {"activation_alpha": [0.3, 0.5], "activation_beta": [0.4, 0.1]}
    module = import_onnx(layer("LSTM", arrays, activations=names, **attributes))
    y, _, _ = run_function(module, list(arrays.values()))
    f32 = [float(np.float32(number)) for number in (0.3, 0.4, 0.5, 0.1)]
    gates = [("HardSigmoid", f32[0], f32[1]), ("Softsign", 0.0, 0.0), ("Affine", f32[2], f32[3])]
    want, _, _ = kernels.lstm(
        arrays["X"],
        arrays["W"],
        arrays["R"],
        arrays["B"],
        sweeps=kernels.Sweeps("forward", gates),
        state=kernels.LSTMState(arrays["H"], arrays["C"], arrays["P"]),
    )
    np.testing.assert_array_equal(y, want)
    assert not np.allclose(
        want,
        kernels.lstm(
            arrays["X"],
            arrays["W"],
            arrays["R"],
            arrays["B"],
            sweeps=kernels.Sweeps("forward", [SIGMOID, TANH, TANH]),
            state=kernels.LSTMState(arrays["H"], arrays["C"], arrays["P"]),
        )[0],
    )


def test_a_function_without_its_parameter_is_refused():
    arrays = feeds("RNN", "forward")
    with pytest.raises(GEError, match="expected 'activation_alpha' for ScaledTanh, got none"):
        import_onnx(layer("RNN", arrays, activations=["ScaledTanh"]))


def test_arguments_of_gates_are_clipped():
    x = np.full((1, 1, 1), 100, np.float32)
    one = np.ones((1, 1, 1), np.float32)
    sweeps = kernels.Sweeps("forward", [("Relu", 0.0, 0.0)], clip=3.0)
    assert kernels.rnn(x, one, one, sweeps=sweeps)[0].item() == 3.0


def test_a_coupled_forget_gate_is_what_the_input_gate_leaves():
    arrays = feeds("LSTM", "forward")
    module = import_onnx(layer("LSTM", arrays, input_forget=1))
    (y, _, c), (x, w, r, b, h0, c0, p) = run_function(module, [*arrays.values()]), arrays.values()
    state, cell = h0[0], c0[0]
    for step in range(STEPS):
        gates = x[step] @ w[0].T + state @ r[0].T + b[0, : 4 * HIDDEN] + b[0, 4 * HIDDEN :]
        i, o, _, n = np.split(gates, 4, axis=1)
        into = 1 / (1 + np.exp(-(i + p[0, :HIDDEN] * cell)))
        cell = (1 - into) * cell + into * np.tanh(n)
        state = np.tanh(cell) / (1 + np.exp(-(o + p[0, HIDDEN : 2 * HIDDEN] * cell)))
        np.testing.assert_allclose(y[step, 0], state, atol=1e-5)
    np.testing.assert_allclose(c[0], cell, atol=1e-5)


@pytest.mark.parametrize("per_channel", [False, True])
def test_quantised_products_are_those_of_the_quantised_values(per_channel: bool):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((STEPS, BATCH, FEATURES)).astype(np.float32)
    scale_shape = (1, 4 * HIDDEN) if per_channel else (1,)
    weights: list[Array] = []
    rest: list[tuple[Array, Array]] = []
    for width in (FEATURES, HIDDEN):
        weights.append(rng.integers(-128, 128, (1, 4 * HIDDEN, width)).astype(np.int8))
        scale = rng.uniform(0.001, 0.01, scale_shape).astype(np.float32)
        rest.append((scale, rng.integers(-5, 5, scale_shape).astype(np.int8)))

    def build(a: Any, w: Any, r: Any, ws: Any, wz: Any, rs: Any, rz: Any) -> Any:
        return DynamicQuantizeLSTMOp(a, (w, ws, wz), (r, rs, rz))

    y, _, _ = run(build, x, *weights, *rest[0], *rest[1])
    # The weights as floats: what quantising the other factors costs is some thousandths.
    floats: list[Array] = [
        (w.astype(np.float32) - z.reshape(1, -1, 1)) * s.reshape(1, -1, 1)
        for w, (s, z) in zip(weights, rest, strict=True)
    ]
    sweeps = kernels.Sweeps("forward", [SIGMOID, TANH, TANH])
    near, _, _ = kernels.lstm(x, floats[0], floats[1], sweeps=sweeps, state=kernels.LSTMState())
    assert 0 < np.abs(y - near).max() < 0.02
    # Inputs on the grid of their own quantisation lose nothing in the first step.
    levels = np.round(rng.uniform(0, 255, (1, BATCH, FEATURES)))
    levels.flat[0], levels.flat[1] = 0, 255
    grid = ((levels - 51) / 64).astype(np.float32)
    exact = run(build, grid, *weights, *rest[0], *rest[1])[0]
    want, _, _ = kernels.lstm(grid, floats[0], floats[1], sweeps=sweeps, state=kernels.LSTMState())
    np.testing.assert_allclose(exact, want, atol=1e-5)
