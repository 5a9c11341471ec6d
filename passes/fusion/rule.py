"""A fusion rule: what one kernel computes, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ge_dialect.passes.fusion.pattern import Node, Verdict, nodes_of
from ge_dialect.passes.fusion.rules import RuleRegistry
from ge_dialect.remarks import ReasonClass

__all__ = ["Condition", "FusionRule", "Replacement", "Rule", "RuleRegistry", "SiblingRule"]

if TYPE_CHECKING:
    from ge_dialect.ge.base import GEOp
    from ge_dialect.passes.fusion.match import Match

Replacement: TypeAlias = "Callable[[Match], Sequence[GEOp]]"
"""Makes the ops of a kernel out of a match: in order, the last one's results are the root's."""


@dataclass(frozen=True)
class Condition:
    """A named test of a whole match.

    Attributes:
        name: As messages print it.
        reason: The class of the miss where it fails; a verdict may say another.
        test: Takes the match, returns a verdict with found and wanted.
        fix: What the user may do where it fails.
        of: Captures and ops that it is about; a rule has to have them.
    """

    name: str
    reason: ReasonClass
    test: Callable[[Match], Verdict]
    fix: str = ""
    of: tuple[str, ...] = ()


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
        alternatives: Further patterns of the same kernel, tried in order after `pattern`.
        outputs: Names of inner nodes whose result the kernel gives as well, where others read it.
        cast_tolerant: Whether casts between floats may stand between the ops of the pattern.
        precision: How the kernel's rounding differs from that of the ops; empty: not at all.
        targets: Names, or families, of the machines that have the kernel; all where empty.
        min_opset, max_opset: The opsets of models that the rule was written for.
        replacement: Makes the kernel's body; without one the matched ops are the body.
        tolerance: How far a replacement may be off, relatively and absolutely; 0 is exact.
        example: A function in MLIR's text on which the rule fires, for the check of the rule.
        aliases: Further names in GE's switch files.
        can_close: Whether a switch file may turn the rule off.
        on_chip: Whether GE would list it under `UBFusion`, not under `GraphFusion`.
    """

    name: str
    kernel: str
    pattern: Node
    conditions: tuple[Condition, ...] = ()
    priority: int = 0
    fixes: tuple[tuple[str, str], ...] = ()
    alternatives: tuple[Node, ...] = ()
    outputs: tuple[str, ...] = ()
    cast_tolerant: bool = False
    precision: str = ""
    targets: tuple[str, ...] = ()
    min_opset: int | None = None
    max_opset: int | None = None
    replacement: Replacement | None = None
    tolerance: float = 0.0
    example: str = ""
    aliases: tuple[str, ...] = ()
    can_close: bool = True
    on_chip: bool = False

    @property
    def patterns(self) -> tuple[Node, ...]:
        """All patterns, in the order they are tried."""
        return (self.pattern, *self.alternatives)

    @cached_property
    def size(self) -> int:
        """Ops in the largest pattern, optional ones included."""
        return max(len(nodes_of(pattern)) for pattern in self.patterns)

    @cached_property
    def shared_nodes(self) -> frozenset[int]:
        """Identities of the nodes that a pattern has in several places: each is one op."""
        found: set[int] = set()
        for pattern in self.patterns:
            counts = Counter(map(id, nodes_of(pattern)))
            found.update(node for node, times in counts.items() if times > 1)
        return frozenset(found)


@dataclass(frozen=True)
class SiblingRule:
    """Ops of one kind that read the same operand, as one kernel with a result for each.

    Attributes:
        name: As in remarks, options and switch files.
        kernel: Name of the fused kernel.
        pattern: One sibling; its first operand is the shared one.
        count: How many siblings, exactly.
        conditions: Tests of each sibling.
        priority, precision, targets, min_opset, max_opset, example, aliases, can_close, on_chip:
            As in `FusionRule`.
    """

    name: str
    kernel: str
    pattern: Node
    count: int
    conditions: tuple[Condition, ...] = ()
    priority: int = 0
    precision: str = ""
    targets: tuple[str, ...] = ()
    min_opset: int | None = None
    max_opset: int | None = None
    example: str = ""
    aliases: tuple[str, ...] = ()
    can_close: bool = True
    on_chip: bool = False

    @property
    def patterns(self) -> tuple[Node, ...]:
        """The pattern of a sibling."""
        return (self.pattern,)

    @property
    def size(self) -> int:
        """Ops in the kernel."""
        return self.count

    @property
    def shared_nodes(self) -> frozenset[int]:
        """None: each sibling is one op."""
        return frozenset()


Rule: TypeAlias = FusionRule | SiblingRule
