"""The rules of one compilation: loose ones are refused, and the order is explicit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.irdl import VarResultDef

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.passes.fusion.pattern import (
    Any,
    Maybe,
    Node,
    Nothing,
    Pattern,
    Weight,
    nodes_of,
)

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.rule import FusionRule, Rule, SiblingRule

SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")
"""Properties that say how operands are grouped; the pattern says that itself."""


@dataclass
class RuleRegistry:
    """The rules of one compilation, in the order they are tried."""

    rules: dict[str, Rule] = field(default_factory=dict[str, "Rule"])

    def register(self, rule: Rule) -> None:
        """Adds a rule.

        Raises:
            GEError: The name is taken, a field is not of its kind, the rule leaves an attribute of
                a matched op open or wants what never holds, or it is a sibling rule of ops that
                read more than the shared operand and constants.
        """
        from ge_dialect.passes.fusion.fields import check_fields, check_values
        from ge_dialect.passes.fusion.rule import SiblingRule

        check_fields(rule)
        if rule.name in self.rules:
            raise GEError(
                "GE0420",
                f"expected distinct rule names, got '{rule.name}' twice",
                hint="rename yours; ge-opt --list-rules lists those that are built in",
            )
        for pattern in rule.patterns:
            for node in nodes_of(pattern):
                check_strict(rule.name, node)
                check_shape(rule.name, node)
        check_values(rule)
        if isinstance(rule, SiblingRule):
            check_siblings(rule)
        else:
            check_outputs(rule)
        self.rules[rule.name] = rule

    def ordered(self, names: Sequence[str] = ()) -> Iterable[Rule]:
        """Returns the rules of these names (all where none is given), first to try first.

        Raises:
            GEError: A name is not known.
        """
        from difflib import get_close_matches

        unknown = [name for name in names if name not in self.rules]
        if unknown:
            near = get_close_matches(unknown[0], self.rules, 3) or list(self.rules)[:3]
            raise GEError(
                "GE0421",
                f"expected rules among {', '.join(near)}, ... ({len(self.rules)} in all),"
                f" got '{unknown[0][:60]}'",
                hint="ge-opt --list-rules lists all rules",
            )
        chosen = [self.rules[name] for name in names] if names else list(self.rules.values())
        return sorted(chosen, key=lambda rule: (-rule.priority, -rule.size, rule.name))


def check_siblings(rule: SiblingRule) -> None:
    """Checks that the siblings of a rule can stand in one place.

    Raises:
        GEError: They read a computed value besides the shared one: it may not be there yet.
    """
    shared, *others = rule.pattern.operands or (None,)
    ports = rule.pattern.ports.values()
    weights = all(isinstance(other, Weight) for other in others)
    if not isinstance(shared, Any) or not weights or not all(map(_stands_anywhere, ports)):
        raise GEError(
            "GE0423",
            f"rule '{rule.name}' of siblings: expected a shared 'Any' and then 'Weight' only",
            hint="write a FusionRule for ops that read more than one computed value",
        )
    # What the pattern does not speak of may be computed between the siblings.
    definitions = [name for name, _ in rule.pattern.op.get_irdl_definition().operands]
    left = [n for n in definitions[1 + len(others) :] if n not in rule.pattern.ports]
    if left:
        raise GEError(
            "GE0423",
            f"rule '{rule.name}' of siblings leaves operand '{left[0]}' of"
            f" '{rule.pattern.op.name}' open",
            hint="say NOTHING or Weight of it in 'ports'",
        )


def _stands_anywhere(pattern: Pattern) -> bool:
    return isinstance(pattern, Weight | Nothing)


def check_outputs(rule: FusionRule) -> None:
    """Checks that the inner results that a rule gives exist.

    Raises:
        GEError: One is the name of no inner node.
    """
    inner = [node.name for root in rule.patterns for node in nodes_of(root)[1:] if node.name]
    if unknown := [name for name in rule.outputs if name not in inner]:
        raise GEError(
            "GE0424",
            f"rule '{rule.name}': 'outputs' names '{unknown[0]}', which is no inner op",
            hint=f"name one of {', '.join(dict.fromkeys(inner)) or 'the ops of the pattern'}",
        )


def check_shape(rule: str, node: Node) -> None:
    """Checks that a node can match at all.

    Raises:
        GEError: It names an operand or a result that the op does not have, or swaps operands of
            an op that does not have two.
    """
    definition = node.op.get_irdl_definition()
    many = any(isinstance(one, VarResultDef) for _, one in definition.results)
    ports = {name for name, _ in definition.operands}
    problem = ""
    if definition.regions:
        problem = f"'{node.op.name}' has regions, which read what is outside: it is no part of one"
    elif issubclass(node.op, ConstantOp):
        problem = "a constant is a Weight or Const of a pattern, not a Node"
    elif unknown := [name for name in node.ports if name not in ports]:
        problem = f"'{node.op.name}' has no operand '{unknown[0]}'"
    elif node.commutes and len(node.operands) != 2:
        problem = f"'{node.op.name}' commutes with {len(node.operands)} operands, expected 2"
    elif node.result < 0 or (not many and node.result >= max(1, len(definition.results))):
        problem = f"'{node.op.name}' has no result {node.result}"
    elif any(isinstance(p, Maybe) and not p.node.operands for p in node.operands):
        problem = f"an optional op before '{node.op.name}' has no operand to stand in for it"
    if problem:
        raise GEError("GE0424", f"rule '{rule}': {problem}", hint="correct the pattern")


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
                hint="say Equals, Within, Among, Absent, Present, KEEP or DONT_CARE for each",
            )
