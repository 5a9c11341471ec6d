"""Small graphs that loose matchers get wrong: what fuses, what does not, and that values stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.tools.api import make_context
from tests.fusion_graphs import parse
from tests.kernel_reference import F32, Array

ROOT = Path(__file__).resolve().parents[1]

MASKED = """
func.func @main(%q: tensor<4x2x16x32xf16>, %k: tensor<4x2x32x16xf16>, %v: tensor<4x2x16x32xf16>,
                %m: tensor<1x1x1x16xf16>) -> tensor<4x2x16x32xf16> {{
  %c = ge.constant dense<0.176> : tensor<f16>
  %p = ge.matmul %q, %k : (tensor<4x2x16x32xf16>, tensor<4x2x32x16xf16>) -> tensor<4x2x16x16xf16>
  %s = ge.mul %p, %c : (tensor<4x2x16x16xf16>, tensor<f16>) -> tensor<4x2x16x16xf16>
  %a = ge.add {operands} -> tensor<4x2x16x16xf16>
  %w = ge.softmax %a axis -1 : (tensor<4x2x16x16xf16>) -> tensor<4x2x16x16xf16>
  %o = ge.matmul %w, %v : (tensor<4x2x16x16xf16>, tensor<4x2x16x32xf16>) -> tensor<4x2x16x32xf16>
  func.return %o : tensor<4x2x16x32xf16>
}}
"""


def test_a_mask_on_either_side_of_the_scores_is_one_graph() -> None:
    scores, mask = "tensor<4x2x16x16xf16>", "tensor<1x1x1x16xf16>"
    texts: list[str] = []
    for operands in (f"%m, %s : ({mask}, {scores})", f"%s, %m : ({scores}, {mask})"):
        module = parse(MASKED.format(operands=operands))
        OptimizePipeline().apply(make_context(), module)
        texts.append(str(module))
    assert texts[0] == texts[1]
    assert "ge.flash_attention" in texts[0] and "ge.softmax" not in texts[0]


WITHOUT_KEPT_DIMS = """
func.func @main(%x: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
  %e = ge.constant dense<1.0e-05> : tensor<f32>
  %m = ge.reduce_mean %x axes [-1] keepdims false : (tensor<{shape}xf32>) -> tensor<{less}xf32>
  %d = ge.sub %x, %m : (tensor<{shape}xf32>, tensor<{less}xf32>) -> tensor<{shape}xf32>
  %s = ge.mul %d, %d : (tensor<{shape}xf32>, tensor<{shape}xf32>) -> tensor<{shape}xf32>
  %v = ge.reduce_mean %s axes [-1] keepdims false : (tensor<{shape}xf32>) -> tensor<{less}xf32>
  %a = ge.add %v, %e : (tensor<{less}xf32>, tensor<f32>) -> tensor<{less}xf32>
  %r = ge.sqrt %a : (tensor<{less}xf32>) -> tensor<{less}xf32>
  %y = ge.div %d, %r : (tensor<{shape}xf32>, tensor<{less}xf32>) -> tensor<{shape}xf32>
  func.return %y : tensor<{shape}xf32>
}}
"""


def test_statistics_along_another_dimension_are_no_norm() -> None:
    module = parse(WITHOUT_KEPT_DIMS.format(shape="4x4", less="4"))
    x = np.random.default_rng(0).standard_normal((4, 4)).astype(F32)
    (wanted,) = run_function(module, [x])
    OptimizePipeline().apply(make_context(), module)
    (found,) = run_function(module, [x])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert "ge.layer_norm" not in str(module)
    centred = x - x.mean(-1, keepdims=True)
    norm = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    assert np.abs(found - norm).max() > 0.1


def test_statistics_that_do_not_broadcast_are_an_error_of_the_graph() -> None:
    with pytest.raises(VerifyException, match="broadcast"):
        parse(WITHOUT_KEPT_DIMS.format(shape="2x3x4", less="2x3"))


def test_siblings_of_unknown_size_do_not_crash() -> None:
    t, u = "tensor<?x768xf32>", "tensor<768x768xf32>"
    lines = [f"%w = ge.constant dense<1.0> : {u}"]
    for name, op in zip("abcd", ("exp", "neg", "relu", "tanh"), strict=True):
        lines.append(f"%{name} = ge.{op} %x : ({t}) -> {t}")
    lines += [f"%{name} = ge.matmul %x, %w : ({t}, {u}) -> {t}" for name in "ef"]
    results = ", ".join(f"%{name}" for name in "abcdef")
    body = "\n".join(lines)
    types = ", ".join([t] * 6)
    text = f"func.func @main(%x: {t}) -> ({types}) {{\n{body}\nfunc.return {results} : {types}\n}}"
    module = parse(text)
    x = np.random.default_rng(0).standard_normal((3, 768)).astype(F32)
    wanted = run_function(module, [x])
    OptimizePipeline(3).apply(make_context(), module)
    module.verify()
    for found, expected in zip(run_function(module, [x]), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


TRUTH = """
func.func @main(%q: tensor<2x4x8x8xf32>, %k: tensor<2x4x8x8xf32>, %v: tensor<2x4x8x8xf32>,
                %m: tensor<2x4x8x8xi1>) -> tensor<2x4x8x8xf32> {{
  {mask}
  %o = ge.flash_attention %q, %k, %v mask %n scale 0.35 {guard}
    : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, {type}) -> tensor<2x4x8x8xf32>
  %y = ge.relu %o : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  func.return %y : tensor<2x4x8x8xf32>
}}
"""
TRUTHS = TRUTH.replace("{mask}", "").replace("%n", "%m").replace("{type}", "tensor<2x4x8x8xi1>")
ADDED = TRUTH.replace("{type}", "tensor<2x4x8x8xf32>").replace(
    "{mask}",
    """%z = ge.constant dense<0.0> : tensor<f32>
  %i = ge.constant dense<"0x000080FF"> : tensor<f32>
  %n = ge.select %m, %z, %i : (tensor<2x4x8x8xi1>, tensor<f32>, tensor<f32>) -> tensor<2x4x8x8xf32>
""",
)


@pytest.mark.parametrize("guard", ["", "nan_guard"])
def test_truth_values_are_what_zeros_and_minus_infinity_are(guard: str) -> None:
    rng = np.random.default_rng(3)
    kept = rng.random((2, 4, 8, 8)) < 0.6
    kept[0, 1, 2] = False
    arrays: list[Array] = [*(rng.standard_normal((2, 4, 8, 8)).astype(F32) for _ in "qkv"), kept]
    arrays[0][1, 0, 3] = np.inf  # scores that are infinite or NaN, kept and not
    results: list[Array] = []
    for text in (TRUTHS, ADDED):
        module = parse(text.format(guard=guard))
        results += run_function(module, arrays)
        OptimizePipeline().apply(make_context(), module)
        results += run_function(module, arrays)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    row = results[0][0, 1, 2]
    assert (row == 0).all() if guard else np.isnan(row).all()


def test_a_score_that_is_masked_and_infinite_counts_as_in_onnx() -> None:
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    shape = (1, 1, 3, 4)
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"], is_causal=1, scale=1.0)
    names = [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape) for x in "qkvy"]
    graph = helper.make_graph([node], "g", names[:3], names[3:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    arrays = [np.random.default_rng(i).standard_normal(shape).astype(F32) for i in range(3)]
    arrays[1][0, 0, 2, 0] = np.nan  # the last key: masked for all queries but the last
    feeds = dict(zip("qkv", arrays, strict=True))
    evaluator: Any = ReferenceEvaluator(model)
    (wanted,) = evaluator.run(None, feeds)
    t = "tensor<1x1x3x4xf32>"
    module = parse(
        f"func.func @main(%q: {t}, %k: {t}, %v: {t}) -> {t} {{\n"
        f"%o = ge.flash_attention %q, %k, %v scale 1.0 causal : ({t}, {t}, {t}) -> {t}\n"
        f"func.return %o : {t}\n}}"
    )
    (found,) = run_function(module, arrays)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


BIG = """
import resource, sys
import numpy as np
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.tools.api import make_context
from xdsl.parser import Parser
t = "tensor<4096x4096xf32>"
lines = [f"%v0 = ge.add %x, %w : ({t}, {t}) -> {t}"]
for i in range(100):
    op = ("relu", "tanh", "exp", "neg")[i % 4]
    lines.append(f"%v{i + 1} = ge.{op} %v{i} : ({t}) -> {t}")
text = (
    "func.func @main(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {"
    f'%w = ge.constant #ge.weight<"w", "{sys.argv[1]}", 0, 67108864> : tensor<4096x4096xf32>'
    + chr(10) + chr(10).join(lines) + chr(10) + "func.return %v100 : tensor<4096x4096xf32> }"
)
module = Parser(make_context(), text).parse_module()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
OptimizePipeline().apply(make_context(), module)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_64_mib_of_weights_cost_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.touch()
    os.truncate(path, 64 << 20)
    done = subprocess.run(
        [sys.executable, "-c", BIG, str(path)],
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) * 1024 < 64 << 20
