"""What is known of the values of symbols, and what follows for expressions over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, inf
from typing import TypeAlias

from ge_dialect.diagnostics import GEError
from ge_dialect.symbols.expr import (
    Atom,
    Dim,
    Kind,
    apply,
    constant_of,
    rebuild,
    substitute,
    symbol,
    symbols_of,
    terms_of,
)

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

Interval: TypeAlias = tuple[float, float]
"""Both ends included; a number of 64 bits as an `int`, or infinite as a `float`."""

_ANY: Interval = (-inf, inf)
_SIZE: Interval = (0, inf)


@dataclass(frozen=True)
class SymbolRange:
    """The values of a symbol: multiples of `multiple_of` in `[lo, hi]`; no upper end for None.

    `origin` says where the symbol comes from, for messages: "dim 1 of input 'ids'".

    Raises:
        ValueError: No value is left, or `multiple_of` is less than 1.
    """

    lo: int
    hi: int | None
    multiple_of: int = 1
    origin: str = ""

    def __post_init__(self) -> None:
        if self.multiple_of < 1:
            raise ValueError(f"expected 'multiple_of' of 1 or more, got {self.multiple_of}")
        if self.hi is not None and self.first > self.hi:
            raise ValueError(
                f"expected a multiple of {self.multiple_of} in [{self.lo}, {self.hi}], got none"
            )

    @property
    def first(self) -> int:
        """The least value: `lo` rounded up to a multiple."""
        return -(-self.lo // self.multiple_of) * self.multiple_of

    @property
    def last(self) -> int | None:
        """The greatest value: `hi` rounded down to a multiple, None where there is none."""
        return None if self.hi is None else self.hi // self.multiple_of * self.multiple_of

    @property
    def middle(self) -> int:
        """A value in the middle, for a profile of typical sizes: a multiple, rounded down.

        Raises:
            GEError: There is no greatest value (GE0522).
        """
        if (last := self.last) is None:
            what = f"no maximum for {self.origin or 'the symbol'}"
            raise GEError("GE0522", what, hint=f"give an upper end, as in {self.lo}~{self.lo + 8}")
        return max(self.first, (self.first + last) // 2 // self.multiple_of * self.multiple_of)

    def contains(self, value: int) -> bool:
        """Whether the symbol may be `value`."""
        in_range = self.lo <= value and (self.hi is None or value <= self.hi)
        return in_range and value % self.multiple_of == 0


Ranges: TypeAlias = Mapping[str, SymbolRange]


def bounds(dim: Dim, ranges: Ranges) -> tuple[int, int | None]:
    """Returns the least and the greatest value that `dim` may have; they need not be reached.

    A symbol without a range is a size: 0 or more. The greatest value is None where it is not
    bounded or exceeds 64 bits; a least value that is not bounded is the least number of 64 bits.
    """
    if isinstance(dim, int):
        return dim, dim
    low, high = _interval(dim, ranges)
    least = INT64_MIN if low == -inf else int(low)
    return least, None if high == inf else int(high)


def simplify(dim: Dim, ranges: Ranges) -> Dim:
    """Returns `dim` without what the ranges make pointless.

    Symbols with one value become numbers, operands of `max` and `min` that never decide are
    dropped, divisions and remainders by more than the operand are resolved. Equal to `dim` for
    all values in the ranges.
    """
    try:
        return rebuild(dim, lambda atom: _simplify_atom(atom, ranges))
    except ValueError:  # too large, or a divisor that is always 0
        return dim


def prove_equal(a: Dim, b: Dim, ranges: Ranges) -> bool | None:
    """Returns True where `a` and `b` are equal for all values in the ranges, False for none.

    None where neither is shown: the two may still be always equal.
    """
    if a == b:
        return True
    try:
        scaled, inner = _by_multiples(a - b, ranges)
        difference = simplify(scaled, inner)
        if not isinstance(difference, int):
            difference = simplify(_without_mod(difference), inner)
    except ValueError:  # too large, or a divisor that is always 0
        return None
    return _is_zero(difference, inner)


def prove_divisible(dim: Dim, divisor: int, ranges: Ranges) -> bool | None:
    """Returns True where `divisor` divides `dim` for all values in the ranges, False for none.

    None where neither is shown.

    Raises:
        ValueError: `divisor` is 0.
    """
    if divisor == 0:
        raise ValueError("expected a divisor other than 0")
    try:
        scaled, inner = _by_multiples(dim, ranges)
        rest = simplify(apply("mod", (simplify(scaled, inner), abs(divisor))), inner)
    except ValueError:  # too large, or a divisor that is always 0
        return None
    return _is_zero(rest, inner)


def _is_zero(dim: Dim, ranges: Ranges) -> bool | None:
    if isinstance(dim, int):
        return dim == 0
    common = gcd(*[coefficient for mono, coefficient in dim.terms if mono])
    if constant_of(dim) % common:
        return False
    low, high = _interval(dim, ranges)
    if low > 0 or high < 0:
        return False
    return True if low == high == 0 else None


def _by_multiples(dim: Dim, ranges: Ranges) -> tuple[Dim, Ranges]:
    """Writes each symbol of `dim` as its multiple of a new symbol, and gives the new ranges.

    `S` in [8, 64] by 8 becomes `8*S` with `S` in [1, 8]: divisibility becomes plain arithmetic.
    """
    known = {name: ranges[name] for name in symbols_of(dim) if name in ranges}
    scaled = {name: r for name, r in known.items() if r.multiple_of > 1}
    inner = dict(known)
    for name, r in scaled.items():
        last = None if r.last is None else r.last // r.multiple_of
        inner[name] = SymbolRange(r.first // r.multiple_of, last)
    values: dict[str, Dim] = {name: r.multiple_of * symbol(name) for name, r in scaled.items()}
    return substitute(dim, values), inner


def _without_mod(dim: Dim) -> Dim:
    """Writes remainders as divisions: `e mod c` is `e - c*(e floordiv c)`."""

    def replaced(atom: Atom) -> Dim:
        if isinstance(atom, str):
            return symbol(atom)
        args = [_without_mod(arg) for arg in atom.args]
        if atom.kind == "mod":
            return args[0] - args[1] * apply("floordiv", args)
        return apply(atom.kind, args)

    return rebuild(dim, replaced)


def _simplify_atom(atom: Atom, ranges: Ranges) -> Dim:
    low, high = _atom_interval(atom, ranges)
    if low == high:
        return int(low)
    if isinstance(atom, str):
        return symbol(atom)
    args = [simplify(arg, ranges) for arg in atom.args]
    if atom.kind in ("max", "min"):
        return apply(atom.kind, _deciding(args, 1 if atom.kind == "max" else -1, ranges))
    if atom.kind == "mod" and isinstance(args[1], int) and args[1] > 0:
        low, high = _interval(args[0], ranges)
        # One quotient for all values: the remainder is the operand less a number.
        if low > -inf and high < inf and low // args[1] == high // args[1]:
            return args[0] - int(low // args[1]) * args[1]
    return apply(atom.kind, args)


def _deciding(args: Sequence[Dim], sign: int, ranges: Ranges) -> list[Dim]:
    """Drops operands of `max` (`min` for a negative sign) that another one always exceeds."""
    kept = list(args)
    for arg in args:
        others = [other for other in kept if other is not arg]
        if any(_interval(sign * (other - arg), ranges)[0] >= 0 for other in others):
            kept = others
    return kept


# Intervals. No end overflows: what leaves 64 bits is widened, never wrapped.


def _interval(dim: Dim, ranges: Ranges) -> Interval:
    low: float = 0
    high: float = 0
    for mono, coefficient in terms_of(dim):
        term = _saturated(coefficient, coefficient)
        for atom in mono:
            term = _times(term, _atom_interval(atom, ranges))
        low, high = low + term[0], high + term[1]
    return _saturated(low, high)


def _saturated(low: float, high: float) -> Interval:
    if low < INT64_MIN:
        low = -inf
    elif low > INT64_MAX:
        low = INT64_MAX
    if high > INT64_MAX:
        high = inf
    elif high < INT64_MIN:
        high = INT64_MIN
    return low, high


def _atom_interval(atom: Atom, ranges: Ranges) -> Interval:
    if isinstance(atom, str):
        if (known := ranges.get(atom)) is None:
            return _SIZE
        return _saturated(known.first, inf if known.last is None else known.last)
    parts = [_interval(arg, ranges) for arg in atom.args]
    if atom.kind == "max":
        return max(low for low, _ in parts), max(high for _, high in parts)
    if atom.kind == "min":
        return min(low for low, _ in parts), min(high for _, high in parts)
    return _divided(atom.kind, parts[0], parts[1])


def _divided(kind: Kind, top: Interval, bottom: Interval) -> Interval:
    low, high = bottom
    low = low or 1  # a divisor is not 0 where the expression is evaluated
    if low < 0 or high < low:
        return _ANY
    return _quotient(top, (low, high)) if kind == "floordiv" else _remainder(top, (low, high))


def _quotient(top: Interval, bottom: Interval) -> Interval:
    corners = [_quotient_end(a, b) for a in top for b in bottom]
    return min(corners), max(corners)


def _quotient_end(a: float, b: float) -> float:
    if b == inf:
        return -1 if a < 0 else 0
    return a if a in (inf, -inf) else a // b


def _remainder(top: Interval, bottom: Interval) -> Interval:
    low, high = top
    if low >= 0 and high < bottom[0]:
        return low, high
    return 0, min(high, bottom[1] - 1) if low >= 0 else bottom[1] - 1


def _times(a: Interval, b: Interval) -> Interval:
    corners = [0 if x == 0 or y == 0 else x * y for x in a for y in b]
    return _saturated(min(corners), max(corners))
