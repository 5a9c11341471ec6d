"""What is wrong with a set of rules, found without any graph: on what their patterns describe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.structure import FusionOp
from ge_dialect.passes.fusion.gates import opsets
from ge_dialect.passes.fusion.pattern import nodes_of
from ge_dialect.passes.fusion.rule import FusionRule, Rule
from ge_dialect.passes.fusion.rules import RuleRegistry
from ge_dialect.passes.fusion.samples import sample_of
from ge_dialect.passes.fusion.selfcheck import check_rule, fires


@dataclass(frozen=True)
class Finding:
    """One thing about a rule.

    Attributes:
        rule: Its name.
        kind: `wrong`, `dead`, `shadowed`, `overlap`, `stale` or `unchecked`.
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
    findings: list[Finding] = []
    for rule in rules:
        sample = samples[rule.name]
        own = list(_alone(rule, sample)) + list(_stale(rule, newest_opset))
        findings += own
        if isinstance(sample, ModuleOp) and not any(f.kind in ("wrong", "dead") for f in own):
            findings += _among(rule, rules, sample)
    return findings


def _sample(rule: Rule) -> ModuleOp | GEError | None:
    try:
        return sample_of(rule)
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
        message = "its conditions do not hold for f32 and small shapes: give an example"
        yield Finding(rule.name, "unchecked", message)


def _conditions_are_never_tried(rule: Rule) -> bool:
    return bool(rule.example) or not rule.conditions


def _stale(rule: Rule, newest: int) -> Iterator[Finding]:
    if rule.max_opset is not None and rule.max_opset < newest:
        message = f"was written for opset {opsets(rule)}, the newest is {newest}"
        yield Finding(rule.name, "stale", message)


def _among(rule: Rule, rules: Sequence[Rule], sample: ModuleOp) -> Iterator[Finding]:
    """Yields what is wrong with a rule beside the others."""
    own = sample.clone()
    if not fires(rule, own):
        return
    winners = _apply_all(rules, sample.clone())
    if rule.name not in winners and winners:
        message = f"'{winners[0]}' comes first wherever it could fire"
        yield Finding(rule.name, "shadowed", message)
        return
    if not isinstance(rule, FusionRule):
        return
    for other in rules[rules.index(rule) + 1 :]:
        tied = other.priority == rule.priority and _size(other) == _size(rule)
        if tied and isinstance(other, FusionRule) and fires(other, sample.clone()):
            message = f"'{other.name}' fits the same ops with the same priority: names decide"
            yield Finding(rule.name, "overlap", message)


def _size(rule: Rule) -> int:
    return sum(len(nodes_of(pattern)) for pattern in rule.patterns)


def _apply_all(rules: Sequence[Rule], module: ModuleOp) -> list[str]:
    """Applies all rules in order; returns the names of those that fired."""
    from ge_dialect.passes.fusion.fuser import Fuser

    for function in module.body.block.ops:
        if isinstance(function, FuncOp):
            fuser = Fuser(function.body.block)
            for rule in rules:
                fuser.apply(rule)
    kernels = [op for op in module.walk() if isinstance(op, FusionOp) and op.rule is not None]
    return [op.rule.data for op in kernels if op.rule is not None]


def newest_opset() -> int:
    """Returns the newest opset of ONNX's own domain that is imported."""
    from onnx.defs import onnx_opset_version

    return onnx_opset_version()
