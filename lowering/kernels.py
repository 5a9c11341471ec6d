"""Kernels out of ops: one symbol for all ops that compute the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.base import Engine, GEOp
from ge_dialect.ge.constants import SMALL_BYTES, ConstantOp
from ge_dialect.ge.copied import structure_of
from ge_dialect.ge.numbers import Numbers
from ge_dialect.ge.structure import FusionOp, YieldOp
from ge_dialect.ge.types import byte_size
from ge_dialect.ge_exec import KernelOp


@dataclass
class KernelTable:
    """The kernels of a module, found again by what they compute; new ones go before `anchor`.

    Names in `taken` belong to other symbols of the module.

    Linear in the ops it is asked about: a kernel's fingerprint is a hash of its ops, attributes
    and wiring, without names and locations.
    """

    anchor: Operation
    taken: set[str] = field(default_factory=set[str])
    by_fingerprint: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    numbers: Numbers = field(default_factory=Numbers)
    by_parts: dict[Hashable, tuple[str, object]] = field(
        default_factory=dict[Hashable, tuple[str, object]]
    )
    """Of ops of the very same attributes and bodies; with what its numbers identify."""

    def kernel_of(self, op: GEOp, sized: Sequence[SSAValue] = ()) -> tuple[str, Sequence[SSAValue]]:
        """Returns the symbol of the kernel that computes `op`, and the values it reads.

        Small constants become part of the kernel, so they are not among the values.

        Args:
            op: What is to be computed.
            sized: Values of which only a size is needed; the kernel takes them last.
        """
        values = [*external_values(op), *sized]
        immediates = [
            immediate_of(value) if type(value.owner) is ConstantOp else None for value in values
        ]
        operands = [v for v, one in zip(values, immediates, strict=True) if one is None]
        # Mostly copies of one op: all that it is made of is the same objects.
        parts = [
            *[v.type if one is None else one for v, one in zip(values, immediates, strict=True)],
            *op.properties.values(),
            *[result.type for result in op.results],
            *[structure_of(region) for region in op.regions],
        ]
        wiring = tuple(map(values.index, operands_of(op)))
        key = (type(op), wiring, len(values), len(operands), *op.properties, *map(id, parts))
        if (known := self.by_parts.get(key)) is None:
            known = self.by_parts[key] = self._kernel(op, values, immediates), parts
        return known[0], operands

    def _kernel(
        self, op: GEOp, values: Sequence[SSAValue], immediates: Sequence[Attribute | None]
    ) -> str:
        """Returns the symbol of a kernel that computes the same, or of a new one."""
        key = fingerprint(op, values, immediates, self.numbers)
        if (symbol := self.by_fingerprint.get(key)) is None:
            symbol = self.by_fingerprint[key] = self._add(op, kernel_body(op, values))
        return symbol

    def _add(self, op: GEOp, body: Region) -> str:
        # `Const` is the type of a weight in a graph of GE; this is a kernel that writes one.
        title = "Fill" if isinstance(op, ConstantOp) else op.ge_op_type()
        symbol = self._symbol(title)
        kernel = KernelOp(symbol, title, engine_of(op), op.flops(), body)
        block_of(self.anchor).insert_op_before(kernel, self.anchor)
        return symbol

    def _symbol(self, title: str) -> str:
        while True:
            number = self.counts.get(title, 0)
            self.counts[title] = number + 1
            if (symbol := f"{title}_{number}") not in self.taken:
                return symbol


def block_of(op: Operation) -> Block:
    """Returns the block that an op is in."""
    block = op.parent
    assert block is not None
    return block


def engine_of(op: GEOp) -> Engine:
    """Returns the engine of an op; a fusion runs where its heaviest part does."""
    if not isinstance(op, FusionOp):
        return op.ENGINE
    engines = {inner.ENGINE for inner in op.body.block.ops if isinstance(inner, GEOp)}
    for engine in (Engine.HOST, Engine.CUBE, Engine.VECTOR, Engine.DMA):
        if engine in engines:
            return engine
    return Engine.VECTOR


def kernel_body(op: GEOp, values: Sequence[SSAValue]) -> Region:
    """Returns a region that computes `op` from block arguments, one for each value that is no
    immediate."""
    operands = [value for value in values if immediate_of(value) is None]
    block = Block(arg_types=[value.type for value in operands])
    mapping: dict[SSAValue, SSAValue] = dict(zip(operands, block.args, strict=True))
    for value in values:
        if value not in mapping and isinstance(constant := value.owner, ConstantOp):
            clone = constant.clone()
            block.add_op(clone)
            mapping[value] = clone.result
    if isinstance(op, FusionOp):
        for argument, value in zip(op.body.block.args, op.arguments, strict=True):
            mapping[argument] = mapping[value]
        for inner in op.body.block.ops:
            block.add_op(inner.clone(mapping))
    else:
        clone = op.clone(mapping)
        block.add_op(clone)
        block.add_op(YieldOp(*clone.results))
    return Region(block)


def immediate_of(value: SSAValue) -> Attribute | None:
    """Returns the value of a constant that is small enough to be part of the kernels that read it;
    None of anything else."""
    owner = value.owner
    constant = owner.properties["value"] if type(owner) is ConstantOp else None
    if constant is None or isinstance(constant, WeightAttr):
        return None
    size = byte_size(value.type)
    return constant if size is not None and size <= SMALL_BYTES else None


def external_values(op: Operation, with_repeats: bool = False) -> Sequence[SSAValue]:
    """Returns the values an op reads from outside, its regions included, in order of first use.

    Args:
        op: Any op.
        with_repeats: Whether a value that is read twice is listed twice.
    """
    found = list(operands_of(op))
    if op.regions and not isinstance(op, FusionOp):
        inside: set[SSAValue] = set()
        for region in op.regions:
            for block in region.blocks:
                inside.update(block.args)
        for inner in op.walk():
            if inner is not op:
                inside.update(inner.results)
                for region in inner.regions:
                    for block in region.blocks:
                        inside.update(block.args)
        found += [
            operand
            for inner in op.walk()
            if inner is not op
            for operand in inner.operands
            if operand not in inside
        ]
    return found if with_repeats else list(dict.fromkeys(found))


def fingerprint(
    op: GEOp,
    values: Sequence[SSAValue],
    immediates: Sequence[Attribute | None],
    numbers: Numbers,
) -> Hashable:
    """Returns a value that is equal for ops that compute the same: no names, no locations.

    Args:
        op: Any op.
        values: What it reads from outside, in order.
        immediates: Of those that count by value, the value; others count by type.
        numbers: Of the attributes seen so far.
    """
    places = {value: place for place, value in enumerate(values)}
    told = [
        numbers.of(value.type if constant is None else constant)
        for value, constant in zip(values, immediates, strict=True)
    ]
    return tuple(told), _op_key(op, places, numbers)


def kernel_key(kernel: KernelOp, numbers: Numbers) -> Hashable:
    """Returns a value that is equal for kernels that compute the same on the same unit."""
    return kernel.op_type.data, kernel.engine.data, _block_key(kernel.body.block, {}, numbers)


def _op_key(op: Operation, places: dict[SSAValue, int], numbers: Numbers) -> Hashable:
    operands = tuple([places[operand] for operand in operands_of(op)])
    for result in op.results:
        places[result] = len(places)
    properties = op.properties
    return (
        op.name,
        operands,
        tuple([(name, numbers.of(properties[name])) for name in sorted(properties)]),
        tuple([numbers.of(result.type) for result in op.results]),
        tuple([_region_key(op, region, places, numbers) for region in op.regions]),
    )


def _region_key(
    op: Operation, region: Region, places: dict[SSAValue, int], numbers: Numbers
) -> Hashable:
    if not isinstance(op, FusionOp):
        return tuple([_block_key(block, places, numbers) for block in region.blocks])
    # A body sees nothing around it; those that are copies of one are numbered once.
    like = structure_of(region)
    if (known := numbers.bodies.get(like)) is None:
        known = numbers.of_structure(_block_key(like.block, {}, numbers))
        if like is not region:
            numbers.bodies[like] = known
    return known


def _block_key(block: Block, places: dict[SSAValue, int], numbers: Numbers) -> Hashable:
    for argument in block.args:
        places[argument] = len(places)
    types = tuple([numbers.of(argument.type) for argument in block.args])
    return types, tuple([_op_key(op, places, numbers) for op in block.ops])
