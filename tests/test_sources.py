"""House rules that no linter knows: layers, sizes, files that stand alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("ge_dialect", "passes", "lowering", "tools")
SOURCES = sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in SOURCES]

MAX_FILE = 400
MAX_BODY = 40

# The lazy factories of the universe name passes of the layers above.
ABOVE = {"ge_dialect/universe.py"}


def layer_of(module: str) -> int:
    """The index of the layer that a dotted module name of ours belongs to, or -1."""
    parts = module.split(".")
    if parts[0] != "ge_dialect":
        return -1
    return LAYERS.index(parts[1]) if len(parts) > 1 and parts[1] in LAYERS[1:] else 0


def module_level_imports(tree: ast.Module) -> Iterator[str]:
    """Modules that are imported when the module is, those for checkers left out."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        match waiting.pop():
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module)):
                yield module
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=other):
                waiting += other
            case ast.If(body=body, orelse=other):
                waiting += body + other
            case ast.Try(body=body, handlers=handlers):
                waiting += body + [line for handler in handlers for line in handler.body]
            case _:
                pass


@pytest.mark.parametrize("name", NAMES)
def test_imports_point_to_lower_layers(name: str):
    own = LAYERS.index(Path(name).parts[0])
    if name in ABOVE:
        return
    for module in module_level_imports(ast.parse((ROOT / name).read_text())):
        assert layer_of(module) <= own, f"{name} imports {module}"


@pytest.mark.parametrize("name", NAMES)
def test_files_and_functions_are_short(name: str):
    text = (ROOT / name).read_text()
    tree = ast.parse(text)
    assert len(text.splitlines()) <= MAX_FILE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            assert length <= MAX_BODY, f"the body of '{node.name}' takes {length} lines"


@pytest.mark.parametrize("name", NAMES)
def test_public_code_is_documented(name: str):
    tree = ast.parse((ROOT / name).read_text())
    assert ast.get_docstring(tree), "the module has no docstring"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"'{node.name}' has no docstring"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_to_do(name: str):
    text = (ROOT / name).read_text()
    for mark in ("TODO", "FIXME", "XXX", "NotImplementedError", "type: ignore", "../shared"):
        assert mark not in text, mark
