"""What the fields of a rule may be: rules come from others, and Python checks no types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from math import isfinite, isnan
from typing import NoReturn, cast

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, i1
from xdsl.irdl import OptOperandDef, PropertyDef, VarOperandDef

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.fusion.attrs import Among, AttrSpec, Equals, Within
from ge_dialect.passes.fusion.pattern import (
    Any,
    Const,
    Maybe,
    Node,
    Nothing,
    OneOf,
    Weight,
    nodes_of,
)
from ge_dialect.passes.fusion.rule import Condition, FusionRule, Rule, SiblingRule
from ge_dialect.passes.fusion.sample_attributes import like_of

NAME = re.compile(r"[A-Za-z_][\w-]*")
"""Names stand in lists with commas, in `RULE:N`, and beside the paths of files of rules."""

TEXTS = ("precision", "example")
FLAGS = ("cast_tolerant", "can_close", "on_chip")
LISTS = ("outputs", "targets", "aliases")

_NAME_HINT = "a name has letters, digits, _ and -, as in --rules A,B and --require-fusion A:1"


def check_fields(rule: Rule) -> None:
    """Checks that each field of a rule is of its kind.

    Raises:
        GEError: One is not (GE0424).
    """
    name = cast("object", rule.name)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise GEError("GE0424", f"a rule may not be named {name!r:.60}", hint=_NAME_HINT)
    known = {field.name for field in fields(rule)}
    for field in known.intersection((*TEXTS, *FLAGS, *LISTS)):
        _check_plain(rule, field, getattr(rule, field))
    kernel = cast("object", rule.kernel)
    if not isinstance(kernel, str) or not kernel:
        _refuse(rule, f"expected 'kernel' to be a text, got {kernel!r:.60}")
    if type(cast("object", rule.priority)) is not int:
        _refuse(rule, f"expected 'priority' to be a whole number, got {rule.priority!r:.60}")
    _check_opsets(rule)
    _check_parts(rule)
    if isinstance(rule, FusionRule):
        _check_replacement(rule)
    elif type(cast("object", rule.count)) is not int or rule.count < 2:
        _refuse(rule, f"expected 'count' to be a number of 2 or more, got {rule.count!r:.60}")


def _check_plain(rule: Rule, field: str, value: object) -> None:
    if field in TEXTS and not isinstance(value, str):
        _refuse(rule, f"expected '{field}' to be a text, got {value!r:.60}")
    if field in FLAGS and not isinstance(value, bool):
        _refuse(rule, f"expected '{field}' to be True or False, got {value!r:.60}")
    if field in LISTS and not _is_list(value, str):
        _refuse(rule, f"expected '{field}' to be a tuple of texts, got {value!r:.60}")


def _is_list(value: object, of: type) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return all(isinstance(item, of) for item in cast("Sequence[object]", value))


def _check_opsets(rule: Rule) -> None:
    low, high = cast("tuple[object, object]", (rule.min_opset, rule.max_opset))
    for field, value in (("min_opset", low), ("max_opset", high)):
        if value is not None and type(value) is not int:
            _refuse(rule, f"expected '{field}' to be a whole number, got {value!r:.60}")
    if isinstance(low, int) and isinstance(high, int) and low > high:
        _refuse(rule, f"expected min_opset <= max_opset, got {low} and {high}")


def _check_parts(rule: Rule) -> None:
    for pattern in cast("Sequence[object]", rule.patterns):
        if not isinstance(pattern, Node):
            hint = "a pattern is a Node; further ones are its 'alternatives'"
            _refuse(rule, f"expected a pattern to be a Node, got {pattern!r:.60}", hint)
        for part in _parts(pattern):
            if not isinstance(part, Any | Weight | Const | Nothing | Node | Maybe | OneOf):
                hint = "Any, Weight, Const, Node, Maybe, OneOf; NOTHING in ports"
                _refuse(rule, f"expected a part of a pattern, got {part!r:.60}", hint)
    if not _is_list(rule.conditions, Condition):
        hint = "Condition(name, reason, test, fix); passes/fusion/conditions has the usual ones"
        _refuse(rule, f"expected a tuple of Conditions, got {rule.conditions!r:.60}", hint)
    named = _names(rule)
    for condition in rule.conditions:
        if unknown := [one for one in condition.of if one not in named]:
            problem = f"condition '{condition.name}' is about '{unknown[0]}', which no pattern has"
            _refuse(rule, problem, f"name one of {', '.join(named) or 'the captures'}")


def _parts(pattern: object) -> Iterator[object]:
    yield pattern
    match pattern:
        case Node():
            inner: Sequence[object] = (*pattern.operands, *pattern.ports.values())
        case Maybe():
            inner = (pattern.node,)
        case OneOf():
            inner = pattern.choices
        case _:
            inner = ()
    for one in inner:
        yield from _parts(one)


def _names(rule: Rule) -> list[str]:
    """Returns the names of captures and ops in the patterns of a rule."""
    parts = [part for pattern in rule.patterns for part in _parts(pattern)]
    named = [part.name for part in parts if isinstance(part, Any | Weight | Const | Node)]
    return [name for name in dict.fromkeys(named) if name]


def _check_replacement(rule: FusionRule) -> None:
    tolerance = rule.tolerance
    if not _is_number(tolerance) or not isfinite(tolerance) or tolerance < 0:
        _refuse(rule, f"expected 'tolerance' to be a number from 0 on, got {tolerance!r:.60}")
    if rule.replacement is None:
        return
    if not callable(cast("object", rule.replacement)):
        problem = f"expected 'replacement' to be a function, got {rule.replacement!r:.60}"
        _refuse(rule, problem, "a function that takes the match and returns new ops")
    if rule.outputs:
        hint = "leave one of the two out"
        _refuse(rule, "a replacement gives the results of the root only, not 'outputs'", hint)


def check_values(rule: Rule) -> None:
    """Checks that what a rule says of attributes and operands can hold at all.

    Raises:
        GEError: Something cannot, so that the rule would never fire (GE0424).
    """
    for node in (node for pattern in rule.patterns for node in nodes_of(pattern)):
        definition = node.op.get_irdl_definition()
        operands = definition.operands
        # An optional operand is a variadic one in xDSL's eyes, too.
        variadic = any(
            isinstance(one, VarOperandDef) and not isinstance(one, OptOperandDef)
            for _, one in operands
        )
        if len(node.operands) > len(operands) and not variadic:
            problem = f"'{node.op.name}' has at most {len(operands)} operands"
            _refuse(rule, f"{problem}, the pattern has {len(node.operands)}", "correct the pattern")
        for name, spec in node.attrs.items():
            if problem := _never(spec, definition.properties[name]):
                what = f"attribute '{name}' of '{node.op.name}'"
                _refuse(rule, f"{what} {problem}", "correct the value")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _never(spec: AttrSpec, definition: PropertyDef) -> str:
    """Returns why a property can never be what a rule wants; an empty text where it can."""
    match spec:
        case Within():
            if isnan(spec.low) or isnan(spec.high) or spec.low > spec.high:
                return f"can never be from {spec.low} to {spec.high}"
            values: Sequence[object] = (spec.low,)
        case Among():
            values = spec.values
            if not values:
                return "can never be one of no values"
        case Equals():
            values = (spec.value,)
        case _:
            return ""
    wrong = [value for value in values if not _fits(value, definition)]
    return f"can never be {wrong[0]!r:.60}" if wrong else ""


def _fits(value: object, definition: PropertyDef) -> bool:
    """Whether a property may have a value, as far as its kind tells."""
    number = _is_number(value)
    match like_of(definition):
        case DenseArrayBase():
            return isinstance(value, tuple)
        case FloatAttr():
            return number and not isnan(cast("float", value))
        case IntegerAttr() as like if like.type == i1:
            return isinstance(value, bool)
        case IntegerAttr():
            return number and cast("float", value) % 1 == 0
        case StringAttr():
            return isinstance(value, str)
        case _:
            return True


def _refuse(
    rule: Rule, problem: str, hint: str = "docs/fusion_rules.md lists the fields"
) -> NoReturn:
    kind = "rule of siblings" if isinstance(rule, SiblingRule) else "rule"
    raise GEError("GE0424", f"{kind} '{rule.name}': {problem}", hint=hint)
