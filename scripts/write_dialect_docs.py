"""Writes `docs/dialects.md` from the docstrings of the dialects; `make docs` runs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import IRDLOperation, OptionalDef, OptPropertyDef, VariadicDef

from ge_dialect.ge import GE
from ge_dialect.ge.base import FormattedOp, GEOp
from ge_dialect.ge.formats import format_of
from ge_dialect.ge_exec import GE_EXEC
from ge_dialect.ge_exec.memory import PlacedOp

HEAD = """\
# Dialects

Generated from the docstrings of the ops by `make docs`. `?` marks an operand or attribute that may
be absent, `*` one that stands for any number. A line that begins with *GE* gives GE's name of the
op type, the engine that runs it, and how it walks its operands.

A module may carry `ge.opset` and `ge.producer` (of the model it was imported from), `ge.model` (the
name of the model) and `ge.target` (the machine it is compiled for). `ge.name` on an argument or
result of a function is the name of the model's input or output. A location is the name of the node
in the model.

"""

ABSTRACT = (GEOp, FormattedOp, PlacedOp, IRDLOperation)
"""Bases that say nothing of an op that its own entry does not."""

SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")


def reference() -> str:
    """Returns the page."""
    lines = [*dialect_lines(GE), *dialect_lines(GE_EXEC)]
    return HEAD + "\n".join(lines).rstrip() + "\n"


def dialect_lines(dialect: Dialect) -> Iterator[str]:
    """Yields the section of a dialect: ops by the module that defines them, then attributes."""
    yield from (f"## `{dialect.name}`", "")
    module, shown = "", set[type[Operation]]()
    for op in dialect.operations:
        if op.__module__ != module:
            module = op.__module__
            yield from (f"### {headline(sys.modules[module].__doc__)}", "")
        if (base := family_of(op)) is not None and base not in shown:
            shown.add(base)
            yield from (f"#### Family `{base.__name__}`", "", documentation(base), "")
        yield from op_lines(op, base)
    yield from ("### Attributes and types", "")
    for attribute in dialect.attributes:
        yield from (f"#### `{attribute.name}`", "", documentation(attribute), "")


def headline(text: str | None) -> str:
    """Returns the first line of a docstring as a heading."""
    return cleandoc(text or "").splitlines()[0].rstrip(".")


def documentation(cls: type[Operation | Attribute]) -> str:
    """Returns the docstring of a class."""
    return cleandoc(cls.__doc__ or "")


def family_of(op: type[Operation]) -> type[Operation] | None:
    """Returns the base class that an op shares its shape rules with, or None where it has none."""
    base = op.__mro__[1]
    # Ops are defined through a class that the decorator makes: its base of the same name is no one.
    if base.__name__ == op.__name__:
        base = op.__mro__[2]
    return base if issubclass(base, Operation) and base not in ABSTRACT else None


def op_lines(op: type[Operation], base: type[Operation] | None) -> Iterator[str]:
    """Yields the entry of an op."""
    assert issubclass(op, IRDLOperation)
    yield from (f"#### `{op.name}`", "", documentation(op), "")
    if base is not None:
        yield f"- Family: `{base.__name__}`."
    definition = op.get_irdl_definition()
    properties = [
        f"`{name}`{'?' if isinstance(part, OptPropertyDef) else ''}"
        for name, part in definition.properties.items()
        if name not in SEGMENTS
    ]
    for title, parts in (
        ("Operands", [marked(*part) for part in definition.operands]),
        ("Attributes", properties),
        ("Results", [marked(*part) for part in definition.results]),
        ("Regions", [marked(*part) for part in definition.regions]),
    ):
        if parts:
            yield f"- {title}: {', '.join(parts)}."
    if issubclass(op, GEOp):
        title = f"`{op.GE_TYPE}`" if op.GE_TYPE else "by kernel or callee"
        yield f"- GE: {title}, {op.ENGINE}, {op.FUSION_KIND}."
    yield from ("- Syntax:", "", "  ```", f"  {op.name} {syntax(op)}", "  ```", "")


def marked(name: str, definition: object) -> str:
    """Returns a name, marked where it stands for none or for many."""
    if isinstance(definition, OptionalDef):
        return f"`{name}`?"
    return f"`{name}`*" if isinstance(definition, VariadicDef) else f"`{name}`"


def syntax(op: type[IRDLOperation]) -> str:
    """Returns the declarative format of an op."""
    return format_of(op) or ""


def main() -> None:
    """Writes the page."""
    (Path(__file__).resolve().parent.parent / "docs" / "dialects.md").write_text(reference())


if __name__ == "__main__":
    main()
