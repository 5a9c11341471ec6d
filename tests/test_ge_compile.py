"""`ge-compile`: its arguments, those of ATC, and what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.error_codes import CODES
from ge_dialect.lowering.om.decode import read_plan
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools.atc import UNSUPPORTED, check_unsupported
from ge_dialect.tools.compile_arguments import dashed, make_parser, parse, without_unsupported
from ge_dialect.tools.ge_compile import main, run

GRAPH = """
func.func @main(%x: tensor<4xf32> {ge.name = "x"}) -> (tensor<4xf32> {ge.name = "y"}) {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "m.mlir"
    path.write_text(GRAPH)
    return str(path)


def refused(*argv: str) -> GEError:
    with pytest.raises(GEError) as raised:
        parse(argv)
    return raised.value


def test_underscores_are_dashes_in_flags_only():
    assert dashed(["--input_shape=a_b:1", "--soc_version", "a_b"]) == [
        "--input-shape=a_b:1",
        "--soc-version",
        "a_b",
    ]


def test_a_command_line_of_atc_works(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    output = tmp_path / "out"
    argv = [f"--model={model}", f"--output={output}", "--framework=5", "--log=error"]
    argv += ["--soc_version=Ascend310P3", "--precision_mode_v2=origin", "--mode", "0"]
    assert run([*argv, "--display_model_info=1"]) == 0
    assert target_of(read_plan(f"{output}.om").module).name == "Ascend310P3"
    lines = capsys.readouterr().out.splitlines()
    info = lines[lines.index("============ Display Model Info start ============") :]
    assert info[1] == f"Original Atc command line: ge-compile {' '.join(argv)}" + (
        " --display_model_info=1"
    )
    assert "soc_version[Ascend310P3], framework_type[5]." in info[2]
    assert "weight_size[0 B], stream_num[1], event_num[0]." in info[3]
    sizes = re.findall(r"(\w+)_size\[(\d+) B\]", info[4])
    assert [name for name, size in sizes if int(size)] == ["modeldef", "task_info"]
    assert info[5] == "============ Display Model Info end   ============"


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["--display-model-info"], True),
        (["--display-model-info", "1"], True),
        (["--display_model_info=0"], False),
        ([], False),
    ],
)
def test_model_info_is_printed_where_asked_for(
    argv: list[str], shown: bool, model: str, capsys: pytest.CaptureFixture[str]
):
    assert run([*argv, model, "-q", "-o", f"{model}.om"]) == 0
    assert ("Display Model Info" in capsys.readouterr().out) is shown


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (["--dynamic_dims=1;2"], "'--dynamic-dims=1;2' of ATC is not supported", "--input-shape"),
        (["--dynamic_dims", "1;2"], "'--dynamic-dims=1;2' of ATC", "--input-shape"),
        (["--precision-mode=force_fp32"], "is not supported (only must_keep_", "-mode-v2"),
    ],
)
def test_what_atc_can_and_we_cannot_is_said(argv: list[str], message: str, hint: str):
    error = refused("m.onnx", *argv)
    assert error.code == "GE0106"
    assert message in error.message
    assert error.hint is not None
    assert hint in error.hint


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("--imput_shape=a:1", "did you mean '--input-shape'?"),
        ("--dynamic_dim=1", "did you mean '--dynamic-dims'?"),
        ("--frobnicate", "see ge-compile --help"),
        ("another.onnx", "see ge-compile --help"),
    ],
)
def test_unknown_arguments_suggest_the_nearest(argument: str, hint: str):
    error = refused("m.onnx", argument)
    assert (error.code, error.hint) == ("GE0105", hint)
    assert "unknown argument" in error.message


@pytest.mark.parametrize(
    "argv",
    [
        ["-O", "7"],
        ["-o"],
        ["--streams=two"],
        ["--framework=x"],
        ["--precision_mode_v2=mixed_hif8"],
    ],
)
def test_wrong_values_have_a_code(argv: list[str]):
    assert refused("m.onnx", *argv).code == "GE0105"


def test_an_error_is_one_line_and_exit_code_1(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as raised:
        main(["m.onnx", "--dynamic_dims=1;2"])
    assert raised.value.code == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ge-compile: error: GE0106: ")
    assert captured.err.count("\n") == 1


def test_unsupported_options_are_none_of_ours():
    ours = {option for action in make_parser()._actions for option in action.option_strings}
    assert not ours & UNSUPPORTED.keys()
    assert all(name == name.replace("_", "-") for name in UNSUPPORTED)
    assert list(UNSUPPORTED) == sorted(UNSUPPORTED)
    assert "GE0106" in CODES


@pytest.mark.parametrize("name", list(UNSUPPORTED))
def test_harmless_values_are_accepted_and_others_are_not(name: str):
    for value in UNSUPPORTED[name].harmless:
        assert without_unsupported([f"{name}={value}", "m"]) == ["m"]
        assert without_unsupported([name, value, "m"]) == ["m"]
    with pytest.raises(GEError, match=re.escape(name)):
        check_unsupported(name, "something else")


def test_mode_6_prints_what_a_file_holds(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = str(tmp_path / "m.om")
    assert run([model, "-q", "-o", path]) == 0
    assert run(["--mode=6", f"--om={path}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "============ Display Model Info start ============"
    assert lines[1] == "Original Atc command line: unknown"
    assert "stream_num[1]" in lines[3]


@pytest.mark.parametrize("argv", [["--mode=6"], ["--om=m.om"], ["--mode=6", "m.onnx"]])
def test_mode_6_needs_a_file(argv: list[str]):
    with pytest.raises(GEError, match="GE0105: expected --mode=6 with --om=FILE"):
        run(argv)
