"""Writes `docs/errors.md` from the table of error codes; `make docs` runs it."""

from __future__ import annotations

from pathlib import Path

from ge_dialect.error_codes.pages import reference


def main() -> None:
    """Writes the page."""
    (Path(__file__).resolve().parent.parent / "docs" / "errors.md").write_text(reference())


if __name__ == "__main__":
    main()
