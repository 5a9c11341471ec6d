"""What is wrong with a set of rules, found without any graph: on what their patterns describe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.structure import FusionOp
from ge_dialect.passes.fusion.gates import opsets
from ge_dialect.passes.fusion.match import match_rule
from ge_dialect.passes.fusion.rule import FusionRule, Rule
from ge_dialect.passes.fusion.rules import RuleRegistry
from ge_dialect.passes.fusion.samples import sample_of, variants_of
from ge_dialect.passes.fusion.selfcheck import check_rule, fires, firing_sample


@dataclass(frozen=True)
class Finding:
    """One thing about a rule.

    Attributes:
        rule: Its name.
        kind: `wrong`, `dead`, `shadowed`, `overlap`, `stale`, `target` or `unchecked`.
        message: One line.
    """

    rule: str
    kind: str
    message: str

    @property
    def is_error(self) -> bool:
        """Whether the rule can do no good as it is."""
        return self.kind in ("wrong", "dead", "shadowed")

    def __str__(self) -> str:
        level = "error" if self.is_error else "warning"
        return f"{level}: [{self.kind}] {self.rule}: {self.message}"


def lint(registry: RuleRegistry, newest_opset: int) -> list[Finding]:
    """Returns what is wrong with the rules of a registry, in the order they are tried.

    Args:
        registry: All rules of a compilation.
        newest_opset: The newest ONNX opset that is imported.
    """
    rules = list(registry.ordered())
    samples = {rule.name: _sample(rule) for rule in rules}
    own = {
        rule.name: [
            *_alone(rule, samples[rule.name]),
            *_stale(rule, newest_opset),
            *_elsewhere(rule),
        ]
        for rule in rules
    }
    bad = {name for name, found in own.items() if any(f.kind in ("wrong", "dead") for f in found)}
    others = [rule for rule in rules if rule.name not in bad]
    findings: list[Finding] = []
    for rule in rules:
        findings += own[rule.name]
        sample = samples[rule.name]
        if isinstance(sample, ModuleOp) and rule.name not in bad:
            findings += _among(rule, others, sample)
    return list(dict.fromkeys(findings))


def _sample(rule: Rule) -> ModuleOp | GEError | None:
    """Returns a graph that a rule fires on, else one that it should fire on, or what is wrong."""
    try:
        return firing_sample(rule) or sample_of(rule)
    except GEError as error:
        return error


def _alone(rule: Rule, sample: ModuleOp | GEError | None) -> Iterator[Finding]:
    """Yields what is wrong with a rule where it is the only one."""
    if isinstance(sample, GEError):
        yield Finding(rule.name, "wrong", sample.message)
        return
    if sample is None:
        message = "no example can be made of its pattern: give one, so that it is checked"
        yield Finding(rule.name, "unchecked", message)
        return
    try:
        if fires(rule, sample.clone()):
            check_rule(rule)
            return
    except GEError as error:
        yield Finding(rule.name, "wrong", error.message)
        return
    if _conditions_are_never_tried(rule):
        yield Finding(rule.name, "dead", "does not fire on what its own pattern describes")
    else:
        message = "its conditions hold for none of the small graphs that are tried: give an example"
        yield Finding(rule.name, "unchecked", message)


def _conditions_are_never_tried(rule: Rule) -> bool:
    return bool(rule.example) or not rule.conditions


def _stale(rule: Rule, newest: int) -> Iterator[Finding]:
    if rule.max_opset is not None and rule.max_opset < newest:
        message = f"was written for opset {opsets(rule)}, the newest is {newest}"
        yield Finding(rule.name, "stale", message)


def _elsewhere(rule: Rule) -> Iterator[Finding]:
    """Yields the machines of a rule that are not known: one may be spelled wrong."""
    from ge_dialect.targets.reader import builtin_target, target_names

    known: dict[str, None] = {}
    for name in target_names() if rule.targets else ():
        machine = builtin_target(name)
        known |= dict.fromkeys((machine.name, machine.arch, machine.short_soc))
    names = {name.lower() for name in known}
    for target in rule.targets:
        if target.lower() not in names:
            message = f"'{target}' is no built-in machine: {', '.join(filter(None, known))}"
            yield Finding(rule.name, "target", message)


def _among(rule: Rule, rules: Sequence[Rule], sample: ModuleOp) -> Iterator[Finding]:
    """Yields what is wrong with a rule beside the others."""
    own = sample.clone()
    if not fires(rule, own):
        return
    try:
        winner = _shadow(rule, rules, sample)
    except _FailedError as failed:
        yield failed.finding
        return
    if winner is not None:
        message = f"'{winner}' comes first wherever it could fire"
        yield Finding(rule.name, "shadowed", message)
        return
    if not isinstance(rule, FusionRule):
        return
    ops = [op for op in sample.walk() if isinstance(op, GEOp)]
    for other in rules[rules.index(rule) + 1 :]:
        if not isinstance(other, FusionRule) or other.priority != rule.priority:
            continue
        if other.size == rule.size and _fits(other, ops):
            message = f"'{other.name}' fits the same ops with the same priority: names decide"
            yield Finding(rule.name, "overlap", message)


def _fits(rule: FusionRule, ops: Sequence[GEOp]) -> bool:
    roots = tuple(pattern.op for pattern in rule.patterns)
    with suppress(GEError):  # told where all rules are applied
        return any(match_rule(rule, op, explain=False).ok for op in ops if isinstance(op, roots))
    return False


def _shadow(rule: Rule, rules: Sequence[Rule], sample: ModuleOp) -> str | None:
    """Returns the rule that comes first wherever another one could fire, None where none does.

    What is plain another rule may take; a pattern with optional parts still fires on the others.
    """
    winners = _apply_all(rules, sample.clone())
    if rule.name in winners or not winners:
        return None
    for module, _ in variants_of(rule) if not rule.example else ():
        if fires(rule, module.clone()) and rule.name in _apply_all(rules, module):
            return None
    return winners[0]


class _FailedError(Exception):
    """A rule's own code fails on a graph of another rule."""

    def __init__(self, rule: Rule, error: GEError):
        super().__init__(error.message)
        self.finding = Finding(rule.name, "wrong", error.message)


def _apply_all(rules: Sequence[Rule], module: ModuleOp) -> list[str]:
    """Applies all rules in order; returns the names of those that fired."""
    from ge_dialect.passes.fusion.fuser import Fuser

    for function in module.body.block.ops:
        if isinstance(function, FuncOp):
            fuser = Fuser(function.body.block, quiet=True)
            for rule in rules:
                try:
                    fuser.apply(rule)
                except GEError as error:
                    raise _FailedError(rule, error) from error
    kernels = [op for op in module.walk() if isinstance(op, FusionOp) and op.rule is not None]
    return [op.rule.data for op in kernels if op.rule is not None]


def newest_opset() -> int:
    """Returns the newest opset of ONNX's own domain that is imported."""
    from onnx.defs import onnx_opset_version

    return onnx_opset_version()
