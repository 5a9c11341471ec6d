"""The scale of attention, put together from the factors of queries, keys and scores."""

from __future__ import annotations

from math import sqrt

from xdsl.ir import SSAValue

from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.types import MaybeDim, element_type_of


def joined_scale(query: float, key: float, product: SSAValue, depth: MaybeDim) -> float:
    """Returns the scale of scores whose queries and keys were scaled by `query` and `key`.

    Exporters multiply both by the root of the scale, rounded. Its square misses the scale by a
    rounding; the number whose root it is does not. `1 / sqrt(depth)` goes before others, then the
    one with the fewest digits.

    Args:
        query: The factor of the queries.
        key: The factor of the keys.
        product: Queries times keys; factors are rounded to its element type.
        depth: D, the features of a head.
    """
    import numpy as np

    number = np.dtype(to_numpy(element_type_of(product))).type
    if query != key or query <= 0 or float(number(query)) != query:
        return query * key
    if isinstance(depth, int) and depth > 0 and float(number(sqrt(1 / sqrt(depth)))) == query:
        return 1 / sqrt(depth)
    if number is not np.float32:
        return query * key
    square = np.float32(query * key)
    near = [square, np.nextafter(square, np.float32(0)), np.nextafter(square, np.float32(np.inf))]
    roots = [one for one in near if float(np.float32(sqrt(float(one)))) == query]
    return float(str(min(roots, key=lambda one: len(str(one)), default=square)))
