"""Which dimensions of one shape make up which of another, as a reshape between them needs."""

from __future__ import annotations

from collections.abc import Sequence

from ge_dialect.ge.extents import known_product
from ge_dialect.ge.types import MaybeDim, Shape


def is_known(shape: Shape) -> bool:
    """Whether every dimension is a number or an expression."""
    return None not in shape


def same_shape(first: Shape, second: Shape) -> bool:
    """Whether two shapes are proved equal; a dimension that is not known equals nothing."""
    return first == second and is_known(first)


def split_dims(coarse: Shape, fine: Shape) -> list[tuple[int, ...]] | None:
    """Returns for each dimension of `coarse` the neighbours in `fine` whose product it is.

    Dimensions of size 1 go with the one after them, at the end with the last one. None where
    `fine` does not split `coarse`, or where that is not known.
    """
    if not is_known(coarse) or not is_known(fine):
        return None
    groups: list[tuple[int, ...]] = []
    place = 0
    for dim in coarse:
        end = _group_end(dim, fine, place)
        if end is None:
            return None
        groups.append(tuple(range(place, end)))
        place = end
    if any(dim != 1 for dim in fine[place:]) or (not groups and place < len(fine)):
        return None
    if place < len(fine):
        groups[-1] = (*groups[-1], *range(place, len(fine)))
    return groups


def _group_end(dim: MaybeDim, fine: Shape, start: int) -> int | None:
    if dim == 1:  # one dimension of size 1, or none
        return start + 1 if start < len(fine) and fine[start] == 1 else start
    for end in range(start + 1, len(fine) + 1):
        if known_product(fine[start:end]) == dim:
            return end
    return None


def paired_groups(first: Shape, second: Shape) -> list[tuple[range, range]] | None:
    """Returns the shortest runs of dimensions of two shapes that have the same product, in order.

    Every dimension is in one run; runs of nothing stand for dimensions of size 1. None where the
    products are not the same or not known.
    """
    groups: list[tuple[range, range]] = []
    i, j = 0, 0
    while i < len(first) and j < len(second):
        found = _shortest_pair(first, second, i, j)
        if found is None:
            return None
        groups.append((range(i, found[0]), range(j, found[1])))
        i, j = found
    if any(dim != 1 for dim in (*first[i:], *second[j:])):
        return None
    if i < len(first) or j < len(second):
        groups.append((range(i, len(first)), range(j, len(second))))
    return groups


def _shortest_pair(first: Shape, second: Shape, i: int, j: int) -> tuple[int, int] | None:
    ends = [(a, b) for a in range(i + 1, len(first) + 1) for b in range(j + 1, len(second) + 1)]
    for a, b in sorted(ends, key=lambda pair: (pair[0] + pair[1], pair)):
        product = known_product(first[i:a])
        if product is not None and product == known_product(second[j:b]):
            return a, b
    return None


def compose(first: Sequence[int], then: Sequence[int]) -> tuple[int, ...]:
    """Returns the one permutation that transposes as `first` and `then` do one after the other."""
    return tuple(first[axis] for axis in then)
