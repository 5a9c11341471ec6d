"""The documentation says what is: pages in step, examples run, names exist."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
from xdsl.parser import Parser
from xdsl.passes import ModulePass, PassPipeline

from ge_dialect.error_codes import CODES
from ge_dialect.passes.pipelines import OptimizePipeline, PipelinePass
from ge_dialect.tools.api import compile, make_context
from ge_dialect.tools.atc import UNSUPPORTED
from ge_dialect.tools.compile_arguments import make_parser as compile_parser
from ge_dialect.tools.ge_run import make_parser as run_parser
from ge_dialect.universe import GE_UNIVERSE

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
TEXTS = {str(path.relative_to(ROOT)): path.read_text() for path in PAGES}
NAMES = sorted(TEXTS)

PASSES = {name: factory() for name, factory in GE_UNIVERSE.all_passes.items()}
WRITTEN_BY_THE_READER = {
    "passes/report_host_calls.py",
    "passes/fusion/library/activations.py",
    "tests/filecheck/passes/fuse_rules_activations.mlir",
}
"""Files that CONTRIBUTING.md shows how to make."""

NO_EXAMPLE = ("ge-set-target", "ge-verify-plan", "ge-verify-events")
"""Passes that leave the ops as they are."""

READERS_PASSES = {"ge-report-host-calls"}
OTHER_FLAGS = {
    *("--port", "--reference", "--work", "--repeat", "--check-prefix", "--markdown", "--write"),
    *("--all", "--peers", "--layers", "--root", "--models", "--tools", "--count", "--kind"),
    *("--quantized", "--frameworks", "--optimized", "--zoo"),
}
"""Of the benchmarks, of FileCheck and of programs of the tests."""

EXAMPLE = re.compile(r"```mlir\n(.*?)```\n\n`-p ([^`]*)` gives\n\n```mlir\n(.*?)```", re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*)\n((?:(?!```|\$ ).*\n)*)", TEXTS["README.md"], re.MULTILINE)


def section(page: str, title: str) -> str:
    """The part of a page under a heading of the second level."""
    found = re.search(rf"^## `?{re.escape(title)}`?\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    assert found is not None, f"there is no section '{title}'"
    return found.group(1)


def page_of(pass_class: type[ModulePass]) -> str:
    """The page that describes a pass."""
    return TEXTS["docs/pipelines.md" if issubclass(pass_class, PipelinePass) else "docs/passes.md"]


def rows(text: str) -> Iterator[list[str]]:
    """The cells of each row of tables whose first cell is code."""
    for line in text.splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def python(*arguments: str, cwd: Path = ROOT) -> str:
    """What Python prints, both streams."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_page_of_the_dialects_is_in_step() -> None:
    reference = runpy.run_path(str(ROOT / "scripts" / "write_dialect_docs.py"))["reference"]
    assert TEXTS["docs/dialects.md"] == reference(), "run make docs"


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_its_options_in_a_section(name: str) -> None:
    text = section(page_of(PASSES[name]), name)
    options = {cells[0].strip("`"): cells[1] for cells in rows(text) if len(cells) == 3}
    own = [field for field in fields(PASSES[name]) if field.name != "name"]
    assert sorted(options) == sorted(field.name.replace("_", "-") for field in own)
    for field in own:
        if isinstance(field.default, bool | int):
            said = options[field.name.replace("_", "-")]
            assert said == f"`{str(field.default).lower()}`"


@pytest.mark.parametrize("match", EXAMPLE.findall(TEXTS["docs/passes.md"]), ids=lambda m: m[1])
def test_examples_of_passes_run(match: tuple[str, str, str]) -> None:
    before, pipeline, after = match
    context = make_context()
    module = Parser(context, before).parse_module()
    PassPipeline.parse_spec(GE_UNIVERSE.all_passes, pipeline).apply(context, module)
    module.verify()
    wanted = Parser(context, after).parse_module()
    assert module.is_structurally_equivalent(wanted), str(module)


def test_every_pass_that_rewrites_has_an_example() -> None:
    for name, pass_class in PASSES.items():
        if name not in NO_EXAMPLE and not issubclass(pass_class, PipelinePass):
            assert EXAMPLE.search(section(TEXTS["docs/passes.md"], name)), name


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_levels_are_the_passes_that_the_page_lists(level: int) -> None:
    text = section(TEXTS["docs/pipelines.md"], "ge-optimize")
    lists = dict(re.findall(r"^\| (\d) \| (.*) \|$", text, re.M))
    listed = re.findall(r"`(ge-[a-z0-9-]+)`", lists[str(level)])
    row = lists[str(level)]
    while found := re.search(r"those of level (\d)", row):
        row = lists[found[1]]
        listed = re.findall(r"`(ge-[a-z0-9-]+)`", row) + listed
    assert listed == [pass_.name for pass_ in OptimizePipeline(level).passes()]


def test_the_summary_has_the_keys_that_the_page_lists() -> None:
    text = TEXTS["docs/summary.md"]
    keys = [cells[0].strip("`") for cells in rows(text.partition("## `missed`")[0])]
    summary = compile(ROOT / "examples" / "bert_tiny.onnx").summary
    assert keys == list(summary)
    for part, found in (("memory.hbm", summary["memory"]["hbm"]), ("traffic", summary["traffic"])):
        listed = [name for cells in rows(section(text, part)) for name in cells[0].split(", ")]
        assert [name.strip("`") for name in listed] == list(found)


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=lambda text: text[:40].split("\n")[0])
def test_commands_of_the_readme_print_what_it_says(
    command: str, output: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "readme"  # one for all: they use each other's files
    folder.mkdir(exist_ok=True)
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    for earlier, _ in COMMANDS[: COMMANDS.index((command, output))]:
        if "-o bert_tiny.om" in earlier and not (folder / "bert_tiny.om").exists():
            run_tool(earlier, folder)
    printed = run_tool(command, folder)
    for line in output.splitlines():
        if line.strip() and not line.startswith("  compiled"):
            shown = line.partition(" diff ")[0]  # how the arithmetic rounds differs by machine
            wanted = ".*".join(map(re.escape, shown.split("...")))
            assert re.search(wanted, printed), line


def run_tool(command: str, folder: Path) -> str:
    """What a tool of ours prints."""
    tool, *arguments = shlex.split(command)
    return python("-m", f"ge_dialect.tools.{tool.replace('-', '_')}", *arguments, cwd=folder)


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", TEXTS["README.md"], re.DOTALL)
    assert found is not None
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert "us predicted" in python("-c", found.group(1), cwd=tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_merged(name: str) -> None:
    assert not re.search(r"^(<{7} |={7}$|>{7} )", TEXTS[name], re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_files_that_pages_name_exist(name: str) -> None:
    text = TEXTS[name]
    folders = "ge_dialect|passes|lowering|tools|tests|docs|examples|scripts|benchmarks"
    named = set(re.findall(rf"(?<![\w/.-])(?:{folders})/[\w/.*-]*[\w*/]", text))
    for path in sorted(named - WRITTEN_BY_THE_READER):
        assert list(ROOT.glob(path)), path
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / name).parent / link).exists(), link


@pytest.mark.parametrize("name", NAMES)
def test_passes_and_codes_that_pages_name_exist(name: str) -> None:
    tools = {"ge-opt", "ge-compile", "ge-run", "ge-dialect"}
    named = set(re.findall(r"(?<![\w./-])ge-[a-z]+(?:-[a-z0-9]+)*", TEXTS[name]))
    assert named <= tools | set(PASSES) | READERS_PASSES
    codes = set(re.findall(r"GE[0-9]{4}", TEXTS[name]))
    assert codes <= set(CODES)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_pages_name_exist(name: str) -> None:
    named = re.findall(r"(?<!-)--[a-z][a-z0-9_-]*", TEXTS[name])
    assert {flag.replace("_", "-") for flag in named} <= known_arguments()


@cache
def known_arguments() -> set[str]:
    """The arguments of our tools, and others that pages name."""
    helps = [compile_parser().format_help(), run_parser().format_help()]
    modules = ("ge_dialect.tools.ge_opt", "ge_dialect.tools.plan_buffers")
    helps += [python("-m", module, "--help") for module in modules]
    return {*re.findall(r"--[a-z][a-z0-9-]*", "\n".join(helps)), *UNSUPPORTED, *OTHER_FLAGS}


def test_the_readme_lists_the_targets_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE)) - {"help"}
    assert set(re.findall(r"`make ([a-z]+)`", TEXTS["README.md"])) == targets
    for text in TEXTS.values():
        for target in re.findall(r"`make ([a-z]+)`", text):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
