"""What a block of ops needs of memory, as numbers: who touches which bytes.

Mirrors what `ge-bufferize` does with the block. A root is what has bytes of its own: the result of
a task, an argument, a joined value whose producers write straight into it. Values are roots or
stretches of roots. Constants, inputs and outputs have bytes for the whole plan, so they cost
nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge_dialect.ge.access import operand_at, operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.greatest import byte_size
from ge_dialect.ge.structure import FusionOp, IfOp, LoopOp
from ge_dialect.passes.zero_copy.marks import parts_of, views_of, written_value


@dataclass(slots=True)
class Value:
    """A value of a block.

    Attributes:
        root: Index of the root whose bytes it is.
        size: In bytes; 0 where they are not known before the run.
        uses: How many operands it is.
        is_view: Whether it is a stretch of its root, not the root itself.
    """

    root: int
    size: int
    uses: int
    is_view: bool = False


@dataclass(slots=True)
class Unit:
    """An op of a block.

    Attributes:
        op: The op.
        reads: Values it reads, constants left out, with repeats.
        results: Values it gives.
        copied: Operands that it copies, where it joins values; all reads of any other task.
        pairs: (read, result) that may share bytes.
        is_free: Whether it moves no byte: a view, or a joined value that is there already.
        workspace: Bytes that its regions need at their peak.
    """

    op: Operation
    reads: list[int]
    results: list[int]
    copied: list[int]
    pairs: list[tuple[int, int]]
    is_free: bool = False
    workspace: int = 0


@dataclass
class BlockModel:
    """The ops of a block and the bytes they touch.

    Attributes:
        block: The block.
        alignment: Sizes are rounded up to it, in bytes.
        values, units: Numbered in the order of the block.
        sizes: Of each root, in bytes.
        fixed: Whether a root costs nothing, since it has its bytes for the whole plan.
        joined: Roots that several tasks write.
        takeable: Roots of arguments whose bytes a task may take over.
        wanted: Root of an argument that a loop wants a root to be written to.
        outputs: Values that the block gives, in order; None for constants.
    """

    block: Block
    alignment: int
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    values: list[Value] = field(default_factory=list[Value])
    units: list[Unit] = field(default_factory=list[Unit])
    sizes: list[int] = field(default_factory=list[int])
    fixed: list[bool] = field(default_factory=list[bool])
    joined: set[int] = field(default_factory=set[int])
    takeable: set[int] = field(default_factory=set[int])
    wanted: dict[int, int] = field(default_factory=dict[int, int])
    outputs: list[int | None] = field(default_factory=list[int | None])

    @cached_property
    def is_function(self) -> bool:
        """Whether the block is the body of a function."""
        return isinstance(self.block.parent_op(), FuncOp)

    @cached_property
    def is_loop(self) -> bool:
        """Whether the block is the body of a loop."""
        return isinstance(self.block.parent_op(), LoopOp)

    def footprint(self, root: int) -> int:
        """Returns the bytes of a root as the planner rounds them."""
        return -(-self.sizes[root] // self.alignment) * self.alignment

    def add_root(self, type: Attribute, *, fixed: bool) -> int:
        """Returns the number of a new root."""
        self.sizes.append(byte_size(type) or 0)
        self.fixed.append(fixed)
        return len(self.sizes) - 1

    def add_value(self, value: SSAValue, root: int, *, is_view: bool = False) -> int:
        """Returns the number of a new value."""
        number = self.numbers[value] = len(self.values)
        size = byte_size(value.type) or 0
        self.values.append(Value(root, size, value.uses.get_length(), is_view))
        return number

    def add_whole(self, value: SSAValue, *, fixed: bool) -> int:
        """Returns the number of a new value that is a root."""
        number = self.numbers[value] = len(self.values)
        size, root = byte_size(value.type) or 0, len(self.sizes)
        self.sizes.append(size)
        self.fixed.append(fixed)
        self.values.append(Value(root, size, value.uses.get_length()))
        return number

    def numbers_of(self, values: Sequence[SSAValue]) -> list[int]:
        """Returns the numbers of values, constants left out."""
        if self.is_function:  # which sees nothing around it
            numbers = self.numbers
            return [numbers[value] for value in values if value in numbers]
        return [number for value in values if (number := self.number(value)) is not None]

    def number(self, value: SSAValue) -> int | None:
        """Returns the number of a value; None for a constant.

        What comes from outside of the block has bytes for as long as the block runs.
        """
        if (known := self.numbers.get(value)) is not None:
            return known
        if isinstance(value.owner, ConstantOp):
            return None
        return self.add_whole(value, fixed=True)


def model_of(block: Block, alignment: int, workspaces: dict[Operation, int]) -> BlockModel | None:
    """Returns the model of a block, or None where it holds ops of other dialects.

    Args:
        block: Of a function, branch or loop.
        alignment: Of buffers, in bytes.
        workspaces: What the regions of an op need at their peak, in bytes.
    """
    model = BlockModel(block, alignment)
    last = block.last_op
    body = [op for op in block.ops if type(op) is not ConstantOp and op is not last]
    units = [op for op in body if isinstance(op, GEOp)]
    if len(units) < len(body):
        return None
    for arg in block.args:
        model.add_whole(arg, fixed=True)
    places = _places(model, units)
    for op in units:
        _add_unit(model, op, places, workspaces.get(op, 0))
    model.outputs = [model.number(value) for value in (() if last is None else last.operands)]
    if isinstance(parent := block.parent_op(), LoopOp):
        _carry(model, parent)
    elif isinstance(parent, FuncOp):
        args = [block.args[index] for index in donated_arguments(parent)]
        model.takeable |= {model.values[model.numbers[arg]].root for arg in args}
    return model


def donated_arguments(function: FuncOp) -> Sequence[int]:
    """Returns the positions of the arguments with the attribute `ge.donated`: the caller does not
    want their bytes back."""
    attributes = () if function.arg_attrs is None else function.arg_attrs.data
    return [index for index, attr in enumerate(attributes) if "ge.donated" in attr.data]


def _places(model: BlockModel, body: Sequence[Operation]) -> dict[SSAValue, int]:
    """Returns the root of every value that is written straight into a joined one.

    Later ones first: what is joined may be part of something else itself.
    """
    places: dict[SSAValue, int] = {}
    for op in reversed(body):
        if parts := parts_of(op):
            joined = op.results[0]
            if joined not in places:
                places[joined] = model.add_root(joined.type, fixed=False)
                model.joined.add(places[joined])
            for index in parts:
                places.setdefault(written_value(op.operands[index]), places[joined])
    return places


def _add_unit(model: BlockModel, op: GEOp, places: dict[SSAValue, int], workspace: int) -> None:
    reads = model.numbers_of(read_values(op))
    views, parts = views_of(op), parts_of(op)
    if views is not None:
        source = model.number(views[0])
        is_weight = source is None
        root = model.add_root(views[0].type, fixed=True) if is_weight else model.values[source].root
        results = [model.add_value(value, root, is_view=True) for value in op.results]
        model.units.append(Unit(op, reads, results, [], [], is_free=True))
        return
    results = [_result(model, value, places) for value in op.results]
    copied = reads
    if parts:
        copied = model.numbers_of([v for i, v in enumerate(op.operands) if i not in parts])
    is_free = bool(parts) and len(parts) == len(op.operands)
    unit = Unit(op, reads, results, copied, _pairs(model, op, results), is_free, workspace)
    model.units.append(unit)


def _result(model: BlockModel, value: SSAValue, places: dict[SSAValue, int]) -> int:
    if (root := places.get(value)) is None:
        return model.add_whole(value, fixed=False)
    is_whole = model.sizes[root] == (byte_size(value.type) or 0)
    is_owner = root in model.joined and is_whole and bool(parts_of(_owner(value)))
    return model.add_value(value, root, is_view=not is_owner)


def _owner(value: SSAValue) -> Operation:
    owner = value.owner
    assert isinstance(owner, Operation)
    return owner


def _pairs(model: BlockModel, op: GEOp, results: Sequence[int]) -> list[tuple[int, int]]:
    if isinstance(op, LoopOp):
        shared = [(value, i) for i, value in enumerate(op.carried) if _same(value, op.results[i])]
    elif pairs := op.in_place_pairs():
        shared = [(operand_at(op, i), j) for i, j in pairs]
    else:
        return []
    return [(a, results[j]) for value, j in shared if (a := model.number(value)) is not None]


def _same(a: SSAValue, b: SSAValue) -> bool:
    return a.type == b.type


def read_values(op: Operation) -> Sequence[SSAValue]:
    """Returns what an op reads from outside, its branches or body included, with repeats."""
    if not isinstance(op, IfOp | LoopOp):
        return operands_of(op)
    inner = [one for one in op.walk() if one is not op]
    own = {value for one in inner for value in one.results}
    own |= {arg for one in op.walk() for region in one.regions for arg in _args(region.blocks)}
    outside = [v for one in inner for v in one.operands if v not in own]
    return [*op.operands, *outside]


def _args(blocks: Sequence[Block]) -> list[SSAValue]:
    return [arg for block in blocks for arg in block.args]


def _carry(model: BlockModel, loop: LoopOp) -> None:
    """Says what a loop does with its arguments: values are handed on in their places."""
    args = model.block.args[1:]
    for arg, output in zip(args, model.outputs, strict=False):
        place = model.values[model.numbers[arg]].root
        if output == model.numbers[arg]:
            continue
        model.takeable.add(place)
        if output is not None and not model.values[output].is_view:
            model.wanted.setdefault(model.values[output].root, place)


def has_effect(op: Operation) -> bool:
    """Whether an op has to keep its place among others of that kind."""
    return not isinstance(op, FusionOp) and not is_side_effect_free(op)
