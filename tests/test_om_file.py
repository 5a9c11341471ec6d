"""Whole `.om` files: model, plan, weights and tasks together."""

import os
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.attributes import OmTensor, OmWeight
from ge_dialect.lowering.om.container import read_container
from ge_dialect.lowering.om.file import PackedWeights, om_partitions, read_om, write_om
from ge_dialect.lowering.om.layout import PartitionType
from ge_dialect.lowering.om.model import OmGraph, OmModel, OmOp, const_op, encode_model_def
from ge_dialect.lowering.om.tasks import OmTask, TaskType
from ge_dialect.lowering.om.writer import Partition, container_bytes, write_container
from ge_dialect.weights import MemoryWeight, WeightSource

PLAN = "builtin.module {\n}\n"
X = OmTensor("x", "f16", (2, 4), size=16)


def small_model(weight_size: int = 0) -> OmModel:
    ops = [OmOp("x", "Data", output_descs=(X,), attrs={"index": 0})]
    if weight_size:
        ops.append(const_op("w", OmWeight(X, 0, 16)))
    ops.append(OmOp("out", "NetOutput", ("x:0",), (X,), id=1))
    tasks = (OmTask(TaskType.KERNEL, 0, op_index=1, kernel="k", args=(0, 512)),)
    return OmModel("small", (OmGraph("main", tuple(ops)),), tasks, 8192, weight_size)


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "m.om"
    weights = PackedWeights()
    first, second = MemoryWeight(b"a" * 16), MemoryWeight(b"b" * 700)
    offsets = [weights.add(weight) for weight in (first, second, MemoryWeight(b"a" * 16))]
    assert offsets == [0, 512, 0]
    assert list(weights) == [(0, first), (512, second)]
    assert weights.size == 1536
    model = small_model(weights.size)
    write_om(path, model, PLAN, weights, dynamic=True)
    with read_om(path) as file:
        assert file.model == replace(model, tasks=())
        assert file.tasks.tasks == model.tasks
        assert file.plan() == PLAN
        assert file.container.header.dynamic
        assert bytes(file.weights[512 : 512 + 700]) == b"b" * 700
        entry = file.container.find(PartitionType.WEIGHTS_DATA)
        assert entry is not None
        assert entry.offset % 4096 == 0


def test_a_file_without_weights_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "m.om"
    write_om(path, small_model(), PLAN)
    with read_om(path) as file:
        assert len(file.weights) == 0
        assert file.plan() == PLAN


def test_weights_are_copied_and_not_held(tmp_path: Path) -> None:
    source = tmp_path / "weights.bin"
    with open(source, "wb") as file:
        file.truncate(64 << 20)
        file.seek(1000)
        file.write(b"here")
    weights = PackedWeights()
    for part in range(4):
        weights.add(WeightSource(str(source), part << 24, (1 << 24) - 100))
    model = small_model(weights.size)
    tracemalloc.start()
    write_om(tmp_path / "m.om", model, PLAN, weights)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 << 20
    with read_om(tmp_path / "m.om") as om:
        assert bytes(om.weights[1000:1004]) == b"here"
        assert len(om.weights) == weights.size


def test_a_weight_that_vanished_leaves_no_file(tmp_path: Path) -> None:
    weights = PackedWeights()
    weights.add(WeightSource(str(tmp_path / "gone.bin"), 0, 16))
    model = small_model(weights.size)
    with pytest.raises(GEError, match=r"gone\.bin"):
        write_om(tmp_path / "m.om", model, PLAN, weights)
    assert os.listdir(tmp_path) == []


def test_a_stated_size_that_is_not_the_size_of_the_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 1024 bytes of weights, got 3"):
        om_partitions(small_model(1024), PLAN, b"abc")


def test_a_file_of_another_compiler_shows_its_model_and_has_no_plan(tmp_path: Path) -> None:
    definition = encode_model_def(small_model(1024))
    write_container(tmp_path / "m.om", [Partition(0, definition), Partition(2, b"")])
    with read_om(tmp_path / "m.om") as file:
        assert file.model.name == "small"
        assert file.tasks.tasks == ()
        with pytest.raises(GEError, match="GE0608"):
            file.plan()


def test_views_outlive_the_file(tmp_path: Path) -> None:
    write_om(tmp_path / "m.om", small_model(1024), PLAN, bytes(1024))
    with read_om(tmp_path / "m.om") as file:
        weights = file.weights
    assert bytes(weights) == bytes(1024)


def test_equal_models_make_equal_files() -> None:
    parts = om_partitions(small_model(1024), PLAN, bytes(1024))
    again = om_partitions(small_model(1024), PLAN, bytes(1024))
    assert container_bytes(parts) == container_bytes(again)
    assert read_container(container_bytes(parts)).checked
