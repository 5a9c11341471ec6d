"""Every composite of every exported graph is one op; `docs/exporters.md` says what stays apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exporter_matrix import (
    COMPOSITES,
    DIFFERENT_MODELS,
    PAGE,
    ZOO,
    Row,
    case_text,
    cases,
    exporter_table,
    rows_of,
)

pytestmark = pytest.mark.skipif(not ZOO.is_dir(), reason="the zoo of exported graphs is not here")
CASES = cases() if ZOO.is_dir() else {}


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_as_the_page_says(case: str) -> None:
    rows = rows_of(CASES[case])
    assert [row.left for row in rows] == [()] * len(rows)
    if case not in DIFFERENT_MODELS:
        assert len({row.counts for row in rows}) == 1
        assert {row.allowed for row in rows} == {"A"}
    page = PAGE.read_text()
    assert f"\n{case_text(case, rows)}\n" in page
    for row in rows:
        assert f"\n{row.text()}\n" in page


def test_the_sums_of_the_page_are_those_of_its_rows() -> None:
    names = [folder.name for folders in CASES.values() for folder in folders]
    assert exporter_table(list(read_rows(PAGE))) in PAGE.read_text()
    assert [row.name for row in read_rows(PAGE)] == names


def read_rows(page: Path) -> list[Row]:
    """Returns the rows of the last table of the page."""
    table = page.read_text().rpartition("\n\n| variant ")[2].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return [
        Row(
            name,
            graph,
            allowed,
            tuple(int(count or 0) for count in rest[: len(COMPOSITES)]),
            tuple(rest[-1].split(", ") if rest[-1] != "none" else ()),
        )
        for name, graph, allowed, *rest in cells
    ]
