"""Opens files of ours with Netron's own loader, without a window, under node.

Netron's JavaScript comes from its wheel and is kept in `.cache/netron`; without node, or without
the wheel and a network to get it from, these tests are skipped.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ge_dialect.ge_exec import KernelOp
from ge_dialect.lowering.om.attributes import OmTensor, OmWeight
from ge_dialect.lowering.om.file import PackedWeights, write_om
from ge_dialect.lowering.om.model import OmGraph, OmModel, OmOp, const_op
from ge_dialect.tools.api import compile
from ge_dialect.weights import MemoryWeight
from tests.netron.javascript import NETRON, javascript

SCRIPT = Path(__file__).resolve().parent / "netron" / "open.mjs"

X = OmTensor("x", "f16", (2, 4))
SCALE = OmTensor("", "f32", (2, 2))
RANK_ZERO = OmTensor("", "i64", ())


@pytest.fixture(scope="module")
def netron() -> Path:
    """The folder of Netron's JavaScript, fetched when first needed."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if (folder := javascript()) is None:
        pytest.skip(f"netron {NETRON} is not in .cache, nor can pip fetch it")
    return folder


def run_netron(netron: Path, file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", str(SCRIPT), str(netron), str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def opened(netron: Path, file: Path) -> Any:
    done = run_netron(netron, file)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def small_model(weights: PackedWeights) -> OmModel:
    scale = OmWeight(SCALE, weights.add(MemoryWeight(bytes(range(16)))), 16)
    count = OmWeight(RANK_ZERO, weights.add(MemoryWeight((7).to_bytes(8, "little"))), 8)
    ops = (
        OmOp("ids:0", "Data", output_descs=(X,), attrs={"index": 0}),
        const_op("scale", scale),
        const_op("count", count),
        OmOp(
            "fused",
            "FlashAttentionScore",
            inputs=("ids:0:0", "", "scale:0", "count:0"),
            input_descs=(X, None, SCALE, RANK_ZERO),
            output_descs=(X, OmTensor("mask", "f8E5M2", (-1, 4)), OmTensor("", "bf16", None)),
            attrs={
                "epsilon": 1e-5,
                "axes": (0, -1),
                "grid": ((1, 2), (3,)),
                "none": (),
                "label": "é",
                "raw": b"\1\2\3",
                "on": True,
                "flags": (True, False),
                "names": ("a", "b"),
                "ratios": (0.5, 2.0),
            },
            id=1,
            source_nodes=("/attention/MatMul", "/attention/Softmax"),
        ),
        OmOp("add", "Add", ("fused:0", "ids:0:0"), (X, X), (X,), id=2),
        OmOp("out", "NetOutput", ("add:0", "fused:-1"), (X,), id=3),
    )
    body = OmGraph("body", (OmOp("a", "Data", output_descs=(RANK_ZERO,), attrs={"index": 0}),))
    return OmModel("small", (OmGraph("main", ops), body), weight_size=weights.size)


@pytest.fixture(scope="module")
def shown(netron: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("netron") / "small.om"
    weights = PackedWeights()
    model = small_model(weights)
    write_om(path, model, "builtin.module {\n}\n", weights)
    return opened(netron, path)


def test_netron_shows_each_graph_and_its_nodes(shown: Any) -> None:
    assert shown["format"] == "DaVinci OM"
    assert [graph["name"] for graph in shown["graphs"]] == ["main", "body"]
    nodes = [(node["name"], node["type"]) for node in shown["graphs"][0]["nodes"]]
    assert nodes == [
        ("ids:0", "Data"),
        ("fused", "FlashAttentionScore"),
        ("add", "Add"),
        ("out", "NetOutput"),
    ]


def test_netron_shows_types_and_weights_of_operands(shown: Any) -> None:
    fused = shown["graphs"][0]["nodes"][1]
    operands = [port["values"][0] for port in fused["inputs"]]
    assert [value["name"] for value in operands] == ["ids:0:0", "scale:0", "count:0"]
    assert operands[0]["type"] == {"dtype": "float16", "shape": [2, 4]}
    assert [value["bytes"] for value in operands] == [None, 16, 8]
    assert operands[2]["data"] == 7
    results = [port["values"][0]["type"] for port in fused["outputs"]]
    assert results[1:] == [
        {"dtype": "uint8", "shape": [-1, 4]},
        {"dtype": "bfloat16", "shape": [-2]},
    ]


def test_netron_shows_attributes_and_where_a_kernel_came_from(shown: Any) -> None:
    attributes = shown["graphs"][0]["nodes"][1]["attributes"]
    assert attributes["_datadump_original_op_names"] == "/attention/MatMul, /attention/Softmax"
    assert attributes["axes"] == "0, -1"
    assert attributes["grid"] == "[ 1, 2 ], [ 3 ]"
    assert attributes["flags"] == "true, false"
    assert attributes["names"] == "a, b"


def test_netron_shows_control_inputs(shown: Any) -> None:
    output = shown["graphs"][0]["nodes"][-1]
    assert output["control"] == 1
    assert output["inputs"][0]["values"][0]["name"] == "add:0"


def test_netron_opens_a_file_without_weights(netron: Path, tmp_path: Path) -> None:
    path = tmp_path / "plain.om"
    ops = (
        OmOp("x", "Data", output_descs=(X,)),
        OmOp("out", "NetOutput", ("x:0",), (X,), id=1),
    )
    write_om(path, OmModel("plain", (OmGraph("main", ops),)), "builtin.module {}")
    assert len(opened(netron, path)["graphs"][0]["nodes"]) == len(ops)


def test_the_script_fails_where_netron_cannot_open(netron: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.om"
    path.write_bytes(b"IMOD" + bytes(300))
    done = run_netron(netron, path)
    assert done.returncode == 1
    assert "File does not contain a model definition" in done.stderr


@pytest.mark.parametrize(
    "name", ["flash-block.ts-static", "llama-layer.dynamo23-static", "resnet50.ts-static"]
)
def test_a_plan_of_a_real_model_opens(name: str, netron: Path, zoo: Path, tmp_path: Path) -> None:
    plan = compile(zoo / name / "model.onnx")
    plan.save(tmp_path / "model.om")
    found = opened(netron, tmp_path / "model.om")
    (graph,) = found["graphs"]
    tasks = plan.summary["tasks"]
    kinds = [node["type"] for node in graph["nodes"]]
    # One node a task, besides inputs and outputs; weights are values of their own.
    assert len([kind for kind in kinds if kind not in ("Data", "NetOutput")]) == tasks
    kernels = [op.op_type.data for op in plan.module.walk() if isinstance(op, KernelOp)]
    assert kernels
    assert set(kernels) <= set(kinds)
