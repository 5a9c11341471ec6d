"""Which op of a module is not valid: xDSL says why, and shows the whole module for where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from ge_dialect.locations import location_name, op_name

if TYPE_CHECKING:
    from xdsl.ir import Operation

MAX_MESSAGE = 400


def check_valid(module: Operation) -> str | None:
    """Returns what is wrong with the first op that is not valid, on one line; None where all are.

    Names the op, its results, the symbol around it and the user's node.
    """
    try:
        module.verify()
    except (DiagnosticException, VerifyException) as error:
        return describe(module, error)
    return None


def describe(module: Operation, error: Exception) -> str:
    """Returns one line about the op of `module` whose verification gave `error`."""
    text = " ".join(str(error).split())[:MAX_MESSAGE]
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except (DiagnosticException, VerifyException) as found:
            return f"{where(op)}: {' '.join(str(found).split())[:MAX_MESSAGE]}"
    return text


def where(op: Operation) -> str:
    """Returns which op is meant: its name, its results, the symbol around it, the user's node."""
    names = [f"%{result.name_hint}" for result in op.results if result.name_hint]
    parts = [f"'{op_name(op)}'"]
    if names:
        parts.append(f"({', '.join(names)})")
    if (symbol := _symbol_around(op)) is not None:
        parts.append(f"in @{symbol}")
    if (node := location_name(op)) is not None:
        parts.append(f'at "{node}"')
    return " ".join(parts)


def _symbol_around(op: Operation) -> str | None:
    parent = op.parent_op()
    while parent is not None:
        name = parent.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            return name.data
        parent = parent.parent_op()
    return None
