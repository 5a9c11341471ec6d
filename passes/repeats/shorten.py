"""A function with most blocks of a run left out, whose weights note who looks into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.constants import ConstantOp, constant_attr, seal
from ge_dialect.ge.sealed import stand_in
from ge_dialect.passes.canonicalization.operands import answer_uniform, common_value
from ge_dialect.passes.repeats.blocks import Blocks
from ge_dialect.passes.repeats.find import Run
from ge_dialect.passes.repeats.names import Names
from ge_dialect.repeats import Place


@dataclass
class Shortened:
    """A function with the first and the last block of a run.

    Attributes:
        function: Becomes the whole one in the end.
        blocks: Those of the whole one.
        names: Of its nodes.
        module: Holds the short function.
        returned: For each result of the whole function: which one of the short function it is, or
            is like, and the block that it is of; the first and the last stand for what is before
            the run and behind it.
        arguments: The parameters that are arguments, by index.
        sealed: The parameters that are weights, by what stands for them.
        opened: Filled where a pass looked into one.
        answers: By parameter, what `answer` found.
        commons: By parameter, what weight all blocks have there, None where they differ; of those
            that somebody asked for.
    """

    function: FuncOp
    blocks: Blocks
    names: Names
    module: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    returned: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    arguments: dict[int, Place] = field(default_factory=dict[int, Place])
    sealed: dict[WeightAttr, Place] = field(default_factory=dict[WeightAttr, Place])
    opened: list[str] = field(default_factory=list[str])
    answers: dict[int, float | int | bool | None] = field(
        default_factory=dict[int, float | int | bool | None]
    )
    commons: dict[int, Attribute | None] = field(default_factory=dict[int, Attribute | None])

    def answer(self, slot: int) -> float | int | bool | None:
        """Returns what every element of a parameter is in all blocks; None where they differ."""
        if slot not in self.answers:
            self.answers[slot] = common_value(self.blocks.alternatives(slot))
        return self.answers[slot]

    @property
    def block(self) -> Block:
        """The body of the short function."""
        (function,) = self.module.body.block.ops
        assert isinstance(function, FuncOp)
        return function.body.block

    def parameter(self, value: SSAValue) -> Place | None:
        """Returns which parameter of which block a value of the short function is, or None."""
        if isinstance(value, BlockArgument):
            return self.arguments.get(value.index)
        attr = constant_attr(value)
        return self.sealed.get(attr) if isinstance(attr, WeightAttr) else None

    def note_sealed(self, attr: WeightAttr, value: SSAValue, place: Place) -> None:
        """Notes what stands for a weight, which answers what all blocks would.

        Args:
            attr: What stands for it.
            value: Has its type.
            place: Which parameter it is.
        """
        answer_uniform(attr, value.type, self.answer(place[1]))
        seal(attr, lambda: self._common(place[1]))
        self.sealed.setdefault(attr, place)

    def _common(self, slot: int) -> Attribute | None:
        """Returns what a weight is in all blocks; None where they differ."""
        if slot not in self.commons:
            self.commons[slot] = self._compared(slot)
        return self.commons[slot]

    def _compared(self, slot: int) -> Attribute | None:
        found = [value and _attr(value) for value in self.blocks.alternatives(slot)]
        weights = [attr for attr in found if attr is not None]
        if len(weights) < len(found):
            return None
        first = weights[0].data.weight.view()
        return weights[0] if all(one.data.weight.view() == first for one in weights) else None


def can_shorten(run: Run) -> bool:
    """Whether blocks that are left out are read only by the next block and the return, and
    parameters by ops of the run."""
    for value in run.parameters:
        if any(use.operation not in run.places for use in value.uses):
            return False
    for number in run.skipped:
        for op in run.blocks[number]:
            for use in (use for result in op.results for use in result.uses):
                place = run.places.get(use.operation)
                inside = place is not None and 0 <= place[0] - number <= 1
                if not inside and not isinstance(use.operation, ReturnOp):
                    return False
    return True


def shorten(module: ModuleOp, function: FuncOp, run: Run) -> Shortened | None:
    """Returns a short copy of a function, or None where two blocks share a weight of their own, or
    one of them alone is returned."""
    old = function.body.block
    outside = [op for op in old.ops if op not in run.places]
    names = Names.of(run, dict(enumerate(run.blocks)), outside)
    short = Shortened(function, run, names)
    short.arguments = {
        value.index: place
        for value, place in run.parameters.items()
        if isinstance(value, BlockArgument)
    }
    if not _note_returned(operands_of(_last(old)), run, short):
        return None
    new = Block(arg_types=[argument.type for argument in old.args])
    values: dict[SSAValue, SSAValue] = dict(zip(old.args, new.args, strict=True))
    for mine, theirs in zip(old.args, new.args, strict=True):
        theirs.name_hint, theirs.location = mine.name_hint, mine.location
    for op in old.ops:
        place = run.places.get(op)
        if place is not None and place[0] in run.skipped:
            if place[0] == run.skipped[-1]:  # the next block reads the first one instead
                like = run.blocks[0][place[1]].results
                values |= {a: values[b] for a, b in zip(op.results, like, strict=True)}
        elif _is_read(op, run):
            new.add_op(_copy(op, values, run, short))
    weights = [
        value
        for value, (number, _) in run.parameters.items()
        if number not in run.skipped and _attr(value) is not None
    ]
    if len(short.sealed) != len(weights):
        return None
    short.module = ModuleOp([_function(function, new)], dict(module.attributes))
    return short


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _skipped(value: SSAValue, run: Run) -> Place | None:
    """Returns which op of a block that is left out makes a value, or None."""
    place = run.places.get(value.owner) if isinstance(value, OpResult) else None
    return place if place is not None and place[0] in run.skipped else None


def _note_returned(values: Sequence[SSAValue], run: Run, short: Shortened) -> bool:
    """Notes where the results of the whole function come from; False where one is like none."""
    kept = [value for value in values if _skipped(value, run) is None]
    indices = {value: index for index, value in enumerate(kept)}
    before = set(takewhile(lambda op: op not in run.places, short.function.body.block.ops))
    for value in values:
        if (place := _skipped(value, run)) is None:
            if isinstance(owner := value.owner, Block) or owner in before:
                number = 0
            else:
                number, _ = run.places.get(owner, (run.count - 1, 0))
            short.returned.append((indices[value], number))
            continue
        assert isinstance(value, OpResult)
        if (like := indices.get(run.blocks[0][place[1]].results[value.index])) is None:
            return False
        short.returned.append((like, place[0]))
    return True


def _function(like: FuncOp, block: Block) -> FuncOp:
    types = FunctionType.from_lists(
        [argument.type for argument in block.args],
        [value.type for value in operands_of(_last(block))],
    )
    made = FuncOp(like.sym_name.data, types, Region(block))
    made.attributes = dict(like.attributes)
    return made


def _attr(value: SSAValue) -> WeightAttr | None:
    attr = constant_attr(value)
    return attr if isinstance(attr, WeightAttr) else None


def _is_read(op: Operation, run: Run) -> bool:
    """Whether a constant is read by what stays; everything else in the function is."""
    if not isinstance(op, ConstantOp):
        return True
    places = [run.places.get(use.operation) for use in op.result.uses]
    return not places or any(place is None or place[0] not in run.skipped for place in places)


def _copy(op: Operation, values: dict[SSAValue, SSAValue], run: Run, short: Shortened) -> Operation:
    if isinstance(op, ReturnOp):
        kept = [values[value] for value in operands_of(op) if _skipped(value, run) is None]
        returned = ReturnOp(*kept)
        returned.location = op.location
        return returned
    copied = op.clone(values)
    copied.location = short.names.location(op)
    place = run.parameters.get(op.result) if isinstance(op, ConstantOp) else None
    if place is not None and (attr := _attr(op.results[0])) is not None:
        copied.properties["value"] = sealed = stand_in(attr, short.opened)
        short.note_sealed(sealed, op.results[0], place)
    return copied
