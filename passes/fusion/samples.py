"""Graphs that a rule should fire on: its own example, or one that is made out of its pattern.

A pattern says op types, attributes and how they are joined; shapes are tried out, until one is
found that all its ops accept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, f16, f32, i32
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import OptOperandDef, VarOperandDef
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import splat_constant
from ge_dialect.ge.dtypes import is_float, is_integer
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.types import tensor_type
from ge_dialect.passes.fusion.attrs import AttrSpec, plain, shown
from ge_dialect.passes.fusion.choices import Choices, all_choices
from ge_dialect.passes.fusion.pattern import (
    Any,
    Const,
    Maybe,
    Node,
    Nothing,
    OneOf,
    Pattern,
    Weight,
)
from ge_dialect.passes.fusion.rule import FusionRule, Rule, SiblingRule
from ge_dialect.passes.fusion.sample_attributes import attributes

SHAPES: tuple[tuple[int, ...], ...] = (
    *((4, 4), (2, 4, 4), (1, 2, 4, 4), (2, 2, 2, 2), (4,)),
    *((3, 5), (2, 3, 5)),
)
"""Tried in order; square first, so that products and transposes fit as well."""

WEIGHT_SHAPES: tuple[tuple[int, ...] | None, ...] = (None, (4, 4), (4,), ())
"""Of constants; None is the shape of everything else."""


class NoSampleError(Exception):
    """The pattern cannot be built with the shapes that are tried."""


def sample_of(rule: Rule) -> ModuleOp | None:
    """Returns a module whose function `main` a rule should fire on; None where none is found.

    Raises:
        GEError: The rule's own example is not valid (GE0424).
    """
    if rule.example:
        return parse_example(rule)
    return _first(rule, Choices())


def parse_example(rule: Rule) -> ModuleOp:
    """Returns the verified example of a rule.

    Raises:
        GEError: It does not parse or verify (GE0424).
    """
    from ge_dialect.ge import GE

    ctx = Context()
    for dialect in (Builtin, Func, GE):
        ctx.load_dialect(dialect)
    try:
        module = Parser(ctx, rule.example).parse_module()
        module.verify()
    except (ParseError, VerifyException) as error:
        reason = " ".join(str(error).split())[:200]
        raise GEError(
            "GE0424", f"the example of rule '{rule.name}' is not valid: {reason}"
        ) from error
    return module


@dataclass
class _Sample:
    """A function under construction."""

    shape: tuple[int, ...]
    weight: tuple[int, ...]
    choices: Choices
    element: Attribute = f32
    tolerant: bool = False
    block: Block = field(default_factory=Block)
    captures: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    nodes: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])

    def argument(self, shape: tuple[int, ...]) -> SSAValue:
        return self.block.insert_arg(tensor_type(self.element, shape), len(self.block.args))

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def value(self, pattern: Pattern) -> SSAValue:
        """Returns a value that fits a pattern."""
        match pattern:
            case Any() | Weight() | Const():
                return self.captured(pattern)
            case OneOf():
                ways = [(f"choice {n} of several", one) for n, one in enumerate(pattern.choices, 1)]
                return self.value(self.choices.choose(ways))
            case Maybe():
                there = f"with the optional '{pattern.node.op.name}'"
                ways = [("", pattern.node.operands[0]), (there, pattern.node)]
                return self.value(self.choices.choose(ways))
            case Node():
                return self.cast_back(self.node(pattern), pattern.op.name)
            case Nothing():
                raise NoSampleError

    def cast_back(self, value: SSAValue, name: str) -> SSAValue:
        """Returns a value, perhaps through casts that a rule looks through: they round."""
        if not self.tolerant or not is_float(self.element):
            return value
        what = f"with casts to f16 and back behind '{name}'"
        if not self.choices.choose([("", False), (what, True)]):
            return value
        return self.add(CastOp(self.add(CastOp(value, f16)), self.element))

    def captured(self, pattern: Any | Weight | Const) -> SSAValue:
        if pattern.name and pattern.name in self.captures:
            return self.captures[pattern.name]
        match pattern:
            case Any():
                value = self.argument(self.choices.choose(self.shapes(pattern.name)))
            case Weight():
                value = self.constant(2.0 if is_integer(self.element) else 0.5, self.weight)
            case Const():
                value = self.constant(pattern.value, ())
        if pattern.name:
            self.captures[pattern.name] = value
        return value

    def constant(self, value: float, shape: tuple[int, ...]) -> SSAValue:
        if is_integer(self.element) and value != int(value):
            raise NoSampleError
        return self.add(splat_constant(value, tensor_type(self.element, shape)))

    def shapes(self, name: str) -> list[tuple[str, tuple[int, ...]]]:
        """Returns the shape of all, and those that broadcast to it."""
        ways = [("", self.shape)]
        if len(self.shape) > 1:
            what = f"'{name}' of shape" if name else "an operand of shape"
            ones = (*(1 for _ in self.shape[1:]), self.shape[-1])
            shapes = ((self.shape[-1],), (*self.shape[:-1], 1), ones)
            ways += [(f"{what} {list(shape)}", shape) for shape in shapes]
        return ways

    def node(self, pattern: Node) -> SSAValue:
        """Builds an op; one node that is in a pattern twice is one op."""
        if id(pattern) in self.nodes:
            return self.nodes[id(pattern)]
        operands = [self.value(operand) for operand in pattern.operands]
        if pattern.commutes:
            order = [("", 1), (f"operands of '{pattern.op.name}' the other way round", -1)]
            operands = operands[:: self.choices.choose(order)]
        ports = {
            name: self.value(p) for name, p in pattern.ports.items() if not isinstance(p, Nothing)
        }
        groups = _grouped(pattern, operands, ports, self)
        properties = {
            name: attr
            for name, spec in pattern.attrs.items()
            if (attr := self.attribute(pattern.op, name, spec)) is not None
        }
        op = pattern.op.__new__(pattern.op)
        GEOp.__init__(
            op, groups, properties, num_results=len(pattern.op.get_irdl_definition().results)
        )
        op.verify()
        self.block.add_op(op)
        self.nodes[id(pattern)] = op.results[pattern.result]
        return op.results[pattern.result]

    def attribute(self, op: type[GEOp], name: str, spec: AttrSpec) -> Attribute | None:
        """Returns an attribute that fits what a rule says of it; None for one that is left out."""
        found = attributes(op.get_irdl_definition().properties[name], name, spec, len(self.shape))
        if not found:
            raise NoSampleError
        ways = [(f"'{name}' of '{op.name}' {_words(one)}", one) for one in found]
        return self.choices.choose(ways)


def _words(attr: Attribute | None) -> str:
    return "left out" if attr is None else shown(plain(attr))


def _build(rule: Rule, shape: tuple[int, ...], weight: tuple[int, ...], made: Choices) -> ModuleOp:
    tolerant = isinstance(rule, FusionRule) and rule.cast_tolerant
    sample = _Sample(shape, weight, made, tolerant=tolerant)
    patterns = [(f"alternative {n}", one) for n, one in enumerate(rule.patterns)]
    pattern = made.choose(patterns)
    sample.element = made.choose([("", f32), ("of f16", f16), ("of i32", i32)])
    roots: list[SSAValue] = []
    for _ in range(rule.count if isinstance(rule, SiblingRule) else 1):
        sample.nodes.clear()
        if isinstance(rule, SiblingRule):
            for name in _private(pattern):
                sample.captures.pop(name, None)
        roots.append(sample.node(pattern))
    sample.block.add_op(ReturnOp(*roots))
    types = [a.type for a in sample.block.args], [r.type for r in roots]
    module = ModuleOp([FuncOp("main", types, Region(sample.block))])
    module.verify()
    return module


def _first(rule: Rule, made: Choices) -> ModuleOp | None:
    """Returns what is built of the first shapes that fit; None where none do."""
    for shape, weight in product(SHAPES, WEIGHT_SHAPES):
        made.counts.clear()
        made.told.clear()
        try:
            return _build(rule, shape, shape if weight is None else weight, made)
        except (NoSampleError, VerifyException, ValueError, IndexError, TypeError):
            continue
    return None


def variants_of(rule: Rule) -> Iterator[tuple[ModuleOp, str]]:
    """Yields modules that a rule may fire on, and how each differs from the plainest one.

    Optional ops and operands are there or not, operands the other way round or of other shapes,
    attributes at both ends of what the rule allows, element types others: each for itself, then
    several, up to a limit. Shapes are those of `SHAPES` that fit.
    """
    yield from all_choices(partial(_first, rule))
    for shape, weight in product(SHAPES, WEIGHT_SHAPES):
        try:
            module = _build(rule, shape, shape if weight is None else weight, Choices())
        except (NoSampleError, VerifyException, ValueError, IndexError, TypeError):
            continue
        yield module, f"of shape {list(shape)}"


def _private(pattern: Node) -> Iterator[str]:
    """Yields the captures that each sibling has of its own: all but the shared first one."""
    yield from (p.name for p in pattern.operands[1:] if isinstance(p, Weight) and p.name)


def _grouped(
    pattern: Node, operands: Sequence[SSAValue], ports: dict[str, SSAValue], sample: _Sample
) -> list[SSAValue | Sequence[SSAValue] | None]:
    """Returns one value, list or None for each operand that an op class defines."""
    waiting = list(operands)
    groups: list[SSAValue | Sequence[SSAValue] | None] = []
    for name, definition in pattern.op.get_irdl_definition().operands:
        if name in pattern.ports:
            groups.append(ports.get(name))
        elif isinstance(definition, OptOperandDef):
            groups.append(waiting.pop(0) if waiting else _optional(pattern, name, sample))
        elif isinstance(definition, VarOperandDef):
            groups.append(waiting)
            waiting = []
        elif waiting:
            groups.append(waiting.pop(0))
        else:
            groups.append(sample.argument(sample.shape))
    return groups


def _optional(pattern: Node, name: str, sample: _Sample) -> SSAValue | None:
    """Returns an operand that the pattern does not speak of, which is an input of the kernel."""
    what = f"with operand '{name}' of '{pattern.op.name}'"
    ways: list[tuple[str, tuple[int, ...] | None]] = [("", None), (what, sample.shape[-1:])]
    if len(sample.shape) > 1:
        ways.append((f"{what} of full shape", sample.shape))
    shape = sample.choices.choose(ways)
    return None if shape is None else sample.argument(shape)
