"""Which op of a module is not valid: xDSL says why, and shows the whole module for where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from ge_dialect.ge.access import operands_of
from ge_dialect.locations import location_name, op_name

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

MAX_MESSAGE = 400


_ORDERED = ("func.", "ge.", "ge_exec.", "scf.")
"""Ops whose regions run from the first op to the last; what those of others mean is not known."""


def verify(module: Operation) -> None:
    """Verifies all ops; that each comes after what it reads, which xDSL does not look at; and that
    arrays can have the types of all values.

    Raises:
        VerifyException: One is not valid.
    """
    from ge_dialect.ge.limits import find_unrepresentable, size_problem

    module.verify()
    _verify_order(module, set())
    if (found := find_unrepresentable(module)) is not None:
        op, value = found
        raise VerifyException(f"{where(op)}: {size_problem(value)}")


def _verify_order(parent: Operation, defined: set[SSAValue]) -> None:
    """Checks the regions of an op, given all values that are there before it."""
    ordered = parent.name.startswith(_ORDERED)
    for region in parent.regions:
        inside: list[SSAValue] = []
        # Blocks may branch backwards, and graphs have no order: then any place will do.
        if not ordered or len(region.blocks) > 1:
            inside = [value for block in region.blocks for op in block.ops for value in op.results]
            defined.update(inside)
        for block in region.blocks:
            inside += block.args
            defined.update(block.args)
            for op in block.ops:
                if not defined.issuperset(operands_of(op)):
                    raise _read_early(op, defined)
                if op.regions:
                    _verify_order(op, defined)
                inside += op.results
                defined.update(op.results)
        defined.difference_update(inside)


def _read_early(op: Operation, defined: set[SSAValue]) -> VerifyException:
    operand = next(operand for operand in op.operands if operand not in defined)
    name = f"%{operand.name_hint}" if operand.name_hint else "a value"
    return VerifyException(f"{where(op)}: reads {name} before it is there")


def check_valid(module: Operation) -> str | None:
    """Returns what is wrong with the first op that is not valid, on one line; None where all are.

    Names the op, its results, the symbol around it and the user's node.
    """
    try:
        verify(module)
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
