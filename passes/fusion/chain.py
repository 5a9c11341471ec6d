"""A rule out of a chain of op types and a condition on their attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from inspect import signature
from typing import Self, TypeAlias, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.ir import Attribute, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.passes.fusion.attrs import plain, rounded, shown
from ge_dialect.passes.fusion.match import Match
from ge_dialect.passes.fusion.op_names import op_class_of
from ge_dialect.passes.fusion.pattern import KEEP, Any, Node, Verdict
from ge_dialect.passes.fusion.rule import Condition as RuleCondition
from ge_dialect.passes.fusion.rule import FusionRule
from ge_dialect.passes.fusion.rules import SEGMENTS
from ge_dialect.remarks import ReasonClass

Condition: TypeAlias = "Callable[..., object] | Mapping[str, float] | str"

ALIASES = {"eps": "epsilon"}
"""Short names of attributes."""

COMMUTATIVE = ("ge.add", "ge.mul", "ge.max", "ge.min")

_TERM = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(==|<=|>=|<|>)\s*([-+.\deE]+)\s*")


class TypedNumber(float):
    """A number that compares with another as the type of the attribute it is from holds it."""

    attr: Attribute

    def __new__(cls, attr: FloatAttr[AnyFloat]) -> Self:
        """Makes one of a float attribute."""
        self = super().__new__(cls, attr.value.data)
        self.attr = attr
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float | int) and float(self) == rounded(other, self.attr)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: float) -> bool:
        return float(self) < rounded(other, self.attr)

    def __le__(self, other: float) -> bool:
        return float(self) <= rounded(other, self.attr)

    def __gt__(self, other: float) -> bool:
        return float(self) > rounded(other, self.attr)

    def __ge__(self, other: float) -> bool:
        return float(self) >= rounded(other, self.attr)

    __hash__ = float.__hash__


def has_attribute(op_class: type[GEOp], name: str) -> bool:
    """Whether ops of a class have an attribute, or an operand, of this name."""
    definition = op_class.get_irdl_definition()
    name = ALIASES.get(name, name)
    return name in definition.properties or name in dict(definition.operands)


@dataclass(frozen=True)
class OpView:
    """An op as conditions see it: attributes by name, `eps` for `epsilon`."""

    op: GEOp

    def attr(self, name: str) -> object:
        """Returns the value of an attribute, or of a constant operand; None where it is neither."""
        name = ALIASES.get(name, name)
        found = self.op.properties.get(name)
        if found is None and isinstance(getattr(self.op, name, None), SSAValue):
            return constant_scalar(cast("SSAValue", getattr(self.op, name)))
        return (
            TypedNumber(cast("FloatAttr[AnyFloat]", found))
            if isinstance(found, FloatAttr)
            else plain(found)
        )

    def __getattr__(self, name: str) -> object:
        if not has_attribute(type(self.op), name):
            raise AttributeError(f"'{self.op.name}' has no attribute '{name}'")
        return self.attr(name)


@dataclass(frozen=True)
class Chain:
    """The matched ops in the order of the data, by place, by op type, or by their attributes."""

    ops: tuple[OpView, ...]

    def __getitem__(self, key: int | str) -> OpView:
        if isinstance(key, int):
            return self.ops[key]
        wanted = op_class_of(key, "a condition")
        for view in self.ops:
            if isinstance(view.op, wanted):
                return view
        raise KeyError(f"no '{wanted.name}' in the chain")

    def __getattr__(self, name: str) -> object:
        for view in self.ops:
            if has_attribute(type(view.op), name):
                return view.attr(name)
        raise AttributeError(f"no op of the chain has an attribute '{name}'")


def chain_rule(op: str, given: Mapping[str, object]) -> FusionRule:
    """Returns the rule of a chain.

    Args:
        op: Op type of the one that the rule is about.
        given: The arguments of `FusionRuleRegistry.register`.

    Raises:
        GEError: An op type or option is unknown (GE0425, GE0424), or the condition is malformed.
    """
    options = dict(given)
    before = _names(options.pop("predecessors", ()))
    after = _names(options.pop("successors", ()))
    types = (*before, op, *after)
    name = str(options.pop("name", "") or "".join(types))
    kernel = str(options.pop("kernel", "") or f"{name}Fusion")
    condition = cast("Condition | None", options.pop("condition", None))
    if unknown := sorted(set(options) - {f.name for f in fields(FusionRule)}):
        raise GEError(
            "GE0424",
            f"rule '{name}': unknown option '{unknown[0]}'",
            hint="predecessors, successors, condition, or a field of FusionRule",
        )
    classes = [op_class_of(one, f"rule '{name}'") for one in types]
    pattern = _pattern(classes)
    made = () if condition is None else (_condition(name, condition, classes),)
    return FusionRule(name, kernel, pattern, made, **options)  # pyright: ignore[reportArgumentType]


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(name) for name in cast("Sequence[object]", value or ()))


def _pattern(classes: Sequence[type[GEOp]]) -> Node:
    node: Node | None = None
    for place, op_class in enumerate(classes):
        properties = op_class.get_irdl_definition().properties
        keep = {name: KEEP for name in properties if name not in SEGMENTS}
        commutes = op_class.name in COMMUTATIVE and node is not None
        operands = () if node is None else (node, Any()) if commutes else (node,)
        node = Node(op_class, operands, keep, commutes, str(place))
    assert node is not None
    return node


def _condition(rule: str, condition: Condition, classes: Sequence[type[GEOp]]) -> RuleCondition:
    count = len(classes)
    if isinstance(condition, str | Mapping):
        terms, text = _terms(rule, cast("Mapping[str, float] | str", condition))
        for path, _, _ in terms:
            _check_path(rule, path, classes)
        return RuleCondition(text, ReasonClass.ATTR, lambda m: _test_terms(terms, m, count))
    _check_function(rule, condition, count)
    name = f"condition of {rule}"
    return RuleCondition(name, ReasonClass.ATTR, lambda m: _call(condition, m, count))


def _terms(
    rule: str, condition: Mapping[str, float] | str
) -> tuple[list[tuple[str, str, float]], str]:
    """Returns the comparisons of a text or a mapping, and a text; nothing in it is ever run."""
    if isinstance(condition, str):
        return [_term(rule, part) for part in re.split(r"\band\b|&&", condition)], condition
    terms: list[tuple[str, str, float]] = []
    for key, value in cast("Mapping[object, object]", condition).items():
        if not isinstance(key, str) or not isinstance(value, int | float):
            problem = f"expected attributes and numbers in a condition, got {key!r}: {value!r:.60}"
            raise GEError("GE0424", f"rule '{rule}': {problem}", hint='as {"epsilon": 1e-5}')
        terms.append((key, "==", float(value)))
    return terms, " and ".join(f"{key} == {value:g}" for key, _, value in terms)


def _term(rule: str, text: str) -> tuple[str, str, float]:
    found = _TERM.fullmatch(text)
    with suppress(ValueError):
        if found is not None:
            return found[1], found[2], float(found[3])
    raise GEError(
        "GE0424",
        f"rule '{rule}': expected a condition such as 'LayerNorm.eps == 1e-5',"
        f" got '{text.strip()[:60]}'",
        hint="join several with 'and'",
    )


def _check_path(rule: str, path: str, classes: Sequence[type[GEOp]]) -> None:
    """Checks that an op of the chain has the attribute that a condition is about."""
    op_type, _, name = path.rpartition(".")
    among = list(classes)
    if op_type:
        wanted = op_class_of(op_type, f"rule '{rule}'")
        among = [one for one in classes if issubclass(one, wanted)][:1]
    if any(has_attribute(one, name) for one in among):
        return
    ops = ", ".join(f"'{one.name}'" for one in among or classes)
    problem = f"the condition '{path}' is about no attribute of {ops}"
    if not among:
        problem = f"the condition '{path}' is about no op of the chain, which has {ops}"
    raise GEError("GE0424", f"rule '{rule}': {problem}", hint="docs/dialects.md lists attributes")


def _check_function(rule: str, condition: object, count: int) -> None:
    """Checks that a condition can be called with the chain, or with each op of it."""
    problem = f"expected a condition to be a function, a text or a mapping, got {condition!r:.60}"
    if callable(condition):
        try:
            found = signature(condition)
            found.bind(*range(1 if len(found.parameters) != count else count))
            return
        except (TypeError, ValueError):
            each = f", or the {count} ops of it" if count > 1 else ""
            problem = f"a condition takes the chain{each}, this one takes other arguments"
    raise GEError(
        "GE0424", f"rule '{rule}': {problem}", hint="docs/fusion_rules.md shows each form"
    )


def _chain(match: Match, count: int) -> Chain:
    return Chain(tuple(OpView(match.named[str(place)]) for place in range(count)))


def _test_terms(terms: Sequence[tuple[str, str, float]], match: Match, count: int) -> Verdict:
    chain = _chain(match, count)
    for path, relation, wanted in terms:
        op_type, _, name = path.rpartition(".")
        found = chain[op_type].attr(name) if op_type else getattr(chain, name)
        if not _holds(found, relation, wanted):
            what = found if isinstance(found, float | int) else None
            shown_wanted = shown(wanted) if relation == "==" else f"{relation} {shown(wanted)}"
            return Verdict(False, f"{path} {shown(what)}", shown_wanted)
    return Verdict(True)


def _holds(found: object, relation: str, wanted: float) -> bool:
    if not isinstance(found, float | int):
        return False
    match relation:
        case "==":
            return found == wanted
        case "<=":
            return found <= wanted
        case ">=":
            return found >= wanted
        case "<":
            return found < wanted
        case _:
            return found > wanted


def _call(condition: Callable[..., object], match: Match, count: int) -> Verdict:
    """Calls a condition with the chain, or with each op where it takes as many arguments."""
    chain = _chain(match, count)
    takes_each = count > 1 and len(signature(condition).parameters) == count
    answer = condition(*chain.ops) if takes_each else condition(chain)
    if isinstance(answer, Verdict):
        return answer
    found = ", ".join(_attributes(view) for view in chain.ops)
    return Verdict(bool(answer), found, "what the condition of the rule asks")


def _attributes(view: OpView) -> str:
    parts = [
        f"{name} {shown(plain(attr))}"
        for name, attr in view.op.properties.items()
        if name not in SEGMENTS and plain(attr) is not None
    ]
    return " ".join([view.op.name, *parts])
