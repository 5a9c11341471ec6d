"""`ge-run`: files in, files out, and one line for what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ge_dialect.lowering.om.encode import write_plan
from ge_dialect.tools.cli import run_tool
from ge_dialect.tools.ge_run import main_with
from ge_dialect.tools.runtime.compare import EXACT, Tolerance, compare, tolerance_of
from tests.plan_texts import CHAIN, FORK, M4, X, Y, launch, module_of, output, placed, stream

FORK_C, FORK_D = np.maximum(X + Y, 0), X + Y + X


@pytest.fixture(scope="module")
def om(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two streams, outputs `c` and `d`."""
    path = str(tmp_path_factory.mktemp("om") / "fork.om")
    write_plan(module_of(FORK), path)
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Files of inputs and references."""
    made: dict[str, dict[str, Any]] = {
        "plain": {"x": X, "y": Y},
        "both": {"input.x": X, "input.y": Y, "output.c": FORK_C, "output.d": FORK_D},
        "off": {"c": FORK_C, "d": FORK_D + np.array([0, 0, 1, 0], np.float32)},
        "one": {"x": X},
        "twice": {"x": X, "input.x": X, "y": Y},
        "unknown": {"x": X, "y": Y, "z": X},
        "wide": {"x": X.astype(np.float64), "y": Y},
        "pickled": {"x": np.array([{}, 1, 2, 3], object), "y": Y},
    }
    paths = {name: str(tmp_path / f"{name}.npz") for name in made}
    for name, arrays in made.items():
        np.savez(paths[name], **arrays)
    paths["array"] = str(tmp_path / "array.npy")
    np.save(paths["array"], X)
    paths["out"] = str(tmp_path / "out.npz")
    return paths


def run(*args: str) -> int:
    try:
        return run_tool("ge-run", main_with, args)
    except SystemExit as error:  # argparse
        assert isinstance(error.code, int)
        return error.code


@pytest.mark.parametrize("name", ["plain", "both"])
def test_outputs_are_computed_from_the_file_alone(om: str, files: dict[str, str], name: str):
    assert run(om, "--inputs", files[name], "--outputs", files["out"]) == 0
    with np.load(files["out"]) as found:
        assert found.files == ["c", "d"]
        np.testing.assert_array_equal(found["c"], FORK_C)
        np.testing.assert_array_equal(found["d"], FORK_D)
    first = Path(files["out"]).read_bytes()
    extra = ("--schedule-seed", "3", "--poison")
    assert run(om, "--inputs", files[name], "--outputs", files["out"], *extra) == 0
    assert Path(files["out"]).read_bytes() == first


def test_outputs_are_compared(om: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]):
    both = files["both"]
    assert run(om, "--inputs", both, "--compare", both) == 0
    assert capsys.readouterr().out == (
        "output 'c': max abs diff 0, max rel diff 0, ok\n"
        "output 'd': max abs diff 0, max rel diff 0, ok\n"
    )
    off = ("--inputs", both, "--compare", files["off"])
    assert run(om, *off, "--outputs", files["out"]) == 1
    assert "output 'd': max abs diff 1, max rel diff 0.0" in (text := capsys.readouterr().out)
    assert text.endswith("FAIL, 1 of 4 elements differ\n")
    assert Path(files["out"]).exists()
    assert run(om, *off, "--atol", "0.1") == 0


def test_weights_come_from_the_file(tmp_path: Path):
    source = tmp_path / "weights.bin"
    source.write_bytes(Y.tobytes())
    plan = "\n".join(
        (
            placed(192, ("%b", 128)),
            '%weights = ge_exec.arena "weights" tier <hbm> size 512 lower_bound 512',
            f'%w = ge_exec.weight <"w", "{source}", 0, 16> in %weights offset 0 : {M4}',
            stream(0, launch(0, "sub", "%x, %w", "%b")),
            output("z", "%b"),
        )
    )
    path = str(tmp_path / "w.om")
    write_plan(module_of(plan), path)
    source.unlink()
    out = str(tmp_path / "out.npz")
    np.savez(tmp_path / "in.npz", x=X, y=Y)
    assert run(path, "--inputs", str(tmp_path / "in.npz"), "--outputs", out, "--poison") == 0
    with np.load(out) as found:
        np.testing.assert_array_equal(found["z"], X - Y)


def test_types_that_numpy_files_cannot_name_go_through_as_raw_bytes(tmp_path: Path):
    import ml_dtypes

    wide = 'memref<3xbf16, "hbm">'
    plan = f"""
%work = ge_exec.arena "work" tier <hbm> size 64 lower_bound 0
%x = ge_exec.input "x" in %work offset 0 : {wide}
%b = ge_exec.buffer in %work offset 32 : {wide}
ge_exec.stream 0 {{
  ge_exec.copy 0 %x to %b : {wide} to {wide}
}}
ge_exec.output "z" %b : {wide}"""
    om, out = str(tmp_path / "b.om"), str(tmp_path / "out.npz")
    write_plan(module_of(plan), om)
    values = np.array([1, -2.5, 300], ml_dtypes.bfloat16)
    np.savez(tmp_path / "in.npz", x=values)
    np.savez(tmp_path / "ref.npz", z=values.astype(np.float32))
    given = (om, "--inputs", str(tmp_path / "in.npz"))
    assert run(*given, "--outputs", out) == 0
    with np.load(out) as found:
        assert found["z"].view(ml_dtypes.bfloat16).tolist() == values.tolist()
    assert run(*given, "--compare", out) == 0
    assert run(*given, "--compare", str(tmp_path / "ref.npz"), "--rtol", "0", "--atol", "0") == 0


def test_ports_are_listed(om: str, capsys: pytest.CaptureFixture[str]):
    assert run(om, "--print-inputs") == 0
    assert capsys.readouterr().out == (
        "input 'x' float32[4]\ninput 'y' float32[4]\noutput 'c' float32[4]\noutput 'd' float32[4]\n"
    )


def test_random_inputs_fill_in_what_is_missing(om: str, files: dict[str, str]):
    results: list[list[float]] = []
    for extra in (("0",), ("0",), ("1",), ("0", "--inputs", files["plain"])):
        assert run(om, "--outputs", files["out"], "--random-inputs", *extra) == 0
        with np.load(files["out"]) as found:
            results.append(found["d"].tolist())
    assert results[0] == results[1] != results[2]
    assert results[3] == FORK_D.tolist()


def test_a_profile_names_every_task(
    om: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
):
    assert run(om, "--inputs", files["plain"], "--profile") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("4 tasks, ")
    assert sorted(line.split("task ")[1] for line in lines[3:]) == [
        "0 add",
        "1 neg",
        "2 relu",
        "3 sub",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "GE0801: 2 of 2 inputs are missing: 'x' float32[4], 'y' float32[4];"),
        (("--inputs", "one"), "GE0801: 1 of 2 inputs are missing: 'y' float32[4];"),
        (("--inputs", "unknown"), "GE0802: unknown input 'z'; the inputs of the model are"),
        (("--inputs", "twice"), "GE0802: input 'x' is given twice, as 'x' and as 'input.x'"),
        (("--inputs", "wide"), "GE0803: input 'x': expected float32[4], got float64[4]; convert"),
        (("--inputs", "array"), "is no .npz file; write it with numpy.savez"),
        (("--inputs", "pickled"), "GE0805: 'x' in "),
        (("--inputs", "/nowhere/in.npz"), "GE0101: cannot read '/nowhere/in.npz'"),
        (("--inputs", "plain", "--compare", "one"), "lacks 2 of 2 outputs: 'c' float32[4], 'd'"),
        (("--inputs", "plain", "--outputs", "/nowhere/out.npz"), "GE0103: cannot write"),
    ],
)
def test_wrong_files_are_one_line(
    om: str,
    files: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    args: tuple[str, ...],
    message: str,
):
    assert run(om, *(files.get(arg, arg) for arg in args)) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("ge-run: error: GE0") and captured.err.count("\n") == 1
    assert captured.out == ""


def test_damaged_members_are_refused(
    om: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
):
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
    for data in (b"", b"PK", header, header.ljust(127) + b"\n", header.ljust(127) + b"\n12345678"):
        with zipfile.ZipFile(files["out"], "w") as archive:
            archive.writestr("x.npy", data)
            archive.writestr("y.npy", data)
        assert run(om, "--inputs", files["out"]) == 1
        error = capsys.readouterr().err
        assert "GE0804: 'x.npy' in" in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--poisson",), "GE0105: unknown argument '--poisson'; did you mean '--poison'?"),
        (("--random_inputs=3",), "did you mean '--random-inputs'?"),
        (("--rtol", "1"), "--rtol and --atol need --compare"),
        (("--compare", "x", "--atol", "-1"), "expected a number from 0 on, such as 1e-3, got '-1'"),
        (("--schedule-seed", "x"), "expected a number from 0 on, got 'x'"),
    ],
)
def test_wrong_arguments_are_one_line(
    capsys: pytest.CaptureFixture[str], args: tuple[str, ...], message: str
):
    assert run("m.om", *args) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_what_is_no_compiled_model_is_one_line(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
):
    for path in (files["plain"], "/nowhere/m.om"):
        assert run(path) == 1
        error = capsys.readouterr().err
        assert error.startswith("ge-run: error: GE06") and error.count("\n") == 1


def test_the_tool_runs_as_a_program_and_help_loads_no_numpy(root: Path, tmp_path: Path):
    path = str(tmp_path / "chain.om")
    write_plan(module_of(CHAIN), path)
    code = (
        "import sys\nfrom ge_dialect.tools.ge_run import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print('numpy' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(root)}
    for args, loaded in ((["--help"], "False"), ([path, "--random-inputs", "0"], "True")):
        command = [sys.executable, "-c", code, *args]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == loaded
        assert done.stderr == ""


def test_comparison_follows_its_formula():
    want = np.array([100, 1, np.nan, np.inf], np.float32)
    assert compare(want, want, EXACT).ok
    near = np.array([100.05, 1.05, np.nan, np.inf], np.float32)
    assert compare(near, want, Tolerance(0, 1e-3)).ok  # 1e-3 of the largest, 100
    assert compare(near, want, Tolerance(1e-3, 0)).wrong == 1
    for value in (np.nan, np.inf, -np.inf):
        bad = np.array([value, 1, np.nan, np.inf], np.float32)
        assert compare(bad, want, Tolerance(1, 1)).wrong == 1
    assert compare(want, np.array([100, 1, 0, -np.inf], np.float32), Tolerance(1, 1)).wrong == 2
    assert compare(np.zeros((0, 3)), np.zeros((0, 3)), EXACT).ok


def test_integers_and_strings_are_compared_exactly():
    large = np.array([2**62, 1])
    assert compare(large, large + np.array([1, 0]), tolerance_of(large.dtype)).wrong == 1
    assert compare(large, large + 1, tolerance_of(large.dtype, atol=1)).ok
    words = np.array(["a", "b"], object)
    assert compare(words, np.array(["a", "c"]), tolerance_of(words.dtype, atol=9)).wrong == 1
    assert tolerance_of(np.dtype(bool), rtol=1) == EXACT
