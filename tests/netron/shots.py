"""Screenshots of compiled models in Netron's own page, by a headless Chromium.

    python -m tests.netron.shots [--zoo DIR] [--output DIR] [MODEL ...]

Compiles models of the zoo and writes `MODEL.png`, the graph with the side bar of one kernel, for
each. Needs Chromium (`apt-get install chromium`, or the path of one in `$CHROMIUM`) and Netron's
wheel, which pip fetches once. The page talks to nobody but this process. The exit status is 1
where Netron shows an error instead of the graph.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import quote

from ge_dialect.lowering.om.file import read_om
from ge_dialect.tools.api import compile
from tests.netron.javascript import NETRON, javascript
from tests.wheels import ROOT

MODELS = ("flash-block.ts-static", "llama-layer.ts-static", "resnet50.ts-static")
ZOO = ROOT.parent / "shared" / "zoo" / "small"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FRAME = Path(__file__).resolve().parent / "frame.html"
WIDTH, HEIGHT = 1500, 1100

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    f"--window-size={WIDTH},{HEIGHT}",
)
PATIENCE = 60
"""Seconds that a page may take."""


@dataclass
class Page:
    """What a browser shows of a file.

    Attributes:
        message: The error that Netron shows, "" where it shows none.
        nodes: Names of the nodes of the graph.
        kinds: What is written on each of them.
        edges: What is written on the edges: shapes.
        sidebar: The text of the side bar.
    """

    message: str = "the page did not come"
    nodes: list[str] = field(default_factory=list[str])
    kinds: list[str] = field(default_factory=list[str])
    edges: list[str] = field(default_factory=list[str])
    sidebar: str = ""


def browser() -> str | None:
    """Returns the path of a Chromium, or None where there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


class Server(ThreadingHTTPServer):
    """Serves Netron's page in a frame of ours, with one file open.

    Args:
        folder: Netron's JavaScript.
        file: An `.om` file.
    """

    def __init__(self, folder: Path, file: Path):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.file = folder, file
        self.page = Page()
        self.drawn = Event()


class Handler(SimpleHTTPRequestHandler):
    """Answers the browser."""

    def __init__(self, request: Any, address: Any, server: Server):
        self._owner = server
        super().__init__(request, address, server, directory=str(server.folder))

    def do_GET(self) -> None:
        """Sends a file of Netron, or of ours; `/ready` once the page has told what it shows."""
        match self.path.partition("?")[0]:
            case "/":
                self._send(FRAME.read_bytes(), "text/html")
            case "/index.html":
                self._send(_index(self._owner).encode(), "text/html")
            case "/data/model.om":
                self._send(self._owner.file.read_bytes(), "application/octet-stream")
            case "/ready":
                self._owner.drawn.wait(PATIENCE)
                self._send(b"", "image/png")
            case _:
                super().do_GET()

    def do_POST(self) -> None:
        """Takes what the page shows."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._owner.page = Page(**json.loads(body))
        self._send(b"", "text/plain")
        self._owner.drawn.set()

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "consent=1")  # else Netron asks before it opens anything
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing."""


def _index(server: Server) -> str:
    """Returns Netron's page, told to open the file; version 0.0.0 sends no telemetry."""
    meta = "".join(
        f'<meta name="{name}" content="{content}">\n'
        for name, content in (
            ("type", "Python"),
            ("version", "0.0.0"),
            ("file", "/data/model.om"),
            ("identifier", server.file.name),
        )
    )
    text = (server.folder / "index.html").read_text()
    return re.sub(r'<meta name="version" content=".*">\n?', lambda _: meta, text)


def look(folder: Path, file: Path, shot: Path, *, node: str = "") -> Page:
    """Returns what a browser shows of a file, and takes its picture.

    Args:
        folder: Netron's JavaScript.
        file: An `.om` file.
        shot: The `.png` file to write.
        node: Name of a node whose side bar is opened.
    """
    found = browser()
    assert found is not None
    with Server(folder, file) as server, tempfile.TemporaryDirectory() as profile:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/#{quote(node)}"
        command = [found, *FLAGS, f"--user-data-dir={profile}", f"--screenshot={shot}", url]
        subprocess.run(command, capture_output=True, check=True, timeout=2 * PATIENCE)
        server.shutdown()
        return server.page


def first_kernel(path: Path) -> str:
    """Returns the name of the first op of a file that runs a kernel."""
    with read_om(path) as om:
        return next(op.name for op in om.model.graphs[0].ops if "kernel" in op.attrs)


def main() -> None:
    """Writes the screenshots."""
    parser = argparse.ArgumentParser(description="Screenshots of compiled models in Netron.")
    parser.add_argument("models", nargs="*", default=MODELS, help="names of models of the zoo")
    parser.add_argument("--zoo", type=Path, default=Path(os.environ.get("GE_ZOO", ZOO)))
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "netron")
    args = parser.parse_args()
    if browser() is None:
        sys.exit("no Chromium found: apt-get install chromium, or set CHROMIUM to its path")
    if (folder := javascript()) is None:
        sys.exit(f"pip cannot fetch netron {NETRON}")
    args.output.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in args.models:
        file, shot = args.output / f"{name}.om", args.output / f"{name}.png"
        compile(args.zoo / name / "model.onnx").save(file)
        page = look(folder, file, shot, node=first_kernel(file))
        failed |= bool(page.message) or not page.nodes
        print(f"{shot}: {len(page.nodes)} nodes{', ' + page.message if page.message else ''}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
