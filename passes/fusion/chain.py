"""A rule out of a chain of op types and a condition on their attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
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
        return next(view for view in self.ops if isinstance(view.op, wanted))

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
    where = f"rule '{name}'"
    pattern = _pattern([op_class_of(one, where) for one in types])
    made = () if condition is None else (_condition(name, condition, len(types)),)
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


def _condition(rule: str, condition: Condition, count: int) -> RuleCondition:
    if isinstance(condition, str):
        terms = _terms(rule, condition)
        return RuleCondition(condition, ReasonClass.ATTR, lambda m: _test_terms(terms, m, count))
    if isinstance(condition, Mapping):
        mapping = cast("Mapping[str, float]", condition)
        terms = [(key, "==", float(value)) for key, value in mapping.items()]
        text = " and ".join(f"{key} == {value:g}" for key, _, value in terms)
        return RuleCondition(text, ReasonClass.ATTR, lambda m: _test_terms(terms, m, count))
    name = f"condition of {rule}"
    return RuleCondition(name, ReasonClass.ATTR, lambda m: _call(condition, m, count))


def _terms(rule: str, text: str) -> list[tuple[str, str, float]]:
    """Returns the comparisons of a text; nothing in it is ever run."""
    terms: list[tuple[str, str, float]] = []
    for part in re.split(r"\band\b|&&", text):
        found = _TERM.fullmatch(part)
        try:
            terms.append((found[1], found[2], float(found[3]))) if found else None
        except ValueError:
            found = None
        if found is None:
            raise GEError(
                "GE0424",
                f"rule '{rule}': expected a condition such as 'LayerNorm.eps == 1e-5',"
                f" got '{part.strip()[:60]}'",
                hint="join several with 'and'",
            )
    return terms


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
    from inspect import signature

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
