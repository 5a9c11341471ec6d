"""Dimensions out of text, and names of symbols out of the names that models use."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NoReturn

from ge_dialect.symbols.division import ceil_div, floor_div, mod
from ge_dialect.symbols.expr import MAX_NAME, Dim, is_name, symbol
from ge_dialect.symbols.extrema import maximum, minimum

MAX_LENGTH = 65536
"""Most characters of a text."""
MAX_TOKENS = 4096
"""Most words and signs of a text."""
MAX_NESTING = 80
"""Most brackets inside each other."""
MAX_DIGITS = 64
"""Most digits of a number: more than any size has, few enough to be cheap."""

_TOKEN = re.compile(r"\s*([^\W\d][\w.$]*|[0-9]+|//|[-+*%(),]|$)")
_WORD = re.compile(r"[^\W\d][\w.$]*")
_DIVISIONS = {
    "floordiv": floor_div,
    "//": floor_div,
    "ceildiv": ceil_div,
    "mod": mod,
    "%": mod,
}
_FUNCTIONS = {"max": maximum, "Max": maximum, "min": minimum, "Min": minimum}
_KEYWORDS = frozenset({*_DIVISIONS, *_FUNCTIONS})


def parse_dim(text: str) -> Dim:
    """Returns the dimension that `text` spells, the inverse of `str`.

    Numbers, symbols, `+`, `-`, `*`, `floordiv`, `ceildiv`, `mod`, `max(...)` and `min(...)`;
    the four of multiplication bind alike and from the left, as in MLIR. The `//`, `%`, `Max` and
    `Min` of torch's exporter are read as well.

    Raises:
        ValueError: `text` spells no dimension, divides by 0, or is too large.
    """
    return _Parser(text).parse()


def import_dim(name: str, known: Collection[str]) -> Dim:
    """Returns the dimension that a model calls `name`.

    Exporters name derived dimensions by formulas, `past + 1`: such a name is read as one where it
    mentions the `known` symbols only, and may turn out a number: `(16*batch)//batch`. Any other
    name is a symbol of its own, whatever it looks like.
    """
    words = {word for word in _WORD.findall(name[:MAX_LENGTH]) if word not in _KEYWORDS}
    if words and all(word in known for word in words):
        try:
            return parse_dim(name)
        except ValueError:
            pass  # a name that is no formula after all
    return symbol(sanitise(name))


def sanitise(name: str) -> str:
    """Returns `name` where it may name a symbol, else a readable name that may.

    A digest of the original keeps names apart that differ in the replaced characters only.
    """
    if is_name(name):
        return name
    from hashlib import blake2b

    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    readable = re.sub(r"[^\w.$]+", "_", name[:MAX_LENGTH])[: MAX_NAME - 10]
    prefix = "" if re.match(r"[^\W\d]", readable) else "_"
    return f"{prefix}{readable}_{digest}"


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = self._tokenize()
        self.position = 0
        self.nesting = 0

    def parse(self) -> Dim:
        dim = self._sum()
        if self._peek():
            self._fail("an operator or the end")
        return dim

    def _tokenize(self) -> list[str]:
        if len(self.text) > MAX_LENGTH:
            raise ValueError(
                f"expected a dimension of at most {MAX_LENGTH} characters, got {len(self.text)}"
            )
        tokens: list[str] = []
        start = 0
        while not tokens or tokens[-1]:
            found = _TOKEN.match(self.text, start)
            if found is None or len(tokens) > MAX_TOKENS:
                what = f"at most {MAX_TOKENS} words and signs" if found else "a dimension"
                raise ValueError(f"expected {what}, got {self._shown()}")
            tokens.append(found[1])
            start = found.end()
        return tokens

    def _sum(self) -> Dim:
        dim = self._product()
        while (sign := self._peek()) in ("+", "-"):
            self._next()
            right = self._product()
            dim = dim + right if sign == "+" else dim - right
        return dim

    def _product(self) -> Dim:
        dim = self._factor()
        while (operator := self._peek()) == "*" or operator in _DIVISIONS:
            self._next()
            right = self._factor()
            dim = dim * right if operator == "*" else _DIVISIONS[operator](dim, right)
        return dim

    def _factor(self) -> Dim:
        negative = False
        while self._peek() == "-":
            self._next()
            negative = not negative
        dim = self._primary()
        return 0 - dim if negative else dim

    def _primary(self) -> Dim:
        token = self._peek()
        if not (token == "(" or token.isdecimal() or is_name(token) or token in _FUNCTIONS):
            self._fail("a number, a symbol or '('")
        self._next()
        if token == "(":
            dim = self._nested()
            self._close()
            return dim
        if token in _FUNCTIONS and self._peek() == "(":
            return self._call(token)
        if token.isdecimal():
            return self._number(token)
        return symbol(token)

    def _call(self, name: str) -> Dim:
        self._next()
        args = [self._nested()]
        while self._peek() == ",":
            self._next()
            args.append(self._nested())
        self._close()
        return _FUNCTIONS[name](*args)

    def _nested(self) -> Dim:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise ValueError(
                f"expected at most {MAX_NESTING} brackets inside each other, got {self._shown()}"
            )
        dim = self._sum()
        self.nesting -= 1
        return dim

    def _number(self, token: str) -> int:
        if len(token) > MAX_DIGITS:
            raise ValueError(
                f"expected numbers of at most {MAX_DIGITS} digits, got {self._shown()}"
            )
        return int(token)

    def _close(self) -> None:
        if self._peek() != ")":
            self._fail("')'")
        self._next()

    def _peek(self) -> str:
        return self.tokens[self.position]

    def _next(self) -> str:
        token = self.tokens[self.position]
        if token:  # the end stays the next token
            self.position += 1
        return token

    def _fail(self, expected: str) -> NoReturn:
        got = repr(self._peek()[:MAX_NAME]) if self._peek() else "the end"
        raise ValueError(f"expected {expected}, got {got} in the dimension {self._shown()}")

    def _shown(self) -> str:
        return repr(self.text if len(self.text) <= MAX_NAME else self.text[:MAX_NAME] + "...")
