"""What a user may ask of memory: policies, limits, alignment, what keeps its bytes; and answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import BufferOp, InputOp
from ge_dialect.ge_exec.memory import base_of, offset_of
from ge_dialect.lowering.memory.memory_map import memory_map
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.tools.api import CompiledPlan, CompileOptions, compile
from ge_dialect.tools.ge_compile import run as ge_compile
from ge_dialect.tools.ge_opt import main_with as ge_opt
from tests.onnx_models import model, node

WIDE = [16, 64]
POLICIES = ("conservative", "balanced", "throughput")


@pytest.fixture
def chain() -> Any:
    """Five softmaxes in a row, whose rows and columns the caller chooses."""
    nodes = [node("Softmax", a, out=b) for a, b in ("xa", "ab", "bc", "cd", "dy")]
    for one in nodes:
        one.name = f"soft_{one.output[0]}"
    return model(nodes, {"x": ("float32", ["rows", "columns"])}, ["y"])


@pytest.fixture
def path(chain: Any, tmp_path: Path) -> Path:
    found = tmp_path / "chain.onnx"
    found.write_bytes(chain.SerializeToString())
    return found


def plan_with(chain: Any, **options: Any) -> CompiledPlan:
    return compile(chain, input_shapes={"x": WIDE}, options=CompileOptions(level=1), **options)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_gives_the_same_values(chain: Any, policy: str) -> None:
    feeds = {"x": np.random.default_rng(0).normal(size=WIDE).astype(np.float32)}
    wanted = plan_with(chain).run(feeds)["y"]
    plan = plan_with(chain, memory_policy=policy)
    np.testing.assert_array_equal(plan.run(feeds)["y"], wanted)


def test_the_policy_of_a_module_counts_where_none_is_asked_for(tmp_path: Path) -> None:
    text = 'module attributes {ge.memory_policy = "%s"} {}'
    (tmp_path / "m.mlir").write_text(text % "conservative")
    assert ge_opt([str(tmp_path / "m.mlir"), "-p", "ge-schedule,ge-plan-memory"]) == 0
    (tmp_path / "m.mlir").write_text(text % "aggressive")
    with pytest.raises(GEError, match=r"'ge.memory_policy' to be one of"):
        ge_opt([str(tmp_path / "m.mlir"), "-p", "ge-plan-memory"])
    ge_opt([str(tmp_path / "m.mlir"), "-p", "ge-plan-memory{policy=balanced}"])


def test_the_policy_is_known_under_the_other_name_as_well(chain: Any, path: Path) -> None:
    plan = plan_with(chain, **{"ge.memory_policy": "throughput"})
    assert plan.options.memory_policy == "throughput"
    assert plan.notes == ["'ge.memory_policy' is 'memory_policy' here"]
    for spelled in ("--ge.memory_policy=throughput", "--memory-policy=throughput"):
        ge_compile([str(path), "--input_shape=x:16,64", "-o", str(path) + ".om", spelled])
    with pytest.raises(GEError, match="greedy"):
        ge_compile([str(path), "-o", "x.om", "--memory-policy", "greedy"])


def test_addresses_are_aligned_as_asked(chain: Any) -> None:
    plan = plan_of(plan_with(chain, memory_alignment=4096).module)
    assert all((offset_of(op) or 0) % 4096 == 0 for op in (*plan.inputs, *plan.buffers))
    for alignment in (0, 16, 48, -512):
        with pytest.raises(GEError, match="power of two") as raised:
            plan_with(chain, memory_alignment=alignment)
        assert raised.value.code == "GE0508"


@pytest.mark.parametrize("name", ["soft_a", "SoftmaxV2"])
def test_named_results_share_bytes_with_nothing(chain: Any, name: str) -> None:
    """By node and by op type: with all kept apart nothing is reused."""
    found = memory_map(plan_of(plan_with(chain, no_reuse=(name,)).module))
    kept = [r for r in found.regions if r.nodes == name or r.op_type == name]
    assert kept
    for region in kept:
        sharers = [
            other.name
            for other in found.regions
            if other is not region
            and other.arena == region.arena
            and max(other.offset, region.offset) < min(other.limit, region.limit)
        ]
        assert sharers == []


def test_a_donated_input_may_be_written_over() -> None:
    """Only where the caller said so; nobody else's bytes are taken."""
    negated = model([node("Neg", "x")], {"x": ("float32", WIDE)}, ["y"])
    for names, owner in ((("x",), InputOp), ((), BufferOp)):
        plan = plan_of(compile(negated, donated_inputs=names).module)
        assert isinstance(base_of(plan.outputs[0].buffer)[0], owner)
    with pytest.raises(GEError, match="no input is named 'z'") as raised:
        compile(negated, donated_inputs=("z",))
    assert raised.value.hint == "the model's inputs are x"


def test_a_limit_of_a_core_that_is_too_low_says_which_works(tmp_path: Path) -> None:
    rows = {"x": ("float32", (4, 300))}
    softmax = model([node("Softmax", "x", axis=-1)], rows, ["y"])
    (tmp_path / "m.onnx").write_bytes(softmax.SerializeToString())
    arguments = [str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.om")]
    with pytest.raises(GEError, match="kernel 'SoftmaxV2_0' does not fit on the chip") as raised:
        ge_compile([*arguments, "--memory-limit=ub=64"])
    assert raised.value.code == "GE0510"
    found = re.search(r"--memory-limit ub=(\d+), the smallest that works", raised.value.hint or "")
    assert found is not None
    smallest = int(found.group(1))
    assert not (tmp_path / "m.om").exists()
    assert ge_compile([*arguments, f"--memory-limit=ub={smallest}"]) == 0
    with pytest.raises(GEError, match="GE0510"):
        ge_compile([*arguments, f"--memory-limit=ub={smallest - 64}"])


def test_what_does_not_fit_says_what_would(path: Path, tmp_path: Path) -> None:
    arguments = [str(path), "--input_shape=x:16,64", "-o", str(tmp_path / "c.om")]
    with pytest.raises(GEError) as raised:
        ge_compile([*arguments, "--memory-limit=5K"])
    error = raised.value
    assert error.code == "GE0502"
    assert "8192 bytes needed, 5120 available, 3072 missing" in error.message
    assert "alive at the peak" in error.message
    assert error.hint is not None
    assert "rows at most 10, not 16: --input-shape 'x:10,64'" in error.hint
    assert "columns at most 40, not 64: --input-shape 'x:16,40'" in error.hint
    assert "--memory-limit 8192, the smallest that works" in error.hint
    assert not (tmp_path / "c.om").exists()
    # What is promised holds, and one more does not.
    for shape, fits in (("x:10,64", True), ("x:11,64", False), ("x:16,40", True)):
        given = [str(path), f"--input_shape={shape}", "-o", str(tmp_path / "c.om")]
        if fits:
            assert ge_compile([*given, "--memory-limit=5K"]) == 0
        else:
            with pytest.raises(GEError):
                ge_compile([*given, "--memory-limit=5K"])
    assert ge_compile([*arguments, "--memory-limit=8192"]) == 0


def test_an_option_that_costs_memory_is_named(path: Path, tmp_path: Path) -> None:
    arguments = [str(path), "--input_shape=x:64,256", "-o", str(tmp_path / "c.om"), "-O0"]
    apart = ["--disable-reuse-memory", "1", "--memory-limit"]
    with pytest.raises(GEError) as raised:
        ge_compile([*arguments, *apart, "300K"])
    assert raised.value.hint is not None
    assert "--disable-reuse-memory 0" in raised.value.hint


def test_limits_by_tier(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = tmp_path / "s.json"
    arguments = [str(path), "--input_shape=x:16,64", "-o", str(tmp_path / "c.om"), "-O0"]
    arguments += ["--streams=2", f"--summary={summary}"]
    ge_compile([*arguments, "--memory-limit=hbm=1M,l2=all", "--disable-reuse-memory=1"])
    l2 = json.loads(summary.read_text())["memory"].get("l2")
    assert "of the L2" in capsys.readouterr().out or l2 is None
    for wrong in ("l3=4K", "hbm=1,hbm=2", "4X", "-1", "l2=", "1e3"):
        with pytest.raises(GEError) as raised:
            ge_compile([*arguments, f"--memory-limit={wrong}"])
        assert raised.value.code == "GE0105"


def test_the_memory_map_says_what_lies_where(path: Path, tmp_path: Path) -> None:
    file, found = tmp_path / "map.json", tmp_path / "c.om"
    arguments = [str(path), "--input_shape=x:16,64", "-o", str(found), "-O0"]
    ge_compile([*arguments, f"--memory-map={file}"])
    value = json.loads(file.read_text())
    assert value["arenas"]["work"] > 0
    by_kind = {region["kind"]: region for region in value["regions"]}
    assert (by_kind["input"]["name"], by_kind["input"]["type"]) == ("x", "16x64xf32")
    assert by_kind["output"]["end"] == len(value["moments"])


def test_an_address_is_looked_up_in_a_file(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = str(tmp_path / "c.om")
    ge_compile([str(path), "--input_shape=x:16,64", "-o", found, "-O0", "-q"])
    ge_opt([found, "-t", "memory-map"])
    whole = json.loads(capsys.readouterr().out)
    for region in whole["regions"]:
        last = region["offset"] + region["size"] - 1
        ge_opt([found, "-t", f"memory-map{{address={last}}}"])
        assert region in json.loads(capsys.readouterr().out)
    for target in ("memory-map{address=99999999}", 'memory-map{address=0 arena="l1"}'):
        with pytest.raises(GEError) as raised:
            ge_opt([found, "-t", target])
        assert raised.value.code == "GE0509"


def test_verbose_prints_the_memory_log(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ge_compile([str(path), "--input_shape=x:16,64", "-o", str(tmp_path / "c.om"), "-O0", "-v"])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("[IMAS]")]
    assert any("name[x] optype[Data] output[0] offset to [" in line for line in lines)
    assert any("optype[SoftmaxV2]" in line and "memtype[2]" in line for line in lines)
    assert "theoretical minimum[16384] fragmentation[0.00%]" in lines[-1]
