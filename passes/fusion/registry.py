"""The rules that ship with the compiler."""

from __future__ import annotations

from functools import cache

from ge_dialect.passes.fusion.rule import Rule, RuleRegistry


def built_in_rules() -> tuple[Rule, ...]:
    """Returns the rules of the built-in operator library."""
    from ge_dialect.passes.fusion.library import attention, projections

    return (*attention.RULES, *projections.RULES)


@cache
def default_registry() -> RuleRegistry:
    """Returns the registry of the built-in rules; checked when it is first asked for."""
    registry = RuleRegistry()
    for rule in built_in_rules():
        registry.register(rule)
    return registry
