"""Finds an op class by any of the names that it goes by."""

from __future__ import annotations

from functools import cache

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp


def op_class_of(name: str, where: str) -> type[GEOp]:
    """Returns the op class of a name.

    Args:
        name: As in IR (`ge.layer_norm`, `layer_norm`), in camel case (`LayerNorm`), or GE's op
            type (`FlashAttentionScore`); case and underscores do not matter.
        where: For the message, as `rule 'X'`.

    Raises:
        GEError: There is no such op (GE0425).
    """
    from difflib import get_close_matches

    known = _by_name()
    if (found := known.get(_key(name))) is not None:
        return found
    near = get_close_matches(_key(name), known, 1)
    hint = f"did you mean '{known[near[0]].name}'?" if near else "docs/dialects.md lists all ops"
    raise GEError("GE0425", f"{where}: expected an op type, got '{name[:60]}'", hint=hint)


@cache
def _by_name() -> dict[str, type[GEOp]]:
    from ge_dialect.ge import GE

    ops = [op for op in GE.operations if issubclass(op, GEOp)]
    types = {_key(op.GE_TYPE): op for op in reversed(ops) if op.GE_TYPE}
    return types | {_key(op.name): op for op in ops}


def _key(name: str) -> str:
    return name.removeprefix("ge.").replace("_", "").lower()
