"""The package: what it holds, what it loads, what it adds to xDSL, and that the wheel works."""

from __future__ import annotations

import fnmatch
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from xdsl.universe import XDSL_UNIVERSE, Universe

ROOT = Path(__file__).resolve().parent.parent
SETUP: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS: dict[str, str] = SETUP["tool"]["setuptools"]["package-dir"]
HEAVY = ("numpy", "onnx", "ml_dtypes", "google.protobuf")


def packages_on_disk() -> dict[str, Path]:
    """Folder of each package that holds modules, by its name when installed."""
    found: dict[str, Path] = {}
    for package, folder in FOLDERS.items():
        top = ROOT / folder
        for path in sorted({module.parent for module in top.rglob("*.py")}):
            found[".".join([package, *path.relative_to(top).parts])] = path
    return found


def run(*command: str, cwd: Path, **env: str) -> str:
    """Runs a command with none of this process's Python settings; returns what it printed."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_"))}
    done = subprocess.run(
        command, cwd=cwd, env=clean | env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def modules_after(code: str) -> set[str]:
    """All modules that a fresh interpreter has loaded after running `code`."""
    listing = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    return set(run(sys.executable, "-c", listing, cwd=ROOT, PYTHONPATH=str(ROOT)).split())


def our_universe() -> Universe:
    """What the entry point of this package names."""
    entry: str = SETUP["project"]["entry-points"]["xdsl.universe"]["ge"]
    module, name = entry.split(":")
    return getattr(import_module(module), name)


def test_all_packages_on_disk_are_listed():
    listed: list[str] = SETUP["tool"]["setuptools"]["packages"]
    found = sorted(packages_on_disk())
    lines = "".join(f'    "{name}",\n' for name in found)
    assert sorted(listed) == found, f"pyproject.toml should say\npackages = [\n{lines}]"


def test_every_package_has_an_init_file():
    assert [
        n for n, path in packages_on_disk().items() if not (path / "__init__.py").exists()
    ] == []


def test_all_data_files_are_listed():
    listed: dict[str, list[str]] = SETUP["tool"]["setuptools"]["package-data"]
    for name, path in packages_on_disk().items():
        files = [f.name for f in path.iterdir() if f.is_file() and f.suffix not in (".py", ".pyc")]
        globs = listed.get(name, [])
        lost = [f for f in files if not any(fnmatch.fnmatch(f, glob) for glob in globs)]
        assert lost == [], f"not in package-data of {name}"
        assert all(fnmatch.filter(files, glob) for glob in globs), f"{name}: {globs} match nothing"


def test_importing_the_package_imports_nothing_heavy():
    loaded = modules_after("import ge_dialect")
    assert loaded.isdisjoint({*HEAVY, "xdsl", "ge_dialect.ge", "ge_dialect.tools"})


def test_the_public_names_are_there():
    package = import_module("ge_dialect")
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


def test_the_version_has_an_entry_in_the_changelog():
    from ge_dialect import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_universe_loads_neither_dialects_nor_passes():
    loaded = modules_after("import ge_dialect.universe")
    assert loaded.isdisjoint({*HEAVY, "ge_dialect.ge", "ge_dialect.ge_exec"})
    allowed = {"ge_dialect.passes", "ge_dialect.lowering"}
    above = ("ge_dialect.passes", "ge_dialect.lowering", "ge_dialect.tools")
    assert {name for name in loaded if name.startswith(above)} <= allowed


def test_the_universe_takes_no_name_of_xdsl():
    ours, theirs = our_universe(), XDSL_UNIVERSE
    assert ours.all_dialects.keys().isdisjoint(theirs.all_dialects)
    assert ours.all_passes.keys().isdisjoint(theirs.all_passes)
    assert ours.all_targets.keys().isdisjoint(theirs.all_targets)
    assert ours.all_frontends.keys().isdisjoint(theirs.all_frontends)
    prefixed = ("ge-", "convert-ge-")
    assert [name for name in ours.all_passes if not name.startswith(prefixed)] == []


def test_every_factory_of_the_universe_gives_what_its_name_says():
    ours = our_universe()
    for name, dialect in ours.all_dialects.items():
        assert dialect().name == name
    for factories in (ours.all_passes, ours.all_targets, ours.all_frontends):
        for name, factory in factories.items():
            assert factory().name == name


def build_wheel(folder: Path) -> Path:
    """Builds the wheel from a copy, so that no earlier build is mixed in."""
    copy = folder / "source"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, copy)
    for name in FOLDERS.values():
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    code = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    run(sys.executable, "-c", code, cwd=copy)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of a fresh environment that has the wheel, and xDSL as it is here."""
    import setuptools

    if int(setuptools.__version__.split(".")[0]) < 77:
        pytest.skip("needs setuptools 77 or newer to build the wheel: make venv")
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build_wheel(folder)
    home = folder / "venv"
    venv.create(home, with_pip=False)
    paths = sysconfig.get_paths(vars={"base": str(home), "platbase": str(home)})
    # A plain line is a path: the dependencies are found there, an editable install is not.
    (Path(paths["purelib"]) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = str(home / "bin" / "python")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    options = ("--no-deps", "--no-index", "--ignore-installed", "--disable-pip-version-check")
    run(*pip, *options, str(wheel), cwd=folder)
    return home / "bin"


MODULE = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  func.return %x : tensor<4xf32>\n}\n"


def test_the_wheel_runs_beside_plain_xdsl(installed: Path, tmp_path: Path):
    # A user's own folders of these names must not get in the way.
    for name in ("passes", "lowering", "tools"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('of the user')\n")
    (tmp_path / "m.mlir").write_text(MODULE)
    python = str(installed / "python")
    where = run(python, "-c", "import ge_dialect; print(ge_dialect.__file__)", cwd=tmp_path)
    assert Path(where).is_relative_to(installed.parent)

    assert "ge-opt" in run(str(installed / "ge-opt"), "--help", cwd=tmp_path)
    ours = run(str(installed / "ge-opt"), "m.mlir", "-p", "ge-dce", cwd=tmp_path)
    plain = (python, "-m", "xdsl.tools.xdsl_opt", "m.mlir", "-p", "ge-dce")
    assert run(*plain, cwd=tmp_path) == ours
    assert "func.func @f" in ours


def test_the_wheel_holds_types_and_targets(installed: Path, tmp_path: Path):
    code = (
        "import importlib.resources as r\n"
        "print((r.files('ge_dialect') / 'py.typed').is_file())\n"
        "print(any(f.name.endswith('.toml') for f in r.files('ge_dialect.targets').iterdir()))\n"
    )
    assert run(str(installed / "python"), "-c", code, cwd=tmp_path).split() == ["True", "True"]
