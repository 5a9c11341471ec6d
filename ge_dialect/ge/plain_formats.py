"""Assembly formats of the plainest kind, printed without xDSL's reader of formats.

To read a format takes longer than to print the few ops of a plan that have it: bodies of kernels
are made of many kinds of ops. A plain format has operands, properties behind keywords and the types
at its end, as most ops of `ge` do:

    $input (`scale` $scale^)? `axis` $axis attr-dict `:` functional-type(operands, results)

Of any other kind, and of an op that lacks something, xDSL prints what the format says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, UnitAttr, f32, i64
from xdsl.irdl import (
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    OperandDef,
    OptionalDef,
    OptOperandDef,
    VarOperandDef,
)

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import F32Attr, I64ArrayAttr, I64Attr
from ge_dialect.ge.formats import format_of

if TYPE_CHECKING:
    from ge_dialect.printing import ExactPrinter

_TAIL = "attr-dict `:` functional-type(operands, results)"
_PART = re.compile(r"`(\w+|,)` ?|\$(\w+) ?|\(`(\w+)` \$(\w+)\^\)\? ?")
"""A keyword or a comma; an operand or property; one that may be left out, behind a keyword."""

_Writer: TypeAlias = "Callable[[Any, str, ExactPrinter], str | None]"


_Part: TypeAlias = tuple[str, str, _Writer, bool]
"""A part of a format: the text in front of it; the name of the operand or property, empty for a
text alone; what gives its text, None where it is not what it should be; and whether it may be left
out, with the text in front of it."""


def plain_text(op: IRDLOperation, printer: ExactPrinter) -> str | None:
    """Returns what the format of an op prints; None where it is not plain, or the op is not."""
    if op.attributes or (parts := _parts_of(type(op))) is None:
        return None
    text = ""
    for before, name, write, may_lack in parts:
        if may_lack and name not in op.properties and getattr(op, name, None) is None:
            continue
        if (own := write(op, name, printer)) is None:
            return None
        text += before + own
    made = [printer.text_of(result.type) for result in op.results]
    results = made[0] if len(made) == 1 else f"({', '.join(made)})"
    return f"{text} : ({printer.types_of(operands_of(op))}) -> {results}"


@cache
def _parts_of(op_class: type[IRDLOperation]) -> Sequence[_Part] | None:
    """Returns the parts of the format of a class; None where it is not plain."""
    text = format_of(op_class)
    if text is None or not text.endswith(_TAIL):
        return None
    found: list[_Part] = []
    place, end = 0, len(text) - len(_TAIL)
    while place < end:
        if (match := _PART.match(text, place, end)) is None:
            return None
        word, name, key, optional = match.groups()
        if word is not None:
            found.append(("," if word == "," else f" {word}", "", _nothing, False))
        elif (write := _writer(op_class, name or optional, optional is not None)) is None:
            return None
        else:
            found.append((f" {key}" if key else "", name or optional, write, bool(key)))
        place = match.end()
    return found


def _writer(op_class: type[IRDLOperation], name: str, may_lack: bool) -> _Writer | None:
    """Returns what writes an operand or a property; None where only xDSL can say that."""
    definition = op_class.get_irdl_definition()
    operand = dict(definition.operands).get(name)
    if operand is not None:
        return _OPERANDS.get((type(operand), may_lack))
    part = definition.properties.get(name)
    if part is None or definition.accessor_names.get(name) != (name, "property"):
        return None
    if part.default_value is not None or may_lack is not isinstance(part, OptionalDef):
        return None
    return next((write for constraint, write in _PROPERTIES if constraint == part.constr), None)


def _nothing(op: Any, name: str, printer: ExactPrinter) -> str | None:
    return ""


def _operand(op: Any, name: str, printer: ExactPrinter) -> str | None:
    return f" {printer.name_of(getattr(op, name))}"


def _operands(op: Any, name: str, printer: ExactPrinter) -> str | None:
    return f" {printer.names_of(values)}" if (values := getattr(op, name)) else ""


def _integer(op: Any, name: str, printer: ExactPrinter) -> str | None:
    attr: Any = op.properties.get(name)
    return f" {attr.value.data}" if _is(attr, IntegerAttr) and attr.type is i64 else None


def _integers(op: Any, name: str, printer: ExactPrinter) -> str | None:
    attr: Any = op.properties.get(name)
    if not _is(attr, DenseArrayBase) or attr.elt_type is not i64:
        return None
    return f" [{', '.join(map(str, attr.get_values()))}]"


def _float(op: Any, name: str, printer: ExactPrinter) -> str | None:
    attr: Any = op.properties.get(name)
    if not _is(attr, FloatAttr) or attr.type is not f32:
        return None
    return f" {printer.text_of(attr).removesuffix(' : f32')}"


def _is(attr: object, kind: type) -> bool:
    return type(attr) is kind


def _flag(op: Any, name: str, printer: ExactPrinter) -> str | None:
    return "" if type(op.properties.get(name)) is UnitAttr else None


_OPERANDS: dict[tuple[type, bool], _Writer] = {
    (OperandDef, False): _operand,
    (OptOperandDef, True): _operand,
    (VarOperandDef, False): _operands,
}
_PROPERTIES: Sequence[tuple[AttrConstraint, _Writer]] = (
    (I64Attr, _integer),
    (I64ArrayAttr, _integers),
    (F32Attr, _float),
    (BaseAttr(UnitAttr), _flag),
)
