"""Rules that are registered by a call or a decorator, and a short spelling for chains of ops.

    FusionRuleRegistry.register(
        "FlashAttention",
        successors=["LayerNorm", "Dropout", "Add"],
        condition=lambda chain: chain["LayerNorm"].eps == 1e-5,
    )

An attribute is compared in its own type: the f32 epsilon 1e-5 equals the number 1e-5, although
their digits differ from the eighth on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

from ge_dialect.passes.fusion.chain import Condition as ChainCondition
from ge_dialect.passes.fusion.chain import chain_rule
from ge_dialect.passes.fusion.pattern import Node, Verdict
from ge_dialect.passes.fusion.rule import Condition, FusionRule, Replacement, Rule
from ge_dialect.remarks import ReasonClass


@dataclass
class _Registered:
    rules: list[tuple[str, Rule]] = field(default_factory=list[tuple[str, Rule]])


_REGISTERED = _Registered()


def registered() -> tuple[Rule, ...]:
    """Returns the rules that were registered by a call or a decorator, in order."""
    return tuple(rule for _, rule in _REGISTERED.rules)


def registered_by(module: str) -> tuple[Rule, ...]:
    """Returns those that a module registered."""
    return tuple(rule for name, rule in _REGISTERED.rules if name == module)


def register(rule: Rule, *, module: str | None = None) -> Rule:
    """Registers a rule for all compilations of this process that begin later.

    Raises:
        GEError: The rule is refused, as `RuleRegistry.register` says.
    """
    from ge_dialect.passes.fusion.registry import default_registry
    from ge_dialect.passes.fusion.rules import RuleRegistry

    registry = RuleRegistry(dict(default_registry().rules))
    for other in registered():
        registry.rules[other.name] = other
    registry.register(rule)
    _REGISTERED.rules.append((module or _caller(), rule))
    return rule


def _caller() -> str:
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # who registers: no other way
    return str(frame.f_globals.get("__name__", ""))


class FusionRuleRegistry:
    """Registers chains of ops that have a fused kernel."""

    rules: ClassVar[Callable[[], tuple[Rule, ...]]] = staticmethod(registered)

    @staticmethod
    def register(
        op: str,
        spec: Mapping[str, object] | None = None,
        *,
        name: str = "",
        kernel: str = "",
        predecessors: Sequence[str] = (),
        successors: Sequence[str] = (),
        condition: ChainCondition | None = None,
        priority: int = 0,
        **options: object,
    ) -> Rule:
        """Registers the kernel of a chain `predecessors -> op -> successors`.

        Args:
            op: An op type, as `FlashAttention`.
            spec: The other arguments in a mapping.
            name: Of the rule; by default the op types in order.
            kernel: By default the name with `Fusion` behind.
            predecessors, successors: Op types, in the order of the data. An op reads the one
                before it by any operand where it is commutative, else by its first.
            condition: A function of the chain, a mapping of attributes to values, or a text such
                as `LayerNorm.eps == 1e-5 and Dropout.ratio == 0`.
            priority: Higher is tried first.
            options: Further fields of `FusionRule`.

        Raises:
            GEError: An op type is unknown, or the condition is malformed.
        """
        given: dict[str, object] = {
            "name": name,
            "kernel": kernel,
            "predecessors": predecessors,
            "successors": successors,
            "condition": condition,
            "priority": priority,
            **options,
            **(spec or {}),
        }
        return register(chain_rule(op, given), module=_caller())

    @staticmethod
    def clear() -> None:
        """Forgets all rules that were registered in this process."""
        _REGISTERED.rules.clear()

    Register = register


def fusion_rule(
    name: str, *, kernel: str = "", priority: int = 0, **options: object
) -> Callable[[type], type]:
    """Registers a class with `patterns`, and perhaps `meet_requirements` and `replacement`.

    `patterns(self)` returns one pattern or several; `meet_requirements(self, match)` a `Verdict`
    or several of them; `replacement(self, match)` the ops of the kernel.

    Args:
        name: Of the rule.
        kernel: By default the name with `Fusion` behind.
        priority: Higher is tried first.
        options: Further fields of `FusionRule`.

    Raises:
        GEError: The rule is refused.
    """
    module = _caller()

    def decorate(rule_class: type) -> type:
        register(rule_of_class(rule_class, name, kernel, priority, options), module=module)
        return rule_class

    return decorate


def rule_of_class(
    rule_class: type, name: str, kernel: str, priority: int, options: Mapping[str, object]
) -> FusionRule:
    """Returns the rule that a class spells."""
    spelled = rule_class()
    found = spelled.patterns()
    patterns = (found,) if isinstance(found, Node) else tuple(cast("Sequence[Node]", found))
    conditions: tuple[Condition, ...] = ()
    if hasattr(spelled, "meet_requirements"):
        test = cast("Callable[..., Verdict | Sequence[Verdict]]", spelled.meet_requirements)
        reason = getattr(rule_class, "reason", ReasonClass.ATTR)
        conditions = (Condition(f"requirements of {name}", reason, lambda m: _first_no(test(m))),)
    fields = dict(options)
    if hasattr(spelled, "replacement"):
        fields["replacement"] = cast("Replacement", spelled.replacement)
    return FusionRule(
        name,
        kernel or f"{name}Fusion",
        patterns[0],
        conditions,
        priority,
        alternatives=patterns[1:],
        **fields,  # pyright: ignore[reportArgumentType]  # the constructor checks the names
    )


def _first_no(verdicts: Verdict | Sequence[Verdict]) -> Verdict:
    """Returns the first verdict that does not hold, else one that does."""
    if isinstance(verdicts, Sequence):
        return next((verdict for verdict in verdicts if not verdict.holds), Verdict(True))
    return verdicts
