"""Text that parses back to the same bits.

xDSL prints some floats as hexadecimal integers, which its parser reads as numbers inside a dense
constant (`dense<0xff800000>`, minus infinity, comes back as 4286578688.0). It also prints zeros of
both signs as one splat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from io import StringIO
from types import MappingProxyType
from typing import Any, TypeGuard, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    FusedLoc,
    MemRefType,
    NameLoc,
    NoneAttr,
    SymbolRefAttr,
    TensorType,
    UnknownLoc,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.printer import Printer

from ge_dialect.ge.access import ops_of
from ge_dialect.ge.base import FormattedOp
from ge_dialect.literals import quoted, quoted_list

_REPEATED = frozenset((TensorType, MemRefType, SymbolRefAttr, UnknownLoc))
"""Attributes whose text is kept, since a module has the same ones again and again."""


class ExactPrinter(Printer):
    """xDSL's printer, but for floats: decimal where finite, else the constant's bytes in quotes.

    A property that is infinite or NaN is its bits, which `float_text` reads.

    Attributes:
        stored: Where weights are in the file that the text is for, in bytes; by identity.
    """

    stored: Mapping[int, int] = MappingProxyType({})

    def print_op(self, op: Operation) -> None:
        """Prints an op; one that knows its text by itself at once."""
        if (text := self._text_of_op(op)) is None:
            super().print_op(op)
        else:
            self.print_string(text)

    def _text_of_op(self, op: Operation) -> str | None:
        """Returns the text of an op that knows it by itself; None of another."""
        if not isinstance(op, FormattedOp) or self.print_generic_format:
            return None
        if (messages := self.diagnostic.op_messages) and op in messages:
            return None
        results = f"{self.names_of(op.results)} = " if op.results else ""
        if (text := op.quick_text(self)) is None:
            return None
        place = f" {self._place_of(op.location)}" if self.print_debuginfo else ""
        return f"{results}{op.name}{text}{place}"

    def _place_of(self, location: Attribute) -> str:
        """Returns the text of a location; that of one node is of few ops, and not kept."""
        if type(location) is NameLoc and type(location.location) is NoneAttr:
            return f"loc({quoted(location.desc.data)})"
        return self.text_of(location)

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute; dense floats that have no exact decimal text by their bytes.

        The text of types, symbols and locations is kept.
        """
        if (text := self._kept_text(attribute)) is not None:
            self.print_string(text)
        else:
            self._print_anew(attribute)

    def _print_anew(self, attribute: Attribute) -> None:
        if _is_dense(attribute) and (_is_truth(attribute) or _needs_bytes(attribute)):
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
        self.print_string(quoted(bytestring))

    def text_of(self, attribute: Attribute) -> str:
        """Returns what `print_attribute` prints."""
        texts, key = self._texts, id(attribute)
        if key in texts and not self.printing_location:
            return texts[key][1]
        text = self._kept_text(attribute)
        return self._printed(attribute) if text is None else text

    def _printed(self, attribute: Attribute) -> str:
        stream, self.stream = self.stream, StringIO()
        line, column = self._current_line, self._current_column
        try:
            self._print_anew(attribute)
            return self.stream.getvalue()
        finally:
            self.stream, self._current_line, self._current_column = stream, line, column

    def name_of(self, value: SSAValue) -> str:
        """Returns what `print_ssa_value` prints; gives the value a name where it has none."""
        known = self._ssa_values
        if value not in known:
            if hint := value.name_hint:
                taken = self._ssa_names[-1]
                count = taken.get(hint, 0)
                taken[hint] = count + 1
                name = f"{hint}_{count}" if count else hint
            else:
                name = self._get_new_valid_name_id()
            known[value] = name
        return f"%{known[value]}"

    def names_of(self, values: Sequence[SSAValue]) -> str:
        """Returns the names of values with commas between them."""
        known = self._ssa_values
        if len(values) == 1:
            (value,) = values
            return self.name_of(value)
        return ", ".join([f"%{known[v]}" if v in known else self.name_of(v) for v in values])

    def types_of(self, values: Sequence[SSAValue]) -> str:
        """Returns the types of values with commas between them."""
        texts, types = self._texts, [value.type for value in values]
        return ", ".join([texts[id(t)][1] if id(t) in texts else self.text_of(t) for t in types])

    def print_ssa_value(self, value: SSAValue) -> str:
        """Prints the name of a value, and returns it."""
        self.print_string(name := self.name_of(value))
        return name[1:]

    def _kept_text(self, attribute: Attribute) -> str | None:
        """Returns the text of an attribute of a kind that is kept; None of another."""
        # By identity: equal ones are mostly the same object, and hashing one walks all of it.
        if (known := self._texts.get(id(attribute))) is not None and not self.printing_location:
            return known[1]
        kind = type(attribute)  # no subclass: xDSL's attributes are final
        if kind is TensorType or kind is MemRefType:
            text_of = self._shaped_text
        elif kind in _REPEATED:
            text_of = _plain_text
        elif attribute.name == "dlti.target_device_spec":
            return self._machine_text(attribute)
        elif (kind is FusedLoc or kind is NameLoc) and not self.printing_location:
            text_of = location_text
        else:
            return None
        text = text_of(attribute)
        self._texts[id(attribute)] = (attribute, text)
        return text

    def _shaped_text(self, attribute: Attribute) -> str:
        """Returns the text of a tensor or memref type, directive by directive of xDSL only where
        it has an encoding or a layout."""
        type_ = cast("TensorType[Attribute] | MemRefType[Attribute]", attribute)
        is_tensor = isinstance(type_, TensorType)
        more = type_.encoding if is_tensor else type_.layout
        if type(more) is not NoneAttr or DYNAMIC_INDEX in (shape := type_.get_shape()):
            return _plain_text(attribute)
        text = "x".join([*map(str, shape), self.text_of(type_.element_type)])
        if is_tensor:
            return f"tensor<{text}>"
        space = type_.memory_space
        return f"memref<{text}>" if type(space) is NoneAttr else f"memref<{text}, {space}>"

    def _machine_text(self, attribute: Attribute) -> str:
        """Returns the text of the figures of a machine; all modules for it have this attribute."""
        fields: Any = attribute.__dict__
        if (known := fields.get("_ge_text")) is None:
            known = fields["_ge_text"] = self._printed(attribute)
        return known

    @cached_property
    def _texts(self) -> dict[int, tuple[Attribute, str]]:
        """The texts that are kept, with what they are of."""
        return {}

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
    if type(location) is NameLoc and type(location.location) is NoneAttr:  # mostly
        return f"loc({quoted(location.desc.data)})"
    parts: tuple[Attribute, ...] = (location,)
    if fused := isinstance(location, FusedLoc):
        if not isinstance(location.metadata, NoneAttr):
            return _plain_text(location)
        parts = cast("ArrayAttr[Attribute]", location.locations).data
    names = [
        part.desc.data
        for part in parts
        if type(part) is NameLoc and type(part.location) is NoneAttr
    ]
    if len(names) < len(parts):
        return _plain_text(location)
    return f"loc(fused[{quoted_list(names)}])" if fused else f"loc({quoted(names[0])})"


def exact_text(
    module: Operation,
    *,
    generic: bool = False,
    locations: bool = False,
    stored: Mapping[int, int] | None = None,
) -> str:
    """Returns the text of a module that parses back to the same bits.

    Args:
        module: Any op.
        generic: In the generic form, which MLIR's own tools read.
        locations: With the places that ops come from.
        stored: As of `ExactPrinter`.
    """
    printer = _TextPrinter(StringIO(), print_generic_format=generic, print_debuginfo=locations)
    printer.stored = printer.stored if stored is None else stored
    printer.print_op(module)
    return "".join([*printer.pieces, "\n"])


class _TextPrinter(ExactPrinter):
    """Prints to a string, where nobody asks in which column it is.

    The pieces are joined once: a stream of text copies itself when it is asked what it holds.
    """

    @cached_property
    def pieces(self) -> list[str]:
        """What is printed so far."""
        return []

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        else:
            self.pieces.append(text)

    def print_block(
        self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True
    ) -> None:
        if print_block_args or not print_block_terminator:
            super().print_block(block, print_block_args, print_block_terminator)
            return
        self._indent += 1
        line = "\n" + "  " * self._indent
        for op in ops_of(block):
            if (text := self._text_of_op(op)) is None:
                self.pieces.append(line)
                super().print_op(op)
            else:
                self.pieces.append(line + text)
        self._indent -= 1

    def _write(self, content: str) -> None:
        self.pieces.append(content)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        self.pieces.append("\n" + "  " * (self._indent if indent is None else indent))

    def _printed(self, attribute: Attribute) -> str:
        before = len(self.pieces)
        self._print_anew(attribute)
        text = "".join(self.pieces[before:])
        del self.pieces[before:]
        return text


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
