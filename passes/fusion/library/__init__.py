"""The operator library `ops_transformer`: which fused kernels exist, one file a family of rules.

Names are those of GE's own rules, without `FusionPass` behind, where it has the rule. All rules of
this library keep every rounding of the ops: a kernel's body is the ops themselves. Priorities are
below 0, but for the rules around attention and projections that tutorials name: those of users come
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.rule import Rule

NAME = "ops_transformer"

FAMILIES = (
    *("attention", "projections", "heads", "norms", "products"),
    *("quantized", "windows", "pointwise"),
)


class Family(Protocol):
    """A file of rules."""

    RULES: Sequence[Rule]


def families() -> tuple[Family, ...]:
    """Returns the files of rules, in order."""
    return tuple(cast("Family", import_module(f"{__name__}.{name}")) for name in FAMILIES)
