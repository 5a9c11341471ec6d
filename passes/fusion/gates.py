"""What keeps a rule from firing at all: the user, the opset of the model, the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation

from ge_dialect.passes.fusion.match import Failure
from ge_dialect.passes.fusion.rule import Rule
from ge_dialect.remarks import ReasonClass

if TYPE_CHECKING:
    from ge_dialect.targets import Target


@dataclass
class Setting:
    """What rules are asked against.

    Attributes:
        module: Says opset and machine; None where neither is known.
        disabled: Names of the rules that the user turned off.
        left_out: Names of the rules that are not among those that the user chose.
    """

    module: ModuleOp | None = None
    disabled: Sequence[str] = ()
    left_out: Sequence[str] = ()

    @cached_property
    def opset(self) -> int | None:
        """The opset of the model, where the module says it."""
        attr = None if self.module is None else self.module.attributes.get("ge.opset")
        return attr.value.data if isinstance(attr, IntegerAttr) else None

    @cached_property
    def target(self) -> Target | None:
        """The machine; read only where a rule asks."""
        from ge_dialect.targets.dlti import target_of

        return None if self.module is None else target_of(self.module)

    def closed(self, rule: Rule, at: Operation) -> Failure | None:
        """Returns why a rule may not fire here whatever it finds; None where it may."""
        if rule.name in self.disabled:
            message = "the rule is turned off"
            fix = "take it out of the disabled rules or of the fusion switch file"
            return Failure(at, ReasonClass.DISABLED, message, "off", "on", fix)
        if rule.name in self.left_out:
            message = "the rule is not among those that were chosen"
            fix = f"name '{rule.name}' in '--rules', or leave that out"
            return Failure(at, ReasonClass.DISABLED, message, "off", "on", fix)
        return self._version(rule, at) or self._machine(rule, at)

    def _version(self, rule: Rule, at: Operation) -> Failure | None:
        low, high = rule.min_opset, rule.max_opset
        if (low is None and high is None) or self.opset is None:
            return None
        if (low or 0) <= self.opset and (high is None or self.opset <= high):
            return None
        return Failure(
            at,
            ReasonClass.VERSION,
            f"the model has opset {self.opset}, the rule was written for {opsets(rule)}",
            str(self.opset),
            opsets(rule),
            "check the rule against the newer definitions of its ops and raise its limit",
        )

    def _machine(self, rule: Rule, at: Operation) -> Failure | None:
        if not rule.targets or (machine := self.target) is None:
            return None
        names = {name.lower() for name in (machine.name, machine.arch, machine.short_soc)}
        if any(target.lower() in names for target in rule.targets):
            return None
        wanted = ", ".join(rule.targets)
        message = f"{machine.name} has no kernel '{rule.kernel}'"
        fix = f"compile for one of {wanted}"
        return Failure(at, ReasonClass.TARGET, message, machine.name, wanted, fix)


def opsets(rule: Rule) -> str:
    """Returns the opsets of a rule, as `13 to 21`."""
    if rule.max_opset is None:
        return f"{rule.min_opset} and later"
    return f"{rule.min_opset or 1} to {rule.max_opset}"
