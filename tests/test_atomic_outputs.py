"""Outputs are there as a whole or not at all: full disks, kills, races, read-only folders."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.decode import read_plan
from ge_dialect.tools.check.reproducer import write_reproducer
from ge_dialect.tools.cli import write_atomically
from ge_dialect.tools.runtime.npz import write_npz

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "examples" / "bert_tiny.onnx"
ARRAYS = ROOT / "examples" / "bert_tiny.npz"
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}

COMPILE = ["-m", "ge_dialect.tools.ge_compile", str(MODEL), "-q"]
OPT = ["-m", "ge_dialect.tools.ge_opt", str(MODEL)]

WRITERS: dict[str, tuple[str, list[str]]] = {
    "om": ("out.om", [*COMPILE, "-o", "out.om"]),
    "om by ge-opt": ("out.om", [*OPT, "-p", "ge-optimize,ge-lower", "-t", "om", "-o", "out.om"]),
    "mlir": ("out.mlir", [*OPT, "-o", "out.mlir"]),
}
OLD = b"what was there before"


def run(arguments: Sequence[str], folder: Path, limit: int | None = None) -> tuple[int, str]:
    """Exit code and stderr of a tool; `limit` is the size in bytes that a file may have."""

    def prepare() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-B", *arguments],
        cwd=folder,
        env=ENV,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=prepare,
    )
    return done.returncode, done.stderr


def is_one_error(stderr: str, code: str) -> bool:
    return code in stderr and "Traceback" not in stderr and stderr.count("\n") == 1


@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_fills_up_leaves_what_was_there(name: str, tmp_path: Path):
    output, arguments = WRITERS[name]
    (tmp_path / output).write_bytes(OLD)
    code, stderr = run(arguments, tmp_path, limit=5000)
    assert code == 1
    assert is_one_error(stderr, "GE0607" if output.endswith(".om") else "GE0103")
    assert "too large" in stderr.lower()
    assert os.listdir(tmp_path) == [output]
    assert (tmp_path / output).read_bytes() == OLD


def test_a_summary_that_does_not_fit_leaves_nothing(tmp_path: Path):
    code, stderr = run([*COMPILE, "-o", "/dev/null/no", "--summary", "s.json"], tmp_path)
    assert code == 1
    assert is_one_error(stderr, "GE0103")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("what", ["npz", "summary", "reproducer"])
def test_other_outputs_are_all_or_nothing(what: str, tmp_path: Path):
    path = tmp_path / what
    path.write_bytes(OLD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(GEError, match="GE0103") as caught:
            match what:
                case "npz":
                    write_npz(str(path), {"x": np.zeros(1000)})
                case "summary":
                    write_atomically(str(path), bytes(5000))
                case _:
                    write_reproducer(str(path), "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(path) in caught.value.message
    assert os.listdir(tmp_path) == [what]
    assert path.read_bytes() == OLD


def test_an_interrupt_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupt(source: str, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(str(tmp_path / "out"), b"data")
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomically(str(tmp_path / "link"), b"data")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"data"


# Of Linux: what is not whole has no name that could be left behind.
UNNAMED = hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir()

# A compilation that stops in the middle of its file until somebody ends it.
STALLED = f"""
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start us without
from ge_dialect.lowering.om import writer
from ge_dialect.tools import ge_compile

def stall(file, payload):
    file.write(b"half")
    file.flush()
    print("half", flush=True)
    time.sleep(300)

writer._write_payload = stall
sys.argv = ["ge-compile", {str(MODEL)!r}, "-q", "-o", "out.om"]
ge_compile.main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_compilation_that_is_ended_leaves_what_was_there(number: signal.Signals, tmp_path: Path):
    (tmp_path / "out.om").write_bytes(OLD)
    with subprocess.Popen(
        [sys.executable, "-B", "-c", STALLED],
        cwd=tmp_path,
        env=ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"half\n"
        process.send_signal(number)
        process.wait(60)
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode != 0
    assert (tmp_path / "out.om").read_bytes() == OLD
    if number != signal.SIGKILL or UNNAMED:  # else nobody can do anything after
        assert os.listdir(tmp_path) == ["out.om"]
    assert run([*COMPILE, "-o", "out.om"], tmp_path)[0] == 0
    with read_plan(str(tmp_path / "out.om")).file as om:
        assert om.container.checked


def test_compilations_to_one_path_at_once_leave_one_whole_file(tmp_path: Path):
    path = tmp_path / "out.om"
    arguments = [sys.executable, "-B", *COMPILE, "-o", str(path)]
    processes = [subprocess.Popen([*arguments, "--streams", str(n)], env=ENV) for n in (1, 2, 1, 2)]
    reads = 0
    while any(process.poll() is None for process in processes):
        if path.exists():  # whatever is there is whole, at any time
            read_plan(str(path)).file.container.close()
            reads += 1
        time.sleep(0.01)
    assert [process.returncode for process in processes] == [0] * 4
    assert os.listdir(tmp_path) == ["out.om"]
    single = {}
    for streams in (1, 2):
        assert run([*COMPILE, "-o", "one.om", "--streams", str(streams)], tmp_path)[0] == 0
        single[streams] = (tmp_path / "one.om").read_bytes()
    assert path.read_bytes() in single.values()


def mounted(options: str, command: Sequence[str], folder: Path) -> tuple[int, str]:
    """Runs a tool with a file system of its own at `folder`, which is gone afterwards."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root may mount a file system")
    words = " ".join(f"'{word}'" for word in (sys.executable, "-B", *command))
    script = f"mount -t tmpfs -o {options} tmpfs '{folder}' || exit 99; cd '{folder}' && {words}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f"{script}; code=$?; ls -A >&2; exit $code"],
        env=ENV,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_system_that_is_full(name: str, tmp_path: Path):
    code, stderr = mounted("size=16k", WRITERS[name][1], tmp_path)
    assert code == 1
    assert "no space left on device" in stderr.lower()
    assert is_one_error(stderr, "GE0")  # one line, and nothing that `ls` lists


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_system_that_is_read_only(name: str, tmp_path: Path):
    code, stderr = mounted("ro", WRITERS[name][1], tmp_path)
    assert code == 1
    assert "read-only file system" in stderr.lower()
    assert is_one_error(stderr, "GE0")


def test_outputs_of_a_run_are_all_or_nothing(tmp_path: Path):
    assert run([*COMPILE, "-o", "m.om"], tmp_path)[0] == 0
    (tmp_path / "out.npz").write_bytes(OLD)
    arguments = ["-m", "ge_dialect.tools.ge_run", "m.om", "--inputs", str(ARRAYS)]
    code, stderr = run([*arguments, "--outputs", "out.npz"], tmp_path, limit=1000)
    assert code == 1
    assert is_one_error(stderr, "GE0103")
    assert (tmp_path / "out.npz").read_bytes() == OLD
    assert sorted(os.listdir(tmp_path)) == ["m.om", "out.npz"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [["ge_opt", "model.mlir"], ["ge_opt", "--lint-rules"], ["ge_opt", "--explain", "GE0520"]],
)
def test_output_that_cannot_be_printed_is_one_line(
    tmp_path: Path, arguments: Sequence[str], buffered: str
):
    (tmp_path / "model.mlir").write_text("func.func @main() { func.return }")
    tool, *rest = arguments
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", f"ge_dialect.tools.{tool}", *rest],
            cwd=tmp_path,
            env={**ENV, "PYTHONUNBUFFERED": buffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    message = "error: GE0103: cannot write 'standard output': no space left on device"
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert message in done.stderr


def test_a_closed_output_is_no_traceback(tmp_path: Path):
    (tmp_path / "model.mlir").write_text("func.func @main() { func.return }")
    command = f"{sys.executable} -m ge_dialect.tools.ge_opt model.mlir >&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=ENV, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
