"""Assembly formats of ops, which are read when an op is first parsed or printed."""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from xdsl.irdl import IRDLOperation

if TYPE_CHECKING:
    from xdsl.dialects.builtin import IntegerType
    from xdsl.ir import Attribute
    from xdsl.irdl.declarative_assembly_format import (
        DenseArrayAttributeVariable,
        FormatDirective,
        FormatProgram,
        FunctionalTypeDirective,
        PrintingState,
    )
    from xdsl.parser import Parser
    from xdsl.printer import Printer

_FORMATS: dict[type, str] = {}


def declare_format(op_class: type[IRDLOperation], text: str) -> None:
    """Gives a class its assembly format, which is read when an op is first parsed or printed."""

    def parse(cls: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return _program(cls).parse(parser, cls)

    def print_(self: IRDLOperation, printer: Printer) -> None:
        _program(type(self)).print(printer, self)

    _FORMATS[op_class] = text
    del op_class.assembly_format
    setattr(op_class, "parse", classmethod(parse))  # noqa: B010  # as xDSL does it
    op_class.print = print_


def format_of(op_class: type[IRDLOperation]) -> str | None:
    """Returns the assembly format of an op class, or None where it has none."""
    found = next((_FORMATS[base] for base in op_class.__mro__ if base in _FORMATS), None)
    return op_class.get_irdl_definition().assembly_format if found is None else found


_PARTS = attrgetter(
    *("operands", "results", "properties", "attributes", "regions", "successors"),
    *("options", "accessor_names", "custom_directives"),
)
"""What a format is checked against."""

_PROGRAMS: dict[str, list[tuple[object, FormatProgram]]] = {}
"""Formats that were read, of ops of equal parts once."""


def _quick(directive: FormatDirective) -> FormatDirective:
    """Returns a directive that does the same; of functional types and of packed integers one that
    prints them at once."""
    from xdsl.dialects.builtin import IntegerType
    from xdsl.irdl.declarative_assembly_format import (
        DenseArrayAttributeVariable,
        FunctionalTypeDirective,
    )

    if type(directive) is FunctionalTypeDirective:
        return _functional_type()(
            directive.operand_typeable_directive, directive.result_typeable_directive
        )
    is_packed = type(directive) is DenseArrayAttributeVariable
    if is_packed and isinstance(directive.elt_type, IntegerType):
        return _packed_integers()(**vars(directive))
    return directive


@cache
def _packed_integers() -> type[DenseArrayAttributeVariable]:
    from xdsl.dialects.builtin import DenseArrayBase
    from xdsl.irdl.declarative_assembly_format import DenseArrayAttributeVariable

    class QuickPackedIntegers(DenseArrayAttributeVariable):
        def print_attr(self, printer: Printer, attr: Attribute) -> None:
            # xDSL finds out what the elements are by a constraint that it makes each time.
            found = cast("DenseArrayBase[IntegerType]", attr)
            if type(attr) is DenseArrayBase and found.elt_type == self.elt_type:
                printer.print_string(f"[{', '.join(map(str, found.get_values()))}]")
            else:
                super().print_attr(printer, attr)

    return QuickPackedIntegers


@cache
def _functional_type() -> type[FunctionalTypeDirective]:
    from xdsl.irdl.declarative_assembly_format import FunctionalTypeDirective

    from ge_dialect.printing import ExactPrinter

    class QuickFunctionalType(FunctionalTypeDirective):
        def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
            if not isinstance(printer, ExactPrinter):
                super().print(printer, state, op)
                return
            state.print_whitespace(printer)
            read = [printer.text_of(one) for one in self.operand_typeable_directive.get_types(op)]
            made = [printer.text_of(one) for one in self.result_typeable_directive.get_types(op)]
            results = made[0] if len(made) == 1 else f"({', '.join(made)})"
            printer.print_string(f"({', '.join(read)}) -> {results}")

    return QuickFunctionalType


@cache
def _program(op_class: type[IRDLOperation]) -> FormatProgram:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

    text = format_of(op_class)
    assert text is not None
    definition = op_class.get_irdl_definition()
    parts = _PARTS(definition)
    known = _PROGRAMS.setdefault(text, [])
    for other, program in known:
        if other == parts:
            return program  # which reads the class from the op, or is given it
    program = FormatProgram.from_str(text, definition)
    program = FormatProgram(tuple(map(_quick, program.stmts)))
    known.append((parts, program))
    return program
