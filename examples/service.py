"""A small service around a compiled model: JSON in, JSON out, one plan for all requests.

    python examples/service.py MODEL.om [--port 8000]

`GET /` tells the inputs and outputs, `POST /run` takes `{"inputs": {NAME: nested list}}` and
returns `{"outputs": {NAME: nested list}}`. What is wrong with a request is its answer, with the
code of the error; the service goes on. Requests run on threads of their own and share the plan.
"""

from __future__ import annotations

import argparse
import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.api import CompiledPlan, load

MAX_BODY = 64 << 20
"""Bytes of a request."""


class Service(ThreadingHTTPServer):
    """Serves one plan on this machine.

    Args:
        plan: Runs the requests.
        port: To listen on; 0 takes a free one.
    """

    daemon_threads = True

    def __init__(self, plan: CompiledPlan, port: int = 0):
        super().__init__(("127.0.0.1", port), Handler)
        self.plan = plan
        self.plan.executor  # noqa: B018  # verified now, and not by the first request


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    def do_GET(self) -> None:
        """Tells what the model takes and gives."""
        plan = self._plan()
        ports = {"inputs": plan.inputs, "outputs": plan.outputs}
        self._answer(
            HTTPStatus.OK, {side: [str(port) for port in found] for side, found in ports.items()}
        )

    def do_POST(self) -> None:
        """Runs the model."""
        try:
            outputs = self._plan().run(self._feeds())
        except GEError as error:
            self._answer(HTTPStatus.BAD_REQUEST, {"code": error.code, "error": str(error)})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self._answer(HTTPStatus.BAD_REQUEST, {"error": f"not a request: {error}"})
        else:
            found = {name: array.tolist() for name, array in outputs.items()}
            self._answer(HTTPStatus.OK, {"outputs": found})

    def _plan(self) -> CompiledPlan:
        assert isinstance(self.server, Service)
        return self.server.plan

    def _feeds(self) -> dict[str, Any]:
        """Returns the inputs of the request in the types that the plan takes."""
        size = int(self.headers.get("Content-Length", 0))
        if size > MAX_BODY:
            raise ValueError(f"{size} bytes are more than {MAX_BODY}")
        given = json.loads(self.rfile.read(size))["inputs"]
        dtypes = {port.name: port.dtype for port in self._plan().inputs}
        return {name: np.asarray(value, dtypes.get(name)) for name, value in given.items()}

    def _answer(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""


def main() -> None:
    """Serves a file until it is interrupted."""
    parser = argparse.ArgumentParser(description="Serve a compiled model.")
    parser.add_argument("model", help="an .om file")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    with Service(load(args.model), args.port) as service:
        print(f"listening on http://127.0.0.1:{service.server_port}")
        service.serve_forever()


if __name__ == "__main__":
    main()
