"""Dimensions as numbers or as polynomials over symbols, in a normal form.

Two dimensions whose normal forms are equal are equal for all values of their symbols, so `==` and
`hash` on the structure are what inference uses. The converse holds for polynomials; expressions
with division, remainder, `max` or `min` may be equal without looking it: `ranges.prove_equal` tries
harder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import index
from typing import Literal, TypeAlias

MAX_SIZE = 512
"""Most nodes of an expression, counted as a tree: more is refused, never computed."""
MAX_DEPTH = 32
"""Most levels of `floordiv`, `mod`, `max` and `min` inside each other."""
MAX_NAME = 64
"""Most characters of a symbol."""

_NAME = re.compile(r"[^\W\d][\w.$]*")
_RESERVED = frozenset({"floordiv", "ceildiv", "mod", "max", "min"})

Kind: TypeAlias = Literal["floordiv", "mod", "max", "min"]
Dim: TypeAlias = "int | DimExpr"
Atom: TypeAlias = "str | Opaque"
Mono: TypeAlias = tuple[Atom, ...]  # a product: sorted, with repetition; empty for the number 1
Term: TypeAlias = tuple[Mono, int]


class DimLimitError(ValueError):
    """An expression would be larger than `MAX_SIZE` or deeper than `MAX_DEPTH`."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A factor that is no symbol: its kind, its operands in normal form, and its printed form.

    The printed form is unique, therefore it alone decides equality and order.
    """

    text: str
    kind: Kind = field(compare=False)
    args: tuple[Dim, ...] = field(compare=False)
    size: int = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class DimExpr:
    """A sum of integer multiples of products of symbols and opaque factors that is not a number.

    Built by `symbol` and by arithmetic only, which keep the normal form: terms by falling degree
    and then by name, no term with coefficient 0, the number last. Every operator takes numbers
    and expressions on either side, gives a number where the symbols cancel, and raises
    `DimLimitError` where the result is too large.
    """

    terms: tuple[Term, ...]

    def __add__(self, other: Dim) -> Dim:
        return _sum(self, other, 1)

    def __sub__(self, other: Dim) -> Dim:
        return _sum(self, other, -1)

    def __mul__(self, other: Dim) -> Dim:
        return _times(self, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: int) -> Dim:
        return _sum(-self, other, 1)

    def __neg__(self) -> DimExpr:
        return DimExpr(tuple([(mono, -coefficient) for mono, coefficient in self.terms]))

    def __floordiv__(self, other: Dim) -> Dim:
        return apply("floordiv", (self, other))

    def __rfloordiv__(self, other: int) -> Dim:
        return apply("floordiv", (other, self))

    def __mod__(self, other: Dim) -> Dim:
        return apply("mod", (self, other))

    def __rmod__(self, other: int) -> Dim:
        return apply("mod", (other, self))

    def __str__(self) -> str:
        head, *tail = self.terms
        # A leading minus binds to the first operand: `-S floordiv 2` would be `(-S) floordiv 2`.
        shown = ("-" if head[1] < 0 else "") + _term_text(head, bare=head[1] > 0)
        return shown + "".join(
            [(" - " if term[1] < 0 else " + ") + _term_text(term, bare=True) for term in tail]
        )


def is_name(text: str) -> bool:
    """Whether `text` may name a symbol: an identifier (with `.` and `$`) that is no operator."""
    return len(text) <= MAX_NAME and text not in _RESERVED and _NAME.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def symbol(name: str) -> DimExpr:
    """Returns the dimension that `name` stands for.

    Raises:
        ValueError: `is_name(name)` is false; `sanitise` makes a symbol's name of any text.
    """
    if not is_name(name):
        raise ValueError(f"expected the name of a symbol, got {name[:MAX_NAME]!r}")
    return DimExpr((((name,), 1),))


def product(dims: Iterable[Dim]) -> Dim:
    """Returns the product of the dimensions of a shape, 1 where there are none.

    Raises:
        DimLimitError: It is too large.
    """
    number = 1
    result: Dim = 1
    for dim in dims:
        if isinstance(dim, DimExpr):
            result = dim * result
        else:
            number *= dim
    return result * number


def symbols_of(dim: Dim) -> tuple[str, ...]:
    """Returns the symbols that `dim` mentions, by name, each once."""
    found: set[str] = set()
    _collect_symbols(dim, found)
    return tuple(sorted(found))


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """Returns `dim` with symbols replaced, all at once; symbols without a value stay.

    Raises:
        ValueError: A divisor became 0, or the result is too large.
    """
    if isinstance(dim, int) or not any(name in values for name in symbols_of(dim)):
        return dim

    def replaced(atom: Atom) -> Dim:
        if isinstance(atom, str):
            return values[atom] if atom in values else symbol(atom)
        return apply(atom.kind, [substitute(arg, values) for arg in atom.args])

    return rebuild(dim, replaced)


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """Returns the number that `dim` is where its symbols have `values`.

    Raises:
        ValueError: A symbol of `dim` has no value, or a divisor is 0.
    """
    if isinstance(dim, int):
        return dim
    total = 0
    for mono, coefficient in dim.terms:
        for atom in mono:
            coefficient *= _evaluate_atom(atom, values)
        total += coefficient
    return total


def rebuild(dim: Dim, replace: Callable[[Atom], Dim]) -> Dim:
    """Returns `dim` with each symbol and each opaque factor replaced by what `replace` returns."""
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for mono, coefficient in dim.terms:
        total = total + product([coefficient, *[replace(atom) for atom in mono]])
    return total


def rebuild_terms(dim: Dim, replace: Callable[[Mono], Dim | None]) -> Dim:
    """Returns `dim` with each product for which `replace` returns something replaced by that."""
    total: Dim = 0
    for mono, coefficient in terms_of(dim):
        known = replace(mono) if mono else None
        whole: Dim = DimExpr(((mono, 1),)) if mono else 1
        total = total + product([coefficient, whole if known is None else known])
    return total


def apply(kind: Kind, args: Sequence[Dim]) -> Dim:
    """Returns one operation on `args` in normal form; `floordiv` and `mod` take two.

    Raises:
        ValueError: A divisor is 0, or the result is too large.
    """
    from ge_dialect.symbols import division, extrema

    if kind == "floordiv":
        return division.floor_div(*args)
    if kind == "mod":
        return division.mod(*args)
    return extrema.maximum(*args) if kind == "max" else extrema.minimum(*args)


def opaque(kind: Kind, args: tuple[Dim, ...]) -> DimExpr:
    """Returns one operation on `args` as a factor that is not simplified any further.

    Raises:
        DimLimitError: It is too large or too deep.
    """
    size, depth = 1, 1
    for arg in args:
        for mono, _ in terms_of(arg):
            size += 1 + _mono_size(mono)
            depth = max([depth, *[atom.depth + 1 for atom in mono if isinstance(atom, Opaque)]])
    _check_limit(size, depth)
    if kind in ("max", "min"):
        text = f"{kind}({', '.join(map(str, args))})"
    else:
        text = f" {kind} ".join(map(_operand_text, args))
    return DimExpr((((Opaque(text, kind, args, size, depth),), 1),))


def build(terms: Mapping[Mono, int]) -> Dim:
    """Returns the sum of `terms`, whose products are sorted, in normal form.

    Raises:
        DimLimitError: It is too large.
    """
    kept = [term for term in terms.items() if term[1]]
    if not kept:
        return 0
    if len(kept) > 1:
        kept.sort(key=term_key)
    elif not kept[0][0]:
        return kept[0][1]
    _check_limit(sum([1 + _mono_size(mono) for mono, _ in kept]), 0)
    return DimExpr(tuple(kept))


def terms_of(dim: Dim) -> tuple[Term, ...]:
    """Returns the terms of a number or an expression; none for 0."""
    if isinstance(dim, DimExpr):
        return dim.terms
    number = index(dim)  # numbers of numpy become Python's, which do not overflow
    return (((), number),) if number else ()


def constant_of(dim: Dim) -> int:
    """Returns the number at the end of a sum, 0 where there is none."""
    if isinstance(dim, int):
        return dim
    mono, coefficient = dim.terms[-1]
    return 0 if mono else coefficient


def term_key(term: Term) -> tuple[int, list[str]]:
    """Orders terms by falling degree, then by name: a monomial order, as division needs it."""
    return -len(term[0]), [_atom_text(atom) for atom in term[0]]


def multiply(a: Mono, b: Mono) -> Mono:
    """Returns the product of two products of atoms."""
    if not a or not b:
        return a or b
    return tuple(sorted(a + b, key=_atom_text))


def _sum(a: DimExpr, b: Dim, sign: int) -> Dim:
    added = terms_of(b)
    if not added:
        return a
    terms = dict(a.terms)
    for mono, coefficient in added:
        terms[mono] = terms.get(mono, 0) + sign * coefficient
    return build(terms)


def _times(a: DimExpr, b: Dim) -> Dim:
    factors = terms_of(b)
    if factors == (((), 1),):
        return a
    _check_limit(len(a.terms) * len(factors), 0)  # before the work, not after
    terms: dict[Mono, int] = {}
    for mono, coefficient in a.terms:
        for other, factor in factors:
            joined = multiply(mono, other)
            terms[joined] = terms.get(joined, 0) + coefficient * factor
    return build(terms)


def _check_limit(size: int, depth: int) -> None:
    if size > MAX_SIZE or depth > MAX_DEPTH:
        raise DimLimitError(
            f"expected a dimension of at most {MAX_SIZE} nodes and {MAX_DEPTH} levels,"
            f" got {size} nodes and {depth} levels"
        )


def _mono_size(mono: Mono) -> int:
    return sum([1 if isinstance(atom, str) else atom.size for atom in mono])


def _collect_symbols(dim: Dim, found: set[str]) -> None:
    for mono, _ in terms_of(dim):
        for atom in mono:
            if isinstance(atom, str):
                found.add(atom)
            else:
                for arg in atom.args:
                    _collect_symbols(arg, found)


def _evaluate_atom(atom: Atom, values: Mapping[str, int]) -> int:
    if isinstance(atom, str):
        if atom not in values:
            raise ValueError(f"expected a value for symbol '{atom}'")
        return index(values[atom])
    args = [evaluate(arg, values) for arg in atom.args]
    if atom.kind in ("max", "min"):
        return max(args) if atom.kind == "max" else min(args)
    if args[1] == 0:
        raise ValueError(f"expected a divisor other than 0 in '{atom.text}'")
    return args[0] // args[1] if atom.kind == "floordiv" else args[0] % args[1]


def _atom_text(atom: Atom) -> str:
    return atom if isinstance(atom, str) else atom.text


def _factor_text(atom: Atom) -> str:
    if isinstance(atom, str):
        return atom
    return f"({atom.text})" if atom.kind in ("floordiv", "mod") else atom.text


def _term_text(term: Term, *, bare: bool) -> str:
    """Prints a term without its sign; `bare` drops the brackets of a division standing alone."""
    mono, coefficient = term
    number = abs(coefficient)
    if bare and number == 1 and len(mono) == 1:
        return _atom_text(mono[0])
    factors = [_factor_text(atom) for atom in mono]
    if number != 1 or not mono:
        factors.insert(0, str(number))
    return "*".join(factors)


def _operand_text(dim: Dim) -> str:
    text = str(dim)
    if isinstance(dim, int):
        return text if dim >= 0 else f"({text})"
    mono, coefficient = dim.terms[0]
    if len(dim.terms) == 1 and coefficient == 1 and len(mono) == 1:
        return _factor_text(mono[0])
    return f"({text})"
