"""What comes first, memory or time: one choice that the order of ops and their addresses share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from ge_dialect.diagnostics import GEError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

ATTRIBUTE = "ge.memory_policy"
"""Attribute of a module that names its policy."""


class Policy(StrEnum):
    """What comes first, memory or time."""

    THROUGHPUT = "throughput"
    """Time: only ops that are equally urgent change places."""
    BALANCED = "balanced"
    """Memory, where it decides the peak."""
    CONSERVATIVE = "conservative"
    """Memory everywhere, with longer searches."""


def policy_of(module: ModuleOp, given: str | None) -> Policy:
    """Returns the policy asked for, else the one that a module names, else `balanced`.

    Raises:
        GEError: There is none of that name (GE0431).
    """
    from xdsl.dialects.builtin import StringAttr

    attr = module.attributes.get(ATTRIBUTE)
    if given is not None:
        return named_policy(given, "'policy'")
    if attr is None:
        return Policy.BALANCED
    return named_policy(attr.data if isinstance(attr, StringAttr) else str(attr), f"'{ATTRIBUTE}'")


def named_policy(name: str, what: str) -> Policy:
    """Returns the policy of a name; `what` says in an error where the name stands.

    Raises:
        GEError: There is none of that name (GE0431).
    """
    if name not in list(Policy):
        expected = ", ".join(Policy)
        raise GEError("GE0431", f"expected {what} to be one of {expected}, got '{name[:60]}'")
    return Policy(name)
