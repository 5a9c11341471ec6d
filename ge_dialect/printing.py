"""Text that parses back to the same bits.

xDSL prints some floats as hexadecimal integers, which its parser reads as numbers inside a dense
constant (`dense<0xff800000>`, minus infinity, comes back as 4286578688.0) and refuses as a property
of fixed type. It also prints zeros of both signs as one splat.
"""

from __future__ import annotations

import math
from functools import cache
from io import StringIO
from typing import Any, TypeGuard

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float32Type,
    MemRefType,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer


class ExactPrinter(Printer):
    """xDSL's printer, but for floats: decimal where finite, else the constant's bytes in quotes.

    A property that is infinite or NaN has no text that parses in the custom form of an op; in the
    generic form it has.
    """

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute; dense floats that have no exact decimal text by their bytes.

        The text of a tensor or buffer type is kept: a module prints the same few again and again.
        """
        kind = type(attribute)  # no subclass: xDSL's attributes are final
        if kind is TensorType or kind is MemRefType:
            self._print_type(attribute)
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
        self.print_string(f'"{bytestring.decode("latin-1").translate(_escapes())}"')

    def _print_type(self, type: Attribute) -> None:
        # By identity: equal types are mostly the same object, and hashing one walks all of it.
        texts: dict[int, tuple[Attribute, str]] = self.__dict__.setdefault("_type_texts", {})
        if (known := texts.get(id(type))) is None:
            text = StringIO()
            Printer(text).print_attribute(type)
            known = texts[id(type)] = (type, text.getvalue())
        self.print_string(known[1])

    def print_float(self, value: float, type: AnyFloat) -> None:
        """Prints a finite number with as many digits as tell it from its neighbours."""
        if not math.isfinite(value) or _is_short(value, type):
            super().print_float(value, type)
        elif isinstance(type, Float32Type):
            self.print_string(f"{value:.8e}")
        else:
            self.print_string(f"{value:.16e}")


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
    ExactPrinter(text, print_generic_format=generic, print_debuginfo=locations).print_op(module)
    return text.getvalue() + "\n"


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
