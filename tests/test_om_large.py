"""More than 4 GiB of weights, in files with holes: written from the memory map, read back, run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from ge_dialect.lowering.om.file import read_om
from ge_dialect.tools.api import load

ROOT = Path(__file__).resolve().parent.parent
ROWS, COLUMNS = 1_310_721, 1024
SIZE = ROWS * COLUMNS * 4
"""Bytes of the table, 5 GiB and one row."""

# Prints the peak of its resident memory in KiB, after a compilation or after its imports.
MEASURED = """
import resource, sys
from ge_dialect.tools.api import compile
import ge_dialect.frontends.onnx.importer
if len(sys.argv) > 1:
    compile(sys.argv[1], level=1).save(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_kib(*arguments: str) -> int:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", MEASURED, *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=600)
    return int(done.stdout)


def table_model(path: Path) -> None:
    """Writes a model that looks up rows of a table; the last row is 1, the others are a hole."""
    with open(path.with_suffix(".bin"), "wb") as file:
        file.truncate(SIZE - 4 * COLUMNS)
        file.seek(0, os.SEEK_END)
        file.write(np.ones(COLUMNS, np.float32).tobytes())
    table = TensorProto(name="table", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS])
    table.data_location = TensorProto.EXTERNAL
    for key, value in (("location", f"{path.stem}.bin"), ("offset", "0"), ("length", str(SIZE))):
        table.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "i"], ["y"], name="lookup")],
        "table",
        [helper.make_tensor_value_info("i", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, COLUMNS])],
        [table],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    path.write_bytes(model.SerializeToString())


@pytest.mark.slow
def test_a_model_of_five_gib_goes_through_a_file(tmp_path: Path):
    model, om = tmp_path / "m.onnx", tmp_path / "m.om"
    table_model(model)
    grown = peak_kib(str(model), str(om)) - peak_kib()
    assert grown < 100 * 1024
    with read_om(om) as file:
        assert file.container.bits == 64
        assert len(file.weights) >= SIZE
        entries = file.container.entries
        assert entries[-1].offset > 5 << 30  # the tasks lie behind the weights
    found = load(om).run({"i": np.array([0, ROWS - 1])})["y"]
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_array_equal(found[1], 1)
    assert os.stat(om).st_blocks * 512 < SIZE // 8  # a hole stays one
