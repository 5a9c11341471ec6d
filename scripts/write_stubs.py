"""Writes forwarding stubs, so that checkers and editors find `ge_dialect.passes` and its kin.

`passes/`, `lowering/` and `tools/` lie beside `ge_dialect/` in the repository and inside of it when
installed. Checkers do not run the code that bridges this, so each module gets a stub
`typings/ge_dialect/<folder>/<module>.pyi` that forwards to the real file. `typings/` is not
committed; `make lint` and `make venv` run this script.
"""

from __future__ import annotations

from pathlib import Path

FOLDERS = ("passes", "lowering", "tools")


def stub_of(root: Path, module: Path) -> tuple[Path, str]:
    """Returns path and text of the stub of a module."""
    relative = module.relative_to(root)
    parts = relative.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    stub = root / "typings" / "ge_dialect" / relative.with_suffix(".pyi")
    return stub, f"from {name} import *\n"


def main() -> None:
    """Brings `typings/` in step with the modules on disk; leaves unchanged stubs alone."""
    root = Path(__file__).resolve().parent.parent
    stubs = dict(stub_of(root, m) for f in FOLDERS for m in sorted((root / f).rglob("*.py")))
    for old in (root / "typings").rglob("*.pyi"):
        if old not in stubs:
            old.unlink()
    for stub, text in stubs.items():
        if not stub.exists() or stub.read_text() != text:
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.write_text(text)


if __name__ == "__main__":
    main()
