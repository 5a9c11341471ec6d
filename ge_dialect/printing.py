"""Text that parses back to the same bits.

xDSL prints some floats as hexadecimal integers, which its parser reads as numbers inside a dense
constant (`dense<0xff800000>`, minus infinity, comes back as 4286578688.0). It also prints zeros of
both signs as one splat.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from io import StringIO
from typing import Any, TypeGuard, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    FusedLoc,
    MemRefType,
    NameLoc,
    NoneAttr,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer


class ExactPrinter(Printer):
    """xDSL's printer, but for floats: decimal where finite, else the constant's bytes in quotes.

    A property that is infinite or NaN is its bits, which `float_text` reads.
    """

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute; dense floats that have no exact decimal text by their bytes.

        The text of a tensor or buffer type or of a location is kept: a module prints the same ones
        again and again.
        """
        kind = type(attribute)  # no subclass: xDSL's attributes are final
        if kind is TensorType or kind is MemRefType:
            self._print_kept(attribute, _plain_text)
        elif (kind is FusedLoc or kind is NameLoc) and not self.printing_location:
            self._print_kept(attribute, location_text)
        elif _is_dense(attribute) and (_is_truth(attribute) or _needs_bytes(attribute)):
            print_exactly(self, attribute)
        else:
            super().print_attribute(attribute)

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        """Prints text; mostly a few characters of one line, which need no look at the lines."""
        if "\n" in text:
            super().print_string(text, indent=indent)
        else:
            self._current_column += len(text)
            self._write(self._encode(text))

    def print_bytes_literal(self, bytestring: bytes) -> None:
        """Prints bytes in quotes, at once and not each for itself."""
        self.print_string(_quoted(bytestring))

    def _print_kept(self, attribute: Attribute, text_of: Callable[[Attribute], str]) -> None:
        # By identity: equal ones are mostly the same object, and hashing one walks all of it.
        texts: dict[int, tuple[Attribute, str]] = self.__dict__.setdefault("_texts", {})
        if (known := texts.get(id(attribute))) is None:
            known = texts[id(attribute)] = (attribute, text_of(attribute))
        self.print_string(known[1])

    def print_float(self, value: float, type: AnyFloat) -> None:
        """Prints a finite number with as many digits as tell it from its neighbours."""
        if not math.isfinite(value) or _is_short(value, type):
            super().print_float(value, type)
        elif isinstance(type, Float32Type):
            self.print_string(f"{value:.8e}")
        else:
            self.print_string(f"{value:.16e}")


def _plain_text(attribute: Attribute) -> str:
    text = StringIO()
    Printer(text).print_attribute(attribute)
    return text.getvalue()


def location_text(location: Attribute) -> str:
    """Returns a location as it stands behind an op."""
    parts: tuple[Attribute, ...] = (location,)
    if fused := isinstance(location, FusedLoc):
        if not isinstance(location.metadata, NoneAttr):
            return _plain_text(location)
        parts = cast("ArrayAttr[Attribute]", location.locations).data
    names: list[str] = []
    for part in parts:
        if not isinstance(part, NameLoc) or not isinstance(part.location, NoneAttr):
            return _plain_text(location)
        names.append(_quoted(part.desc.data.encode()))
    return f"loc(fused[{', '.join(names)}])" if fused else f"loc({names[0]})"


def _quoted(data: bytes) -> str:
    return f'"{data.decode("latin-1").translate(_escapes())}"'


@cache
def _escapes() -> dict[int, str]:
    """Returns what stands for each byte that a literal cannot hold as it is."""
    printable = set(range(0x20, 0x7F)) - {0x22, 0x5C}
    return {byte: f"\\{byte:02X}" for byte in range(256) if byte not in printable} | {0x5C: "\\\\"}


def exact_text(module: Operation, *, generic: bool = False, locations: bool = False) -> str:
    """Returns the text of a module that parses back to the same bits.

    Args:
        module: Any op.
        generic: In the generic form, which MLIR's own tools read.
        locations: With the places that ops come from.
    """
    text = StringIO()
    _TextPrinter(text, print_generic_format=generic, print_debuginfo=locations).print_op(module)
    return text.getvalue() + "\n"


class _TextPrinter(ExactPrinter):
    """Prints to a string, where nobody asks in which column it is."""

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        else:
            self.stream.write(text)


def print_exactly(printer: Printer, attribute: Attribute) -> None:
    """Prints an attribute by any printer; dense floats without an exact text by their bytes."""
    if _is_dense(attribute) and _is_truth(attribute):
        printer.print_string(f"dense<{_truth_text(attribute)}> : ")
        printer.print_attribute(attribute.get_type())
    elif _is_dense(attribute) and _needs_bytes(attribute):
        printer.print_string(f'dense<"0x{_shortest(attribute).hex().upper()}"> : ')
        printer.print_attribute(attribute.get_type())
    else:
        printer.print_attribute(attribute)


def _is_dense(attribute: Attribute) -> TypeGuard[DenseIntOrFPElementsAttr[Any]]:
    return type(attribute) is DenseIntOrFPElementsAttr


def _is_truth(attribute: DenseIntOrFPElementsAttr[Any]) -> bool:
    """Whether a constant is of `i1`: xDSL writes long ones as a byte each, MLIR reads bits."""
    return attribute.get_element_type() == i1


def _truth_text(attribute: DenseIntOrFPElementsAttr[Any]) -> str:
    """Returns truth values as nested lists, one value where all are equal."""
    words = ["true" if byte else "false" for byte in attribute.data.data]
    if words and words == words[:1] * len(words):
        return words[0]
    for size in reversed(attribute.get_shape()):
        groups = range(0, len(words), max(size, 1))
        words = [f"[{', '.join(words[i : i + size])}]" for i in groups] if size else ["[]"]
    return words[0] if words else ""


def _is_short(value: float, type: AnyFloat) -> bool:
    """Whether the six digits that xDSL tries first are exact."""
    return type.unpack(type.pack([float(f"{value:.5e}")]), 1)[0] == value


def _needs_bytes(attribute: DenseIntOrFPElementsAttr[Any]) -> bool:
    if not isinstance(attribute.get_element_type(), AnyFloat) or len(attribute) == 0:
        return False
    values: tuple[float, ...] = attribute.get_values()
    if not all(map(math.isfinite, values)):
        return True
    # Equal numbers of different bits: zeros of both signs.
    return 0.0 in values and len({math.copysign(1, value) for value in values if not value}) > 1


def _shortest(attribute: DenseIntOrFPElementsAttr[Any]) -> bytes:
    """Returns the bytes of a constant, those of one element where all are equal."""
    data = bytes(attribute.data.data)
    width = len(data) // len(attribute)
    return data[:width] if data[:width] * len(attribute) == data else data
