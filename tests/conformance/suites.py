"""ONNX's own backend tests, each as a function that runs one through the whole pipeline."""

from __future__ import annotations

import contextlib
import io
import os
import unittest
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto
from onnx.backend.test import BackendTest

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.backend import GEBackend, GERep
from tests.conformance.exclusions import EXCLUSIONS, Exclusion

SUITES = {
    "OnnxBackendNodeModelTest": "node",
    "OnnxBackendSimpleModelTest": "simple",
    "OnnxBackendPyTorchConvertedModelTest": "pytorch-converted",
    "OnnxBackendPyTorchOperatorModelTest": "pytorch-operator",
    "OnnxBackendRealModelTest": "real",
}
"""How the documentation calls the test cases of ONNX's runner."""


@dataclass(frozen=True)
class Test:
    """One test of ONNX.

    Attributes:
        suite: A value of `SUITES`.
        name: As ONNX calls it, without the device.
        run: Raises where the test fails.
    """

    suite: str
    name: str
    run: Callable[[], None]


@dataclass(frozen=True)
class Outcome:
    """What came of a test.

    Attributes:
        suite: A value of `SUITES`.
        name: Of the test.
        status: "passed", "excluded" or "failed".
        why: What happened, where it did not just pass; one line.
    """

    suite: str
    name: str
    status: str
    why: str = ""


class _PoisonedRep(GERep):
    """Overwrites dead bytes, so that a wrong lifetime shows."""

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        return super().run(inputs, poison=True, **kwargs)


class _Backend(GEBackend):
    rep = _PoisonedRep

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        return True  # so that nothing is skipped


class _Runner(BackendTest):
    """ONNX's runner, which may leave values alone."""

    values = True

    @classmethod
    def assert_similar_outputs(
        cls,
        ref_outputs: Sequence[Any],
        outputs: Sequence[Any],
        rtol: float,
        atol: float,
        model_dir: str | None = None,
    ) -> None:
        if isinstance(ref_outputs, np.ndarray):  # an item of a sequence, not a list of outputs
            ref_outputs, outputs = [ref_outputs], [outputs]
        if cls.values:
            super().assert_similar_outputs(ref_outputs, outputs, rtol, atol, model_dir)
            return
        found = [(output.shape, output.dtype) for output in outputs]
        expected = [(output.shape, output.dtype) for output in ref_outputs]
        np.testing.assert_equal(found, expected)


def collect(home: Path) -> list[Test]:
    """Returns all tests that run on a CPU; takes ten seconds.

    Args:
        home: A folder for what the tests write.
    """
    os.environ["ONNX_HOME"] = str(home)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        cases: Mapping[str, type[unittest.TestCase]] = _Runner(_Backend, __name__).test_cases
    return [
        Test(suite, name.removesuffix("_cpu"), getattr(cases[case](name), name))
        for case, suite in SUITES.items()
        for name in sorted(vars(cases[case]))
        if name.endswith("_cpu")
    ]


def exclusion_of(name: str) -> Exclusion | None:
    """Returns why a test is left out, or None where it is not."""
    found = [exclusion for exclusion in EXCLUSIONS if exclusion.matches(name)]
    assert len(found) <= 1, f"'{name}' is excluded twice"
    return found[0] if found else None


def check(test: Test) -> Outcome:
    """Runs one test; one that is excluded has to fail as its exclusion says."""
    exclusion = exclusion_of(test.name)
    if exclusion is not None and exclusion.random:
        error = _attempt(test, values=False)
        status = "excluded" if error is None else "failed"
        return Outcome(test.suite, test.name, status, _line(error))
    error = _attempt(test, values=True)
    if exclusion is None:
        status = "passed" if error is None else "failed"
        return Outcome(test.suite, test.name, status, _line(error))
    if error is None:
        return Outcome(test.suite, test.name, "failed", "is excluded, but passes")
    status = "excluded" if isinstance(error, GEError) else "failed"
    return Outcome(test.suite, test.name, status, _line(error))


def _attempt(test: Test, *, values: bool) -> Exception | None:
    _Runner.values = values
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            test.run()
    except unittest.SkipTest as error:
        return AssertionError(f"was skipped: {error}")
    except Exception as error:  # whatever the test, the compiler or ONNX raises
        return error
    return None


def _line(error: Exception | None) -> str:
    return "" if error is None else f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
