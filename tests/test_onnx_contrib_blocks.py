"""Weights of a few bits in blocks, as com.microsoft packs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper, numpy_helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function

Array = npt.NDArray[Any]
RNG = np.random.default_rng(5)
DOMAIN = "com.microsoft"


def packed(numbers: Array, bits: int) -> Array:
    """Numbers of the last dimension in bytes, the first one lowest."""
    count = 8 // bits
    found = np.zeros((*numbers.shape[:-1], numbers.shape[-1] // count), np.uint8)
    for i in range(count):
        found |= (numbers[..., i::count] << (bits * i)).astype(np.uint8)
    return found


def floats(*shape: int) -> Array:
    """Random numbers."""
    return RNG.standard_normal(shape).astype(np.float32)


def imported(op: str, x: Array, weights: dict[int, Array], **attributes: Any) -> Any:
    """A model of one node whose first input, or second one, is given, the others constants."""
    place = 1 if 0 in weights else 0
    names = {place: "x", **{slot: f"w{slot}" for slot in weights}}
    inputs = [names.get(slot, "") for slot in range(max(names) + 1)]
    node = helper.make_node(op, inputs, ["y"], domain=DOMAIN, **attributes)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [node],
        "test",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(array, f"w{slot}") for slot, array in weights.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return import_onnx(helper.make_model(graph, opset_imports=opsets))


@pytest.mark.parametrize("zeros", ["none", "packed", "floats"])
@pytest.mark.parametrize(("bits", "rows"), [(4, 64), (4, 50), (8, 64), (2, 32)])
def test_a_product_with_blocks_is_one_with_their_numbers(bits: int, rows: int, zeros: str):
    columns, size = 10, 16
    blocks = -(-rows // size)
    numbers = RNG.integers(0, 2**bits, (columns, blocks, size))
    scales, bias = np.abs(floats(columns, blocks)) + 0.1, floats(columns)
    weights = {1: packed(numbers, bits), 2: scales, 5: bias}
    middle: Any = 2 ** (bits - 1)
    if zeros == "packed":
        wide = -(-blocks * bits // 8) * 8 // bits
        middle = np.zeros((columns, wide), np.int64)
        middle[:, :blocks] = RNG.integers(0, 2**bits, (columns, blocks))
        weights[3] = packed(middle, bits)
        middle = middle[:, :blocks, None]
    elif zeros == "floats":
        weights[3] = RNG.uniform(0, 2**bits, (columns, blocks)).astype(np.float32)
        middle = weights[3][..., None]
    x = floats(2, 3, rows)
    options = {"K": rows, "N": columns, "bits": bits, "block_size": size}
    module = imported("MatMulNBits", x, weights, **options)
    (found,) = run_function(module, [x])
    weight = ((numbers - middle) * scales[..., None]).reshape(columns, -1)[:, :rows]
    np.testing.assert_allclose(found, x @ weight.T + bias, rtol=1e-4, atol=1e-4)
    kept = [op.name for op in module.walk() if op.name == "ge.dequantize_linear"]
    assert len(kept) == (zeros != "floats")


def test_rows_may_belong_to_any_block():
    numbers, scales = RNG.integers(0, 16, (6, 4, 16)), np.abs(floats(6, 4))
    groups = RNG.integers(0, 4, 64).astype(np.int32)
    x = floats(3, 64)
    weights = {1: packed(numbers, 4), 2: scales, 4: groups}
    (found,) = run_function(imported("MatMulNBits", x, weights, K=64, N=6, block_size=16), [x])
    weight = (numbers.reshape(6, -1) - 8) * scales[:, groups]
    np.testing.assert_allclose(found, x @ weight.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_what_is_gathered_is_dequantised(bits: int, zeros: bool):
    numbers, scales = RNG.integers(0, 2**bits, (20, 32)), np.abs(floats(20, 2))
    index = np.array([[1, 3, 0], [19, 2, 2]], np.int64)
    weights = {0: packed(numbers, bits), 2: scales}
    middle: Any = 2 ** (bits - 1)
    if zeros:
        middle = RNG.integers(0, 2**bits, (20, 2))
        weights[3] = packed(middle, bits)
        middle = np.repeat(middle, 16, axis=1)
    module = imported("GatherBlockQuantized", index, weights, bits=bits, block_size=16)
    (found,) = run_function(module, [index])
    want = ((numbers - middle) * np.repeat(scales, 16, axis=1))[index]
    np.testing.assert_allclose(found, want, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"bits": 3}, "weights of 3 bits"),
        ({"weight_prepacked": 1}, "packed for one machine"),
        ({"N": 7}, r"expected a weight of \[7, 64\], got 192 bytes"),
        ({"block_size": 32}, r"one number for each 32 of \[6, 64\], got 24"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, int], reason: str):
    weights = {1: packed(RNG.integers(0, 16, (6, 4, 16)), 4), 2: floats(6, 4)}
    given = {"K": 64, "N": 6, "block_size": 16, **options}
    with pytest.raises(GEError, match=reason):
        imported("MatMulNBits", floats(3, 64), weights, **given)


def table(data: list[onnx.NodeProto], inputs: list[str]) -> onnx.ModelProto:
    """A model that gathers rows of a table of 4 bits that some nodes make of `packed`."""
    rng = np.random.default_rng(2)
    weights = {
        "packed": packed(rng.integers(0, 16, (9, 32)), 4).reshape(9, 2, 8),
        "scales": np.abs(rng.normal(size=(9, 2))).astype(np.float32),
        "shape": np.array([9, 16]),
    }
    gather = helper.make_node(
        "GatherBlockQuantized", ["data", "x", "scales"], ["y"], domain=DOMAIN, bits=4, block_size=16
    )
    graph = helper.make_graph(
        [*data, gather],
        "test",
        [helper.make_tensor_value_info("x", 7, (3,))]
        + [helper.make_tensor_value_info(name, 2, (9, 16)) for name in inputs],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets)


def test_a_table_may_be_the_weight_of_a_product_reshaped():
    model = table([helper.make_node("Reshape", ["packed", "shape"], ["data"])], [])
    (found,) = run_function(import_onnx(model), [np.array([8, 0, 3])])
    arrays = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    low, high = arrays["packed"].reshape(9, 16) & 15, arrays["packed"].reshape(9, 16) >> 4
    numbers = np.stack([low, high], axis=2).reshape(9, 32).astype(np.float32) - 8
    want = numbers * np.repeat(arrays["scales"], 16, axis=1)
    np.testing.assert_allclose(found, want[[8, 0, 3]], rtol=1e-6)


def test_a_table_has_to_be_constant():
    with pytest.raises(GEError, match="its table is not constant"):
        import_onnx(table([], ["data"]))
