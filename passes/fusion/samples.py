"""Graphs that a rule should fire on: its own example, or one that is made out of its pattern.

A pattern says op types, attributes and how they are joined; shapes are tried out, until one is
found that all its ops accept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    f32,
    i1,
    i64,
)
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import OptOperandDef, OptPropertyDef, PropertyDef, VarOperandDef
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import float_constant, splat_constant
from ge_dialect.ge.types import tensor_type
from ge_dialect.passes.fusion.attrs import (
    Absent,
    Among,
    AttrSpec,
    Equals,
    Present,
    Within,
    attribute_of,
)
from ge_dialect.passes.fusion.matcher import in_type_of
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
from ge_dialect.passes.fusion.rule import Rule, SiblingRule

SHAPES: tuple[tuple[int, ...], ...] = ((4, 4), (2, 4, 4), (1, 2, 4, 4), (2, 2, 2, 2), (4,))
"""Tried in order; square, so that products and transposes fit as well."""

WEIGHT_SHAPES: tuple[tuple[int, ...] | None, ...] = (None, (4, 4), (4,), ())
"""Of constants; None is the shape of everything else."""

EPSILON = 1e-5


class NoSampleError(Exception):
    """The pattern cannot be built with the shapes that are tried."""


def sample_of(rule: Rule) -> ModuleOp | None:
    """Returns a module whose function `main` a rule should fire on; None where none is found.

    Raises:
        GEError: The rule's own example is not valid (GE0424).
    """
    if rule.example:
        return parse_example(rule)
    for shape in SHAPES:
        for weight in WEIGHT_SHAPES:
            try:
                return _build(rule, shape, shape if weight is None else weight)
            except (NoSampleError, VerifyException, ValueError, IndexError, TypeError):
                continue
    return None


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
    block: Block = field(default_factory=Block)
    captures: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    nodes: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])

    def argument(self) -> SSAValue:
        return self.block.insert_arg(tensor_type(f32, self.shape), len(self.block.args))

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def value(self, pattern: Pattern) -> SSAValue:
        """Returns a value that fits a pattern."""
        match pattern:
            case Any() | Weight() | Const():
                return self.captured(pattern)
            case OneOf():
                return self.value(pattern.choices[0])
            case Maybe():
                return self.value(pattern.node.operands[0])
            case Node():
                return self.node(pattern)
            case Nothing():
                raise NoSampleError

    def captured(self, pattern: Any | Weight | Const) -> SSAValue:
        if pattern.name and pattern.name in self.captures:
            return self.captures[pattern.name]
        match pattern:
            case Any():
                value = self.argument()
            case Weight():
                value = self.add(splat_constant(0.5, tensor_type(f32, self.weight)))
            case Const():
                value = self.add(float_constant(pattern.value))
                assert in_type_of(pattern.value, value) is not None
        if pattern.name:
            self.captures[pattern.name] = value
        return value

    def node(self, pattern: Node) -> SSAValue:
        """Builds an op; one node that is in a pattern twice is one op."""
        if id(pattern) in self.nodes:
            return self.nodes[id(pattern)]
        operands = [self.value(operand) for operand in pattern.operands]
        ports = {
            name: self.value(p) for name, p in pattern.ports.items() if not isinstance(p, Nothing)
        }
        groups = _grouped(pattern.op, operands, ports, self)
        rank = len(self.shape)
        properties = {
            name: attr
            for name, spec in pattern.attrs.items()
            if (attr := _attribute(pattern.op, name, spec, rank)) is not None
        }
        op = pattern.op.__new__(pattern.op)
        GEOp.__init__(
            op, groups, properties, num_results=len(pattern.op.get_irdl_definition().results)
        )
        op.verify()
        self.block.add_op(op)
        self.nodes[id(pattern)] = op.results[pattern.result]
        return op.results[pattern.result]


def _build(rule: Rule, shape: tuple[int, ...], weight: tuple[int, ...]) -> ModuleOp:
    sample = _Sample(shape, weight)
    roots: list[SSAValue] = []
    for _ in range(rule.count if isinstance(rule, SiblingRule) else 1):
        sample.nodes.clear()
        if isinstance(rule, SiblingRule):
            for name in _private(rule.pattern):
                sample.captures.pop(name, None)
        roots.append(sample.node(rule.pattern))
    sample.block.add_op(ReturnOp(*roots))
    types = [a.type for a in sample.block.args], [r.type for r in roots]
    module = ModuleOp([FuncOp("main", types, Region(sample.block))])
    module.verify()
    return module


def _private(pattern: Node) -> Iterator[str]:
    """Yields the captures that each sibling has of its own: all but the shared first one."""
    yield from (p.name for p in pattern.operands[1:] if isinstance(p, Weight) and p.name)


def _grouped(
    op_class: type[GEOp], operands: Sequence[SSAValue], ports: dict[str, SSAValue], sample: _Sample
) -> list[SSAValue | Sequence[SSAValue] | None]:
    """Returns one value, list or None for each operand that an op class defines."""
    waiting = list(operands)
    groups: list[SSAValue | Sequence[SSAValue] | None] = []
    for name, definition in op_class.get_irdl_definition().operands:
        if isinstance(definition, VarOperandDef):
            groups.append(waiting)
            waiting = []
        elif name in ports:
            groups.append(ports[name])
        elif waiting:
            groups.append(waiting.pop(0))
        else:
            groups.append(None if isinstance(definition, OptOperandDef) else sample.argument())
    return groups


def _attribute(op_class: type[GEOp], name: str, spec: AttrSpec, rank: int) -> Attribute | None:
    """Returns an attribute that fits what a rule says of it; None for one that is left out."""
    definition = op_class.get_irdl_definition().properties[name]
    optional = isinstance(definition, OptPropertyDef)
    like = _like(definition)
    match spec:
        case Equals():
            return attribute_of(spec.value, like)
        case Within():
            return attribute_of(spec.low, like)
        case Among():
            return attribute_of(spec.values[0], like)
        case Absent():
            return None
        case Present():
            return _guess(name, definition, rank) or UnitAttr()
        case _:
            return None if optional else definition.default_value or _guess(name, definition, rank)


def _like(definition: PropertyDef) -> Attribute | None:
    """Returns an attribute of the kind that a property has, where that can be told."""
    text = str(definition.constr)
    if "FloatAttr" in text:
        return FloatAttr(0.0, f32)
    if "IntegerAttr" in text:
        return IntegerAttr(0, i1 if "(1)" in text else i64)
    return None


def _guess(name: str, definition: PropertyDef, rank: int) -> Attribute:
    """Returns a likely value of a property that may be anything."""
    text = str(definition.constr)
    if "DenseArray" in text:
        order = [*range(rank - 2), rank - 1, rank - 2] if name == "perm" else [1] * rank
        return DenseArrayBase.from_list(i64, [max(0, axis) for axis in order])
    if "FloatAttr" in text:
        return FloatAttr(EPSILON if "epsilon" in name else 0.5, f32)
    if "IntegerAttr" in text:
        return IntegerAttr(-1 if name == "axis" else 0, i1 if "(1)" in text else i64)
    raise NoSampleError
