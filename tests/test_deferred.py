"""The tools load of `onnx` what they need, and end at once."""

from __future__ import annotations

import subprocess
import sys

START = "import sys\nfrom ge_dialect.tools.deferred import defer_onnx\ndefer_onnx()\nimport onnx\n"


def output_of(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", START + code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_message_classes_and_schemas_need_nothing_else() -> None:
    code = "import onnx.defs\nonnx.ModelProto(), onnx.defs.onnx_opset_version()\n"
    assert output_of(code + "print('onnx.helper' in sys.modules)") == "False"


def test_the_rest_is_loaded_when_it_is_asked_for() -> None:
    code = "p = onnx.TensorProto\nprint(onnx.helper.make_node('Relu', ['x'], ['y']).op_type)\n"
    code += "print(onnx.__version__ != '', type(onnx).__name__, onnx.TensorProto is p)"
    assert output_of(code).split() == ["Relu", "True", "module", "True"]


def test_importing_from_it_loads_it() -> None:
    assert output_of("from onnx import helper, load\nprint(callable(load))") == "True"


def test_the_exit_code_and_the_output_are_those_of_an_ordinary_end() -> None:
    code = "from ge_dialect.tools.cli import leave\nsys.stdout.write('text')\nleave(3)"
    command = [sys.executable, "-c", START + code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "text")
