"""The text of an einsum, `ij,jk->ik`, as lists of dimensions. No IR in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ELLIPSIS = "..."


@dataclass(frozen=True)
class Equation:
    """An einsum in explicit form; a label is a letter, or `...` for any number of dimensions."""

    inputs: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]


def parse_equation(text: str) -> Equation:
    """Returns an equation; one without an arrow gets the output that numpy's rule gives it.

    That is: `...` first, then every letter that occurs once, in alphabetical order, capitals first.

    Raises:
        ValueError: It is no equation.
    """
    left, arrow, right = text.replace(" ", "").partition("->")
    inputs = tuple(_labels(term) for term in left.split(","))
    output = _labels(right) if arrow else _implicit_output(inputs)
    known = {label for term in inputs for label in term}
    for label in output:
        if output.count(label) > 1 or label not in known | {ELLIPSIS}:
            raise ValueError(f"expected '{label}' once in the output and in an input of '{text}'")
    return Equation(inputs, output)


def expand_labels(labels: Sequence[str], rank: int) -> tuple[str, ...]:
    """Returns one label a dimension: `...` becomes as many numbered ones, counted from the end.

    Raises:
        ValueError: The labels do not make `rank` dimensions.
    """
    hidden = rank - len(labels) + 1
    if ELLIPSIS not in labels:
        if len(labels) != rank:
            raise ValueError(f"expected {len(labels)} dimensions, got {rank}")
        return tuple(labels)
    if hidden < 0:
        raise ValueError(f"expected {len(labels) - 1} dimensions or more, got {rank}")
    return replace_ellipsis(labels, hidden)


def replace_ellipsis(labels: Sequence[str], hidden: int) -> tuple[str, ...]:
    """Returns `labels` with `...` as `hidden` numbered labels; equal numbers are aligned."""
    numbered = tuple(f"{ELLIPSIS}{i}" for i in reversed(range(hidden)))
    found: list[str] = []
    for label in labels:
        found.extend(numbered if label == ELLIPSIS else (label,))
    return tuple(found)


def _labels(term: str) -> tuple[str, ...]:
    head, dots, tail = term.partition(ELLIPSIS)
    letters = head + tail
    if not all(letter.isascii() and letter.isalpha() for letter in letters):
        raise ValueError(f"expected letters and at most one '...', got '{term}'")
    return (*head, *((ELLIPSIS,) if dots else ()), *tail)


def _implicit_output(inputs: Sequence[Sequence[str]]) -> tuple[str, ...]:
    every = [label for term in inputs for label in term]
    once = sorted({label for label in every if label != ELLIPSIS and every.count(label) == 1})
    return (*((ELLIPSIS,) if ELLIPSIS in every else ()), *once)
