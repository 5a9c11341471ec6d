"""What other optimisers and compilers leave of the zoo's models: kernels, and bytes moved.

Figures of tools that write ONNX are measured with the zoo's own `peers.py`, whose file is read
here; for what was not measured, and for compilers, those of the zoo's description are cited. Both
count as `traffic.py` does: each operand and each result of each kernel, once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ORIGINAL = "original"
"""The graph as the exporter wrote it."""

TOOLS = (
    *("ort-basic", "ort-extended", "ort-all", "onnxsim", "onnxslim", "onnxoptimizer"),
    *("onnxscript", "ortfusions", "ort-transformers", "openvino", "tvm", "iree"),
)
_CELL = re.compile(r"(?:\d+/)?(\d+)/([\d.]+(?:e[+]\d+)?)")
_TABLES = {"small": ("\n### Small zoo", 1e3), "medium": ("\n### Medium: published", 1e6)}
_WRONG = 1e-3
"""Beyond this difference from the reference, over its magnitude, a result is wrong."""


@dataclass(frozen=True)
class Figure:
    """One graph.

    Attributes:
        kernels: Nodes that compute or move.
        moved: Bytes; those of the description have three digits.
    """

    kernels: int
    moved: float


Figures = dict[str, dict[str, Figure]]
"""By model, then by tool."""


def cited(facts: Path, table: str) -> Figures:
    """Returns the figures of the zoo's description; empty where there is no such file.

    A tool whose result was wrong has none.

    Args:
        facts: The description, in Markdown.
        table: `small` or `medium`.
    """
    found: Figures = {}
    if not facts.is_file():
        return found
    title, unit = _TABLES[table]
    text = facts.read_text().partition(title)[2]
    for cells in _rows(text.partition("\n### ")[0]):
        figures = zip((ORIGINAL, *TOOLS), cells[1:], strict=False)
        found[cells[0]] = {
            tool: Figure(int(match[1]), float(match[2]) * unit)
            for tool, cell in figures
            if (match := _CELL.fullmatch(cell)) is not None
        }
    return found


def _rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) > len(TOOLS) and re.fullmatch(r"\d+/\d+/\S+", cells[1]):
            yield cells


def measured(file: Path) -> Figures:
    """Returns the figures that `peers.py` wrote; empty where there is no such file.

    A tool that failed has none, nor has one whose graph does not run or gives a wrong result. Of
    several runs the last counts.
    """
    found: Figures = {}
    lines = file.read_text().splitlines() if file.is_file() else []
    for line in lines:
        entry = json.loads(line)
        differs = entry.get("differs", 0.0)
        failed = "moved" not in entry or "error" in entry or "run_error" in entry
        if failed or differs is None or differs > _WRONG:
            continue
        figure = Figure(entry["kernels"], entry["moved"])
        found.setdefault(entry["model"], {})[entry["tool"]] = figure
    return found


def figures_of(model: str, *sources: Mapping[str, Mapping[str, Figure]]) -> dict[str, Figure]:
    """Returns the figures of a model by tool; of several sources the last counts."""
    found: dict[str, Figure] = {}
    for source in sources:
        found.update(source.get(model, {}))
    return found


def best_of(figures: Mapping[str, Figure]) -> tuple[str, Figure] | None:
    """Returns the peer that moves least, and what it moves; None where there is none."""
    peers = [(figure.moved, tool) for tool, figure in figures.items() if tool != ORIGINAL]
    if not peers:
        return None
    tool = min(peers)[1]
    return tool, figures[tool]
