"""A fusion rule and the registry that refuses loose ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.fusion.pattern import Any, Node, Verdict, Weight, nodes_of
from ge_dialect.remarks import ReasonClass

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.match import Match

SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")
"""Properties that say how operands are grouped; the pattern says that itself."""


@dataclass(frozen=True)
class Condition:
    """A named test of a whole match.

    Attributes:
        name: As messages print it.
        reason: The class of the miss where it fails.
        test: Takes the match, returns a verdict with found and wanted.
        fix: What the user may do where it fails.
    """

    name: str
    reason: ReasonClass
    test: Callable[[Match], Verdict]
    fix: str = ""


@dataclass(frozen=True)
class FusionRule:
    """Ops that one kernel computes.

    Attributes:
        name: As in remarks, options and switch files.
        kernel: Name of the fused kernel.
        pattern: From the op whose result leaves the kernel, down to its inputs.
        conditions: What must hold besides the structure.
        priority: Higher is tried first; rules of one priority by size of the pattern, then name.
        fixes: What a user may do where the attribute `op name.attribute` does not match.
    """

    name: str
    kernel: str
    pattern: Node
    conditions: tuple[Condition, ...] = ()
    priority: int = 0
    fixes: tuple[tuple[str, str], ...] = ()

    @property
    def size(self) -> int:
        """Ops in the pattern, optional ones included."""
        return len(nodes_of(self.pattern))


@dataclass(frozen=True)
class SiblingRule:
    """Ops of one kind that read the same operand, as one kernel with a result for each.

    Attributes:
        name: As in remarks, options and switch files.
        kernel: Name of the fused kernel.
        pattern: One sibling; its first operand is the shared one.
        count: How many siblings, exactly.
        conditions: Tests of each sibling.
        priority: As in `FusionRule`.
    """

    name: str
    kernel: str
    pattern: Node
    count: int
    conditions: tuple[Condition, ...] = ()
    priority: int = 0

    @property
    def size(self) -> int:
        """Ops in the kernel."""
        return self.count


Rule: TypeAlias = FusionRule | SiblingRule


@dataclass
class RuleRegistry:
    """The rules of one compilation, in the order they are tried."""

    rules: dict[str, Rule] = field(default_factory=dict[str, Rule])

    def register(self, rule: Rule) -> None:
        """Adds a rule.

        Raises:
            GEError: The name is taken, the rule leaves an attribute of a matched op open, or it is
                a sibling rule of ops that read more than the shared operand and constants.
        """
        if rule.name in self.rules:
            raise GEError("GE0420", f"expected distinct rule names, got '{rule.name}' twice")
        for node in nodes_of(rule.pattern):
            check_strict(rule.name, node)
        if isinstance(rule, SiblingRule):
            check_siblings(rule)
        self.rules[rule.name] = rule

    def ordered(self, names: Sequence[str] = ()) -> Iterable[Rule]:
        """Returns the rules of these names (all where none is given), first to try first.

        Raises:
            GEError: A name is not known.
        """
        unknown = [name for name in names if name not in self.rules]
        if unknown:
            raise GEError(
                "GE0421",
                f"expected rules among {', '.join(self.rules)}, got '{unknown[0]}'",
            )
        chosen = [self.rules[name] for name in names] if names else list(self.rules.values())
        return sorted(chosen, key=lambda rule: (-rule.priority, -rule.size, rule.name))


def check_siblings(rule: SiblingRule) -> None:
    """Checks that the siblings of a rule can stand in one place.

    Raises:
        GEError: They read a computed value besides the shared one: it may not be there yet.
    """
    shared, *others = rule.pattern.operands or (None,)
    if not isinstance(shared, Any) or not all(isinstance(other, Weight) for other in others):
        raise GEError(
            "GE0423",
            f"rule '{rule.name}' of siblings: expected a shared 'Any' and then 'Weight' only",
            hint="write a FusionRule for ops that read more than one computed value",
        )


def check_strict(rule: str, node: Node) -> None:
    """Checks that a rule says of every property of an op what it may be.

    Raises:
        GEError: One is not mentioned, or one is mentioned that the op does not have.
    """
    properties = set(node.op.get_irdl_definition().properties) - set(SEGMENTS)
    for what, names in (
        ("leaves open", sorted(properties - set(node.attrs))),
        ("names what is not there:", sorted(set(node.attrs) - properties)),
    ):
        if names:
            raise GEError(
                "GE0422",
                f"rule '{rule}' {what} '{', '.join(names)}' of '{node.op.name}'",
                hint="say Equals, Within, Absent or KEEP for each property",
            )
