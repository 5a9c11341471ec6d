"""Quotients and remainders of dimensions, in normal form.

Division rounds towards minus infinity and the remainder has the sign of the divisor, as in Python.
A divisor that is an expression is taken to be other than 0 wherever it is evaluated, so that
`S*H floordiv H` is `S`.
"""

from __future__ import annotations

from math import gcd

from ge_dialect.symbols.expr import (
    Dim,
    DimExpr,
    Mono,
    Opaque,
    build,
    constant_of,
    multiply,
    opaque,
    term_key,
    terms_of,
)

_MAX_STEPS = 64
"""Most steps of a division of polynomials; one that takes more stays as it is written."""


def floor_div(dim: Dim, divisor: Dim) -> Dim:
    """Returns the quotient, rounded towards minus infinity.

    What divides exactly leaves the division: `8*S + 16` by 8 is `S + 2`.

    Raises:
        ValueError: `divisor` is the number 0, or the result is too large.
    """
    if isinstance(divisor, DimExpr):
        return _floor_div_by_expr(dim, divisor)
    _check_divisor(divisor)
    if isinstance(dim, int):
        return dim // divisor
    return _floor_div_by_number(dim, divisor)


def ceil_div(dim: Dim, divisor: Dim) -> Dim:
    """Returns the quotient, rounded towards plus infinity, in terms of `floor_div`.

    Raises:
        ValueError: `divisor` is the number 0, or the result is too large.
    """
    return 0 - floor_div(0 - dim, divisor)


def mod(dim: Dim, divisor: Dim) -> Dim:
    """Returns `dim - divisor * floor_div(dim, divisor)`.

    Raises:
        ValueError: `divisor` is the number 0, or the result is too large.
    """
    if isinstance(divisor, DimExpr):
        if divisor.terms[0][1] < 0:
            return 0 - mod(0 - dim, -divisor)
        _, rest = _divide_by_expr(dim, divisor)
        return 0 if rest == 0 else opaque("mod", (rest, divisor))
    _check_divisor(divisor)
    if isinstance(dim, int):
        return dim % divisor
    if divisor < 0:
        return 0 - mod(-dim, -divisor)
    _, rest = _divide_by_number(_without_inner_mod(dim, divisor), divisor)
    if isinstance(rest, int):
        return rest
    common = _common_divisor(rest, divisor)
    if common == 1:
        return opaque("mod", (rest, divisor))
    inner = mod(_shrink(rest, common), divisor // common)
    return common * inner + constant_of(rest) % common


def _check_divisor(divisor: int) -> None:
    if divisor == 0:
        raise ValueError("expected a divisor other than 0")


def _floor_div_by_number(dim: DimExpr, divisor: int) -> Dim:
    if divisor < 0:
        dim, divisor = -dim, -divisor
    quotient, rest = _divide_by_number(dim, divisor)
    if isinstance(rest, int):
        return quotient
    if rest.terms[0][1] < 0:
        # floor(-x / c) = -floor((x + c - 1) / c): both spellings of a ceiling become one.
        return quotient - floor_div(divisor - 1 - rest, divisor)
    common = _common_divisor(rest, divisor)
    return quotient + _floor_div_nested(_shrink(rest, common), divisor // common)


def _floor_div_nested(dim: Dim, divisor: int) -> Dim:
    """Merges nested divisions: floor((floor(e / a) + k) / c) = floor((e + k a) / (a c)), a > 0."""
    mono, coefficient = terms_of(dim)[0]
    head = mono[0]
    constant = constant_of(dim)
    alone = len(mono) == 1 and coefficient == 1 and len(terms_of(dim)) == (2 if constant else 1)
    if alone and isinstance(head, Opaque) and head.kind == "floordiv":
        inner, by = head.args
        if isinstance(by, int) and by > 0:
            return floor_div(inner + constant * by, by * divisor)
    return opaque("floordiv", (dim, divisor))


def _divide_by_number(dim: Dim, divisor: int) -> tuple[Dim, Dim]:
    """Splits `dim` into `quotient * divisor + rest`, for a positive divisor.

    Coefficients are truncated towards 0, which keeps the signs and so the bounds of both parts;
    the constant of the rest is in `[0, divisor)`.
    """
    quotient: dict[Mono, int] = {}
    rest: dict[Mono, int] = {}
    for mono, coefficient in terms_of(dim):
        times = _truncated(coefficient, divisor) if mono else coefficient // divisor
        quotient[mono] = times
        rest[mono] = coefficient - times * divisor
    return build(quotient), build(rest)


def _truncated(number: int, divisor: int) -> int:
    return number // divisor if number >= 0 else -(-number // divisor)


def _common_divisor(dim: DimExpr, divisor: int) -> int:
    return gcd(divisor, *[coefficient for mono, coefficient in dim.terms if mono])


def _shrink(dim: DimExpr, common: int) -> Dim:
    """Divides by a number that divides every coefficient but the constant, which is floored."""
    if common == 1:
        return dim
    return build({mono: coefficient // common for mono, coefficient in dim.terms})


def _without_inner_mod(dim: DimExpr, divisor: int) -> Dim:
    """Drops remainders that a remainder by `divisor` makes pointless: `(e mod 16) mod 8`."""
    result: Dim = 0
    for mono, coefficient in dim.terms:
        if len(mono) == 1 and isinstance(head := mono[0], Opaque) and head.kind == "mod":
            inner, by = head.args
            if isinstance(by, int) and coefficient * by % divisor == 0:
                result = result + coefficient * inner
                continue
        result = result + build({mono: coefficient})
    return result


def _floor_div_by_expr(dim: Dim, divisor: DimExpr) -> Dim:
    if divisor.terms[0][1] < 0:
        return _floor_div_by_expr(0 - dim, -divisor)
    quotient, rest = _divide_by_expr(dim, divisor)
    if rest == 0:
        return quotient
    top, bottom = _cancel(rest, divisor)
    if isinstance(bottom, int):
        return quotient + floor_div(top, bottom)
    return quotient + opaque("floordiv", (top, bottom))


def _divide_by_expr(dim: Dim, divisor: DimExpr) -> tuple[Dim, Dim]:
    """Splits `dim` into `quotient * divisor + rest`; the first coefficient of `divisor` is > 0.

    By a single product term by term; by a sum all or nothing, since a part of such a quotient
    simplifies nothing.
    """
    if len(divisor.terms) != 1:
        exact = _divide_exactly(dim, divisor)
        return (0, dim) if exact is None else (exact, 0)
    mono, factor = divisor.terms[0]
    quotient: dict[Mono, int] = {}
    rest: dict[Mono, int] = {}
    for term, coefficient in terms_of(dim):
        left = _without(term, mono)
        times = 0 if left is None else _truncated(coefficient, factor)
        if left is not None:
            quotient[left] = times
        rest[term] = coefficient - times * factor
    return build(quotient), build(rest)


def _divide_exactly(dim: Dim, divisor: DimExpr) -> Dim | None:
    """Divides polynomials by leading terms; None where the quotient is no polynomial."""
    rest = dict(terms_of(dim))
    lead, factor = divisor.terms[0]
    quotient: dict[Mono, int] = {}
    for _ in range(_MAX_STEPS):
        if not rest:
            return build(quotient)
        mono, coefficient = min(rest.items(), key=term_key)
        left = _without(mono, lead)
        if left is None or coefficient % factor:
            return None
        times = coefficient // factor
        quotient[left] = times
        for other, number in divisor.terms:
            joined = multiply(left, other)
            rest[joined] = rest.get(joined, 0) - times * number
            if not rest[joined]:
                del rest[joined]
    return None


def _without(mono: Mono, factor: Mono) -> Mono | None:
    """Divides products of atoms; None where `factor` does not divide `mono`."""
    left = list(mono)
    for atom in factor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _cancel(top: Dim, bottom: DimExpr) -> tuple[Dim, Dim]:
    """Divides both by the number and the product of atoms that all their terms share."""
    terms = [*terms_of(top), *bottom.terms]
    number = gcd(*[coefficient for _, coefficient in terms])
    shared: Mono = ()
    for atom in terms[0][0]:
        longer = (*shared, atom)
        if all(_without(mono, longer) is not None for mono, _ in terms):
            shared = longer
    return _over(top, shared, number), _over(bottom, shared, number)


def _over(dim: Dim, shared: Mono, number: int) -> Dim:
    result: dict[Mono, int] = {}
    for mono, coefficient in terms_of(dim):
        left = _without(mono, shared)
        assert left is not None
        result[left] = coefficient // number
    return build(result)
