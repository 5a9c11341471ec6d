"""Problems and plans as text: `id,lower,upper,size[,offset]`, the format of MiniMalloc."""

from __future__ import annotations

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.problem import Buffer, Plan, Problem, interval_problem

_COLUMNS = ("id", "lower", "upper", "size")
_MAX_DIGITS = 15
_MAX_ROWS = 1_000_000


def read_problem(text: str, capacity: int | None = None, alignment: int = 1) -> Problem:
    """Returns the problem that a table describes; lifetimes are half-open.

    Args:
        text: A header with at least the columns id, lower, upper and size, then a line a buffer.
            Other columns are ignored.
        capacity: In bytes.
        alignment: Of every buffer, in bytes.

    Raises:
        GEError: GE0501, with the line and what is wrong with it.
    """
    lines = text.splitlines()
    header = [cell.strip() for cell in lines[0].split(",")] if lines else []
    if missing := [name for name in _COLUMNS if name not in header]:
        raise GEError(
            "GE0501",
            f"line 1: expected the columns {', '.join(_COLUMNS)}, without {', '.join(missing)}",
        )
    if len(lines) > _MAX_ROWS:
        raise GEError("GE0501", f"expected at most {_MAX_ROWS} lines, got {len(lines)}")
    places = [header.index(name) for name in _COLUMNS]
    buffers: list[Buffer] = []
    intervals: list[tuple[int, int]] = []
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            name, lower, upper, size = _row(number, line.split(","), places)
            buffers.append(Buffer(name, size, alignment))
            intervals.append((lower, upper))
    try:
        return interval_problem(buffers, intervals, capacity)
    except ValueError as error:
        raise GEError("GE0501", str(error)) from error


def _row(number: int, cells: list[str], places: list[int]) -> tuple[str, int, int, int]:
    if max(places) >= len(cells):
        raise GEError("GE0501", f"line {number}: expected {max(places) + 1} cells or more")
    name, *texts = (cells[place].strip() for place in places)
    numbers: list[int] = []
    for column, text in zip(_COLUMNS[1:], texts, strict=True):
        if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
            raise GEError(
                "GE0501",
                f"line {number}: expected '{column}' to be a count of at most"
                f" {_MAX_DIGITS} digits, got '{text[:40]}'",
            )
        numbers.append(int(text))
    lower, upper, size = numbers
    if lower >= upper:
        raise GEError("GE0501", f"line {number}: expected lower < upper, got {lower} and {upper}")
    return name, lower, upper, size


def write_problem(problem: Problem, plan: Plan | None = None) -> str:
    """Returns the table of a problem on one stream, with the offsets of a plan if there is one.

    Raises:
        ValueError: The problem has several streams, which the format cannot say.
    """
    rows = [",".join(_COLUMNS if plan is None else (*_COLUMNS, "offset"))]
    for index, (buffer, life) in enumerate(zip(problem.buffers, problem.lifetimes, strict=True)):
        if len(life.start) != 1:
            raise ValueError(f"expected one stream, got {len(life.start)}")
        row = f"{buffer.name},{life.start[0]},{life.end[0]},{buffer.size}"
        rows.append(row if plan is None else f"{row},{plan.offsets[index]}")
    return "\n".join(rows) + "\n"
