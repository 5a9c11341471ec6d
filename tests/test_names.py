"""Names and texts of any script: kept from the model through IR text and `.om` to every report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ArrayAttr, BytesAttr, ModuleOp, NameLoc, NoneAttr, StringAttr
from xdsl.ir import Attribute

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.file import read_om
from ge_dialect.lowering.om.layout import PartitionType
from ge_dialect.parsing import TextParser
from ge_dialect.printing import exact_text
from ge_dialect.tools.api import CompileOptions, compile, make_context
from ge_dialect.tools.ge_compile import run as ge_compile
from ge_dialect.tools.ge_opt import main_with as ge_opt
from ge_dialect.tools.ge_run import main_with as ge_run
from ge_dialect.tools.runtime.executor import Executor, load_plan

NAMES = ("输入", "выход/é", 'ein "ü"\\\t\n☃', "🙂", "a b", "\x7f\x80")
TEXTS = (*NAMES, "", "plain", "\\C3\\BC", "e\u0301")


def named(names: tuple[str, str, str], node: str, rows: str | int = 2) -> onnx.ModelProto:
    """Returns a model whose input, value in between, output and nodes have given names."""
    first, middle, last = names
    graph = helper.make_graph(
        [
            helper.make_node("Relu", [first], [middle], name=node),
            helper.make_node("Softmax", [middle], [last], name=node + "2", axis=1),
        ],
        node,
        [helper.make_tensor_value_info(first, TensorProto.FLOAT, [rows, 3])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, [rows, 3])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
def test_text_is_text_again(text: str, generic: bool) -> None:
    attributes: dict[str, Attribute] = {
        "one": StringAttr(text),
        "more": ArrayAttr([StringAttr(text), BytesAttr(b"\xff\x00" + text.encode())]),
    }
    module = ModuleOp([], attributes)
    module.location = NameLoc(StringAttr(text), NoneAttr())
    printed = exact_text(module, generic=generic, locations=True)
    again = TextParser(make_context(), printed).parse_module()
    assert again.attributes == module.attributes
    assert again.location == module.location


@pytest.mark.parametrize("node", NAMES)
def test_names_reach_the_plan_and_its_file(tmp_path: Path, node: str) -> None:
    names = (node + "0", node + "1", node)
    model = tmp_path / "model.onnx"
    model.write_bytes(named(names, node).SerializeToString())
    plan = compile(model)
    plan.save(tmp_path / "a.om")
    loaded = load_plan(str(tmp_path / "a.om"))
    x = np.ones((2, 3), np.float32)
    outputs = Executor(loaded.module, loaded.weights).run({names[0]: x})
    np.testing.assert_allclose(outputs[names[2]], np.full((2, 3), 1 / 3), rtol=1e-6)
    again = tmp_path / "b.om"
    assert ge_opt([str(tmp_path / "a.om"), "-t", "om", "-o", str(again)]) == 0
    assert again.read_bytes() == (tmp_path / "a.om").read_bytes()


def test_labels_that_are_not_ascii_are_found(tmp_path: Path) -> None:
    """They are attributes of a host call, which were bytes after the file."""
    encoder = helper.make_node(
        "LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml",
        keys_strings=["ü", "b", "日本"], values_int64s=[1, 2, 3], default_int64=7,
    )  # fmt: skip
    graph = helper.make_graph(
        [encoder],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.STRING, [4])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [4])],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 4)]
    model = tmp_path / "model.onnx"
    model.write_bytes(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    compile(model).save(tmp_path / "a.om")
    loaded = load_plan(str(tmp_path / "a.om"))
    feeds = {"x": np.array(["日本", "a", "b", "ü"], object)}
    outputs = Executor(loaded.module, loaded.weights).run(feeds)
    np.testing.assert_array_equal(outputs["y"], [3, 7, 2, 1])


def test_reports_show_names_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("输入", "中间", "выход")
    model, plan = tmp_path / "модель.onnx", tmp_path / "план.om"
    model.write_bytes(named(names, "узел", "строки").SerializeToString())
    reports = {
        flag: tmp_path / f"{flag}.отчёт"
        for flag in ("summary", "trace", "fusion-result", "memory-map")
    }
    flags = [part for flag, path in reports.items() for part in (f"--{flag}", str(path))]
    shape = ["--input-shape", "输入:1~4,3", "-O", "0"]
    assert ge_compile([str(model), "-o", str(plan), *shape, *flags]) == 0
    assert "узел" in reports["memory-map"].read_text("utf-8")
    trace: Any = json.loads(reports["trace"].read_text("utf-8"))
    assert any("узел" in json.dumps(event, ensure_ascii=False) for event in trace["traceEvents"])
    np.savez(tmp_path / "x.npz", 输入=np.ones((5, 3), np.float32))
    with pytest.raises(GEError, match=r"строки = 5 leaves 1\.\.4 declared for input '输入' dim 0"):
        ge_run([str(plan), "--inputs", str(tmp_path / "x.npz")])


def test_names_stand_in_the_graph_that_viewers_show(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(named(("输入", "中间", "выход"), "узел").SerializeToString())
    compile(model, options=CompileOptions(level=0)).save(tmp_path / "a.om")
    with read_om(str(tmp_path / "a.om")) as file:
        assert "узел".encode() in bytes(file.container.view(PartitionType.MODEL_DEF))
