"""Errors and their codes."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from ge_dialect.diagnostics import GEError, explain
from ge_dialect.error_codes import CODES, RANGES
from ge_dialect.error_codes.pages import reference

CODE = re.compile(r"\bGE0\d{3}\b")


def test_an_error_is_one_line_with_code_and_hint():
    assert str(GEError("GE0201", "no such file")) == "GE0201: no such file"
    error = GEError("GE0201", "no such file", hint="check the path")
    assert str(error) == "GE0201: no such file; check the path"
    assert (error.code, error.message, error.hint) == ("GE0201", "no such file", "check the path")


def test_an_error_survives_being_copied_between_processes():
    error = copy.copy(GEError("GE0201", "no such file", hint="check the path"))
    assert str(error) == "GE0201: no such file; check the path"


def test_explain_gives_the_page_of_a_code():
    page = explain("ge0201")
    assert page.startswith("GE0201: model can not be opened\n")
    assert all(f"\n{part}" in page for part in ("Symptom:", "Cause:", "Solution:"))


@pytest.mark.parametrize("code", ["GE9999", "", "0201", "GE02", "GE0201\n"])
def test_explain_refuses_what_is_no_code(code: str):
    with pytest.raises(GEError, match="expected an error code") as caught:
        explain(code)
    assert caught.value.code == "GE0102"


def test_codes_lie_in_their_range_and_only_there():
    assert list(CODES) == sorted(CODES)
    for prefix, (_, table) in RANGES.items():
        assert all(re.fullmatch(prefix + r"\d\d", code) for code in table)
    assert len(CODES) == sum(len(table) for _, table in RANGES.values())


@pytest.mark.parametrize("code", CODES)
def test_pages_are_complete_sentences(code: str):
    info = CODES[code]
    assert info.title and not info.title.endswith(".") and "\n" not in info.title
    for text in (info.symptom, info.cause, info.solution):
        assert text.endswith(".") and "\n" not in text and len(text) > 20


def test_sources_and_table_have_the_same_codes(root: Path):
    used: set[str] = set()
    for folder in ("ge_dialect", "passes", "lowering", "tools"):
        for path in (root / folder).rglob("*.py"):
            if path.parent.name != "error_codes":
                used |= set(CODE.findall(path.read_text()))
    assert used - CODES.keys() == set(), "codes without a page: add them to ge_dialect/error_codes/"
    assert CODES.keys() - used == set(), "pages of codes that nothing raises"


def test_the_page_in_the_documentation_is_in_step(root: Path):
    assert (root / "docs" / "errors.md").read_text() == reference(), "run `make docs`"
