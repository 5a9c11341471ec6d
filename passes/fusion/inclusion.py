"""Which rules make a kernel that does all of what another rule's kernel does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ge_dialect.passes.fusion.pattern import Maybe, Node, OneOf, Pattern
from ge_dialect.passes.fusion.rule import FusionRule


def rules_including(name: str, rules: Iterable[object]) -> list[str]:
    """Returns the names of the rules whose every pattern has that of the rule `name` inside.

    Args:
        name: Of a rule; one that is not among `rules`, or no `FusionRule`, is inside none.
        rules: All rules.
    """
    known = [rule for rule in rules if isinstance(rule, FusionRule)]
    inner = next((rule for rule in known if rule.name == name), None)
    if inner is None:
        return []
    return [rule.name for rule in known if rule is not inner and _includes(rule, inner)]


def _includes(rule: FusionRule, inner: FusionRule) -> bool:
    patterns = (rule.pattern, *rule.alternatives)
    return all(inner.pattern in list(_certain(pattern)) for pattern in patterns)


def _certain(pattern: Pattern) -> Iterator[Node]:
    """Yields the nodes of a pattern that are there wherever it matches."""
    match pattern:
        case Node():
            yield pattern
            for operand in (*pattern.operands, *pattern.ports.values()):
                yield from _certain(operand)
        case Maybe():
            if pattern.node.operands:
                yield from _certain(pattern.node.operands[0])
        case OneOf():
            first, *others = (list(_certain(choice)) for choice in pattern.choices)
            yield from (node for node in first if all(node in other for other in others))
        case _:
            return
