"""Properties of floats of a fixed type, in the custom form of an op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.ir import Attribute, TypedAttribute
from xdsl.irdl import AttrConstraint, ParamAttrConstraint, eq

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer


class _FloatText(TypedAttribute):
    """Reads a float without its type: a number, or its bits as a hexadecimal integer.

    Never instantiated. xDSL prints what is infinite or NaN as bits, as MLIR does, and reads them
    back only where the type stands behind.
    """

    name = "ge.float_text"

    @classmethod
    def get_type_index(cls) -> int:
        return FloatAttr.get_type_index()

    @staticmethod
    def parse_with_type(parser: AttrParser, type: Attribute) -> TypedAttribute:
        kind = cast("AnyFloat", type)
        place = parser.pos
        number = parser.parse_optional_number()
        if number is None:
            parser.raise_error("Expected float literal")
        if isinstance(number, float):
            return FloatAttr(number, kind)
        text = parser.lexer.input.slice(place, parser.pos) or ""
        if not text.startswith(("0x", "0X")) or number.bit_length() > kind.bitwidth:
            parser.raise_error(
                f"Expected float literal or the {kind.bitwidth} bits of one in hexadecimal", place
            )
        raw = number.to_bytes(kind.compile_time_size, "little")
        return FloatAttr(next(iter(kind.iter_unpack(raw))), kind)

    def print_without_type(self, printer: Printer) -> None:
        raise TypeError("only the float itself is printed")


@dataclass(frozen=True)
class _FloatConstraint(ParamAttrConstraint[FloatAttr]):
    """A float of one type, whose text `_FloatText` reads."""

    def get_bases(self) -> set[type[Attribute]] | None:
        return {_FloatText}


def float_of(type: AnyFloat) -> AttrConstraint[FloatAttr]:
    """Returns the constraint of a float property of a type."""
    found = FloatAttr.constr(eq(type))
    assert isinstance(found, ParamAttrConstraint)
    return _FloatConstraint(found.base_attr, found.param_constrs)
