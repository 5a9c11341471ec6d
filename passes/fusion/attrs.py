"""What a rule may say of an attribute: numbers are compared as the op holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute

from ge_dialect.remarks import ReasonClass

Plain: TypeAlias = "float | int | bool | str | tuple[int, ...]"
"""A value as a rule spells it."""


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds, with what was there and what was wanted.

    Attributes:
        holds: Whether it does.
        found: What was there.
        wanted: What was needed.
        reason: The class of the miss, where it is not that of the condition.
    """

    holds: bool
    found: str = ""
    wanted: str = ""
    reason: ReasonClass | None = None


@dataclass(frozen=True)
class Keep:
    """Any value; the fused kernel carries it."""

    def test(self, attr: Attribute | None) -> Verdict:
        """Holds always."""
        return Verdict(True)

    def repaired(self, attr: Attribute | None) -> Attribute | None:
        """Returns the attribute as it is: nothing is wrong with it."""
        return attr


@dataclass(frozen=True)
class DontCare(Keep):
    """Any value, and the kernel does the same for each: a replacement may drop it."""


@dataclass(frozen=True)
class Equals:
    """Exactly this value, a number compared in the attribute's own type.

    `1e-5` is rounded to the type of the attribute first: an f32 epsilon is never the f64 number.
    A tuple is an array of integers, a string a string, a truth value an `i1`.
    """

    value: Plain

    def test(self, attr: Attribute | None) -> Verdict:
        """Compares an attribute; an absent one does not hold."""
        found, wanted = plain(attr), self.value
        if isinstance(wanted, float | int) and not isinstance(wanted, bool):
            wanted = rounded(wanted, attr)
        holds = type(found) is not bool or isinstance(wanted, bool)
        holds = holds and found == wanted
        if holds or shown(found) != shown(wanted):
            return Verdict(holds, shown(found), shown(wanted))
        # Seven digits do not tell them apart: all digits, and what was asked for.
        asked = f"{wanted!r} ({self.value!r} rounded to its type)"
        return Verdict(False, repr(found), asked)

    def repaired(self, attr: Attribute | None) -> Attribute | None:
        """Returns the attribute that would fit, None where that is not known."""
        return attribute_of(self.value, attr)


@dataclass(frozen=True)
class Within:
    """A number from `low` to `high`, both included, each rounded to the attribute's type."""

    low: float
    high: float

    def test(self, attr: Attribute | None) -> Verdict:
        """Compares an attribute; an absent one does not hold."""
        found = number_of(attr)
        low, high = rounded(self.low, attr), rounded(self.high, attr)
        holds = found is not None and low <= found <= high
        return Verdict(holds, shown(found), f"{shown(low)} to {shown(high)}")

    def repaired(self, attr: Attribute | None) -> Attribute | None:
        """Returns the nearest attribute that fits, None where the attribute is no number."""
        found = number_of(attr)
        nearest = self.high if found is not None and found > self.high else self.low
        return attribute_of(nearest, attr)


@dataclass(frozen=True)
class Among:
    """One of several values, each compared as `Equals` does."""

    values: tuple[Plain, ...]

    def test(self, attr: Attribute | None) -> Verdict:
        """Compares an attribute; an absent one does not hold."""
        holds = any(Equals(value).test(attr).holds for value in self.values)
        return Verdict(holds, shown(plain(attr)), " or ".join(map(shown, self.values)))

    def repaired(self, attr: Attribute | None) -> Attribute | None:
        """Returns the first attribute that fits."""
        return attribute_of(self.values[0], attr) if self.values else None


@dataclass(frozen=True)
class Absent:
    """The attribute must not be there (a flag that is off)."""

    def test(self, attr: Attribute | None) -> Verdict:
        """Holds where there is no attribute."""
        return Verdict(attr is None, "nothing" if attr is None else str(attr), "absent")

    def repaired(self, attr: Attribute | None) -> Attribute | None:
        """Returns nothing: the attribute is to go."""
        return None


@dataclass(frozen=True)
class Present:
    """The attribute must be there, with any value (a flag that is on)."""

    def test(self, attr: Attribute | None) -> Verdict:
        """Holds where there is an attribute."""
        return Verdict(attr is not None, "nothing" if attr is None else str(attr), "present")

    def repaired(self, attr: Attribute | None) -> Attribute | None:
        """Returns a flag; what else the attribute could be is not known."""
        return UnitAttr() if attr is None else attr


AttrSpec: TypeAlias = Keep | DontCare | Equals | Within | Among | Absent | Present
KEEP = Keep()
DONT_CARE = DontCare()


def number_of(attr: Attribute | None) -> float | int | None:
    """Returns the number of an attribute, exactly as it holds it."""
    if isinstance(attr, FloatAttr | IntegerAttr):
        return attr.value.data
    return None


def plain(attr: Attribute | None) -> Plain | None:
    """Returns the value of an attribute as a rule would spell it; None for what has no spelling."""
    match attr:
        case StringAttr():
            return attr.data
        case DenseArrayBase():
            values = cast("DenseArrayBase[IntegerType]", attr).get_values()
            return tuple(int(value) for value in values)
        case IntegerAttr() if str(attr.type) == "i1":
            return bool(attr.value.data)
        case _:
            return number_of(attr)


def rounded(value: float, attr: Attribute | None) -> float:
    """Returns `value` as the type of `attr` holds it."""
    if not isinstance(attr, FloatAttr):
        return value
    type_ = cast("FloatAttr[AnyFloat]", attr).type
    return FloatAttr(value, type_).value.data


def attribute_of(value: Plain, like: Attribute | None) -> Attribute:
    """Returns a value as an attribute of the kind of `like`; by its Python type without one."""
    match value:
        case bool():
            return BoolAttr.from_bool(value)
        case str():
            return StringAttr(value)
        case tuple():
            return DenseArrayBase.from_list(i64, list(value))
        case _:
            if isinstance(like, FloatAttr):
                return FloatAttr(value, cast("FloatAttr[AnyFloat]", like).type)
            if isinstance(like, IntegerAttr):
                return IntegerAttr(int(value), cast("IntegerAttr[IntegerType]", like).type)
            return IntegerAttr(value, i64) if isinstance(value, int) else FloatAttr(value, f32)


def shown(value: Plain | None) -> str:
    """Returns a value as messages print it: short, since f32 1e-05 is 9.999999747378752e-06."""
    match value:
        case None:
            return "nothing"
        case float():
            return f"{value:.7g}"
        case tuple():
            return str(list(value))
        case _:
            return str(value)
