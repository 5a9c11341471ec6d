"""Attributes and types of the `ge` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from xdsl.dialects.builtin import NoneAttr
from xdsl.dialects.dlti import TargetSystemSpecAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from ge_dialect.diagnostics import GEError
from ge_dialect.literals import quoted
from ge_dialect.symbols import DimExpr, Guard, Relation, SymbolRange, parse_dim
from ge_dialect.weights import MemoryWeight, Weight, WeightSource


@irdl_attr_definition
class StringType(ParametrizedAttribute, TypeAttribute):
    """The element type of a tensor of strings, `!ge.string`."""

    name = "ge.string"


@irdl_attr_definition
class FloatFormatType(Data[str], TypeAttribute):
    """A narrow float that builtin has no type for, `!ge.float<f8E4M3FN>`.

    The names are MLIR's; xDSL's builtin stops at 16 bits.
    """

    name = "ge.float"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parser.parse_identifier()

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)


@irdl_attr_definition
class DimsAttr(Data[tuple[DimExpr | None, ...]]):
    """The dynamic dimensions of a tensor type, in order, as its encoding.

    `tensor<?x16x?xf32, #ge.dims<"S", "2*S + 1">>`: expressions over the symbols that the enclosing
    function declares in `ge.symbols`. `#ge.dims<"S", ?>` knows the first of two. Where nothing is
    known of any dynamic dimension a type has no encoding.
    """

    name = "ge.dims"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[DimExpr | None, ...]:
        dims = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: cls._parse_dim(parser)
        )
        if all(dim is None for dim in dims):
            parser.raise_error("expected an expression, got unknown dimensions only")
        return tuple(dims)

    @staticmethod
    def _parse_dim(parser: AttrParser) -> DimExpr | None:
        if parser.parse_optional_punctuation("?"):
            return None
        text = parser.parse_str_literal()
        try:
            dim = parse_dim(text)
        except ValueError as error:
            parser.raise_error(str(error))
        if isinstance(dim, int):
            parser.raise_error(f"expected an expression over symbols, got the number {dim}")
        return dim

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda dim: self._print_dim(printer, dim))

    @staticmethod
    def _print_dim(printer: Printer, dim: DimExpr | None) -> None:
        if dim is None:
            printer.print_string("?")
        else:
            printer.print_string_literal(str(dim))


@irdl_attr_definition
class SymbolAttr(Data[SymbolRange]):
    """What is known of a symbol: `#ge.symbol<1, 4096, 8, "dim 1 of input 'ids'">`.

    Least value, greatest value (`?` where there is none), a number it is a multiple of, and the
    place it comes from.
    """

    name = "ge.symbol"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SymbolRange:
        with parser.in_angle_brackets():
            low = parser.parse_integer()
            parser.parse_punctuation(",")
            high = None if parser.parse_optional_punctuation("?") else parser.parse_integer()
            parser.parse_punctuation(",")
            multiple_of = parser.parse_integer()
            parser.parse_punctuation(",")
            origin = parser.parse_str_literal()
        try:
            return SymbolRange(low, high, multiple_of, origin)
        except ValueError as error:
            parser.raise_error(str(error))

    def print_parameter(self, printer: Printer) -> None:
        high = "?" if self.data.hi is None else self.data.hi
        with printer.in_angle_brackets():
            printer.print_string(f"{self.data.lo}, {high}, {self.data.multiple_of}, ")
            printer.print_string_literal(self.data.origin)


@irdl_attr_definition
class GuardAttr(Data[Guard]):
    """What has to hold of symbols: `#ge.guard<"total", equal, "past + 1", "Add at 'scores'">`.

    Two expressions, `equal`, `broadcast` (equal, or one of them 1) or `multiple` (the second
    divides the first) between them, and the op that needs it.
    """

    name = "ge.guard"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Guard:
        with parser.in_angle_brackets():
            left = parser.parse_str_literal()
            parser.parse_punctuation(",")
            word = parser.parse_identifier()
            parser.parse_punctuation(",")
            right = parser.parse_str_literal()
            parser.parse_punctuation(",")
            why = parser.parse_str_literal()
        try:
            return Guard(parse_dim(left), Relation(word), parse_dim(right), why)
        except ValueError as error:
            parser.raise_error(str(error))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(str(self.data.left))
            printer.print_string(f", {self.data.relation.value}, ")
            printer.print_string_literal(str(self.data.right))
            printer.print_string(", ")
            printer.print_string_literal(self.data.why)


@dataclass(frozen=True)
class ElidedWeight:
    """What is left of a weight in memory once it went through text: its digest and length."""

    digest: str
    length: int

    def view(self) -> memoryview:
        """Raises GEError: the bytes were left out when the IR was printed."""
        raise GEError(
            "GE0320",
            f"a constant of {self.length} bytes (digest {self.digest}) was elided from this text",
            hint="print with --embed-constants, or pass the module on without printing it",
        )

    def write_to(self, file: IO[bytes]) -> None:
        """Raises GEError, as `view`."""
        self.view()


@dataclass(frozen=True)
class NamedWeight:
    """A weight and the name the model gave it; equal names and equal bytes are one weight."""

    name: str
    weight: Weight | ElidedWeight

    @property
    def length(self) -> int:
        """Bytes of the weight."""
        return self.weight.length


@irdl_attr_definition
class WeightAttr(Data[NamedWeight]):
    """The value of a constant that is too large to live in the IR.

    - `#ge.weight<"w", "model.onnx", 1024, 4096>`: name, file, offset and length in bytes.
    - `#ge.weight<"w", memory, "digest", 4096>`: bytes computed by the compiler; the printed form
      leaves them out, so what parses back says where the data went when it is asked for.
    """

    name = "ge.weight"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> NamedWeight:
        with parser.in_angle_brackets():
            name = parser.parse_str_literal()
            parser.parse_punctuation(",")
            weight: Weight | ElidedWeight
            if parser.parse_optional_keyword("memory"):
                parser.parse_punctuation(",")
                digest = parser.parse_str_literal()
                parser.parse_punctuation(",")
                weight = ElidedWeight(digest, parser.parse_integer(allow_negative=False))
            else:
                path = parser.parse_str_literal()
                parser.parse_punctuation(",")
                offset = parser.parse_integer(allow_negative=False)
                parser.parse_punctuation(",")
                weight = WeightSource(path, offset, parser.parse_integer(allow_negative=False))
        return NamedWeight(name, weight)

    def print_parameter(self, printer: Printer) -> None:
        from ge_dialect.printing import ExactPrinter

        stored = printer.stored.get(id(self)) if isinstance(printer, ExactPrinter) else None
        printer.print_string(self.parameter_text(stored))

    def parameter_text(self, stored: int | None = None) -> str:
        """Returns what `print_parameter` prints.

        Args:
            stored: Where the bytes are in the file that holds the text as well, which has no path
                then; None for where they are now.
        """
        name, weight = quoted(self.data.name), self.data.weight
        if stored is not None:
            return f'<{name}, "", {stored}, {weight.length}>'
        if isinstance(weight, MemoryWeight | ElidedWeight):
            return f"<{name}, memory, {quoted(weight.digest)}, {weight.length}>"
        path = quoted(weight.path) if weight.path else '""'
        return f"<{name}, {path}, {weight.offset}, {weight.length}>"


@irdl_attr_definition
class StringsAttr(Data[tuple[bytes, ...]]):
    """The elements of a constant of strings, row by row: `#ge.strings<"a", "b">`."""

    name = "ge.strings"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[bytes, ...]:
        return tuple(
            parser.parse_comma_separated_list(
                parser.Delimiter.ANGLE, lambda: cls._parse_element(parser)
            )
        )

    @staticmethod
    def _parse_element(parser: AttrParser) -> bytes:
        # The lexer takes a literal for bytes where it is no text.
        text = parser.parse_optional_str_literal()
        return parser.parse_bytes_literal() if text is None else text.encode()

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.data, printer.print_bytes_literal)


class Tier(StrEnum):
    """A level of memory, slowest first."""

    HBM = "hbm"
    L2 = "l2"
    L1 = "l1"


@irdl_attr_definition
class TierAttr(Data[Tier]):
    """The tier of an arena; a buffer names its own by a string, `memref<8xf16, "hbm">`."""

    name = "ge.tier"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Tier:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(Tier)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """The machine that a module is compiled for, as `ge.target` of the module.

    `#ge.target<#dlti.target_system_spec<"NPU" = #dlti.target_device_spec<"name" = "Mine">>>`: the
    specification is DLTI's. The wrapper keeps the text opaque to tools that do not know `ge`: the
    syntax of DLTI is another one up to MLIR 19.
    """

    name = "ge.target"

    system: TargetSystemSpecAttr


def dims_encoding(dims: Sequence[DimExpr | None]) -> Attribute:
    """Returns the encoding of a tensor type whose dynamic dimensions are `dims`."""
    return DimsAttr(tuple(dims)) if any(dim is not None for dim in dims) else NoneAttr()
