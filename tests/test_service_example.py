"""The example that embeds a plan in a service."""

from __future__ import annotations

import json
import runpy
import urllib.error
import urllib.request
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from ge_dialect.tools.api import compile, load


@pytest.fixture(scope="module")
def address(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Where the service listens."""
    path = tmp_path_factory.mktemp("service") / "m.om"
    compile(root / "examples" / "bert_tiny.onnx").save(path)
    service = runpy.run_path(str(root / "examples" / "service.py"))["Service"](load(path))
    thread = Thread(target=service.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{service.server_port}"
    service.shutdown()
    service.server_close()
    thread.join()


def ask(url: str, content: Any = None) -> tuple[int, Any]:
    data = None if content is None else json.dumps(content).encode()
    try:
        with urllib.request.urlopen(url, data, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_it_tells_what_the_model_takes(address: str):
    status, found = ask(address)
    assert status == 200
    assert any("input_ids" in text for text in found["inputs"])


def test_requests_at_once_get_their_own_answers(address: str, root: Path):
    with np.load(root / "examples" / "bert_tiny.npz") as io:
        sides = {key: io[key] for key in io.files}
    inputs = {k.removeprefix("input."): a for k, a in sides.items() if k.startswith("input.")}
    request = {"inputs": {name: array.tolist() for name, array in inputs.items()}}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, [f"{address}/run"] * 8, [request] * 8))
    for status, found in answers:
        assert status == 200
        for name, value in found["outputs"].items():
            np.testing.assert_allclose(value, sides[f"output.{name}"], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"inputs": {}}, "GE0801"),
        ({"inputs": {"nobody": [1]}}, "GE0801"),
        ({"inputs": {"input_ids": [[1, 2]]}}, "GE080"),
        ({"inputs": {"input_ids": "text"}}, "not a request"),
        ({}, "not a request"),
        ([1], "not a request"),
    ],
)
def test_a_wrong_request_is_told(address: str, request_: Any, text: str):
    status, found = ask(f"{address}/run", request_)
    assert status == 400
    assert text in found["error"]
    assert ask(address)[0] == 200  # it goes on
