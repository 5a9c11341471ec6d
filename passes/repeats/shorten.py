"""A function with most blocks of a run left out, whose weights note who looks into them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import NamedWeight, WeightAttr
from ge_dialect.ge.constants import ConstantOp, seal
from ge_dialect.passes.canonicalization.operands import answer_uniform, common_value
from ge_dialect.passes.repeats.find import Run
from ge_dialect.passes.repeats.names import Names
from ge_dialect.repeats import Place

if TYPE_CHECKING:
    from ge_dialect.weights import WeightSource


@dataclass(frozen=True)
class SealedWeight:
    """A weight that notes when somebody looks into it: what holds of it need not of the others."""

    whole: WeightAttr
    opened: list[str] = field(compare=False)

    @property
    def length(self) -> int:
        """In bytes."""
        return self.whole.data.length

    def view(self) -> memoryview:
        """Returns the bytes, and notes that somebody asked for them."""
        self.opened.append("view")
        return self.whole.data.weight.view()

    def write_to(self, file: IO[bytes]) -> None:
        """Appends the bytes to `file`."""
        self.opened.append("write_to")
        self.whole.data.weight.write_to(file)


@dataclass
class Shortened:
    """A function with the first two and the last two blocks of a run.

    Attributes:
        function: The whole one, unchanged.
        run: Its blocks.
        names: Of its nodes.
        module: Holds the short function.
        sealed: The parameters that are weights, by what stands for them.
        opened: Filled where a pass looked into one.
        answers: By parameter, what `answer` found.
    """

    function: FuncOp
    run: Run
    names: Names
    module: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    sealed: dict[WeightAttr, Place] = field(default_factory=dict[WeightAttr, Place])
    opened: list[str] = field(default_factory=list[str])
    answers: dict[int, float | int | bool | None] = field(
        default_factory=dict[int, float | int | bool | None]
    )

    @cached_property
    def alternatives(self) -> dict[int, list[SSAValue]]:
        """For each parameter what the other blocks have in its place."""
        found: dict[int, list[SSAValue]] = defaultdict(list)
        for value, (_, slot) in self.run.parameters.items():
            found[slot].append(value)
        return found

    def answer(self, slot: int) -> float | int | bool | None:
        """Returns what every element of a parameter is in all blocks; None where they differ."""
        if slot not in self.answers:
            self.answers[slot] = common_value(self.alternatives[slot])
        return self.answers[slot]

    @property
    def block(self) -> Block:
        """The body of the short function."""
        (function,) = self.module.body.block.ops
        assert isinstance(function, FuncOp)
        return function.body.block


def can_shorten(run: Run) -> bool:
    """Whether blocks that are left out are read only by the next block and the return."""
    for number in run.skipped:
        for op in run.blocks[number]:
            for use in (use for result in op.results for use in result.uses):
                place = run.places.get(use.operation)
                inside = place is not None and 0 <= place[0] - number <= 1
                if not inside and not isinstance(use.operation, ReturnOp):
                    return False
    return True


def shorten(module: ModuleOp, function: FuncOp, run: Run) -> Shortened | None:
    """Returns a short copy of a function, or None where two blocks share a weight of their own."""
    short = Shortened(function, run, Names.of(function, run))
    old = function.body.block
    new = Block(arg_types=[argument.type for argument in old.args])
    values: dict[SSAValue, SSAValue] = dict(zip(old.args, new.args, strict=True))
    for mine, theirs in zip(old.args, new.args, strict=True):
        theirs.name_hint, theirs.location = mine.name_hint, mine.location
    for op in old.ops:
        place = run.places.get(op)
        if place is not None and place[0] in run.skipped:
            if place[0] == run.skipped[-1]:  # the next block reads the second one instead
                like = run.blocks[1][place[1]].results
                values |= {a: values[b] for a, b in zip(op.results, like, strict=True)}
        elif _is_read(op, run):
            new.add_op(_copy(op, values, short))
    weights = [
        value
        for value, (number, _) in run.parameters.items()
        if number not in run.skipped and _attr(value) is not None
    ]
    if len(short.sealed) != len(weights):
        return None
    short.module = ModuleOp([_function(function, new)], dict(module.attributes))
    return short


def _function(like: FuncOp, block: Block) -> FuncOp:
    assert block.last_op is not None
    types = FunctionType.from_lists(
        [argument.type for argument in block.args],
        [value.type for value in operands_of(block.last_op)],
    )
    made = FuncOp(like.sym_name.data, types, Region(block))
    made.attributes = dict(like.attributes)
    return made


def _attr(value: SSAValue) -> WeightAttr | None:
    owner = value.owner
    if isinstance(owner, ConstantOp) and isinstance(owner.value, WeightAttr):
        return owner.value
    return None


def _is_read(op: Operation, run: Run) -> bool:
    """Whether a constant is read by what stays; everything else in the function is."""
    if not isinstance(op, ConstantOp):
        return True
    places = [run.places.get(use.operation) for use in op.result.uses]
    return not places or any(place is None or place[0] not in run.skipped for place in places)


def _copy(op: Operation, values: dict[SSAValue, SSAValue], short: Shortened) -> Operation:
    if isinstance(op, ReturnOp):
        skipped = short.run.skipped
        returned = [
            values[value]
            for value in operands_of(op)
            if not isinstance(value, OpResult)
            or short.run.places.get(value.owner, (-1, 0))[0] not in skipped
        ]
        return ReturnOp(*returned)
    copied = op.clone(values)
    copied.location = short.names.location(op)
    place = short.run.parameters.get(op.result) if isinstance(op, ConstantOp) else None
    if place is not None and (attr := _attr(op.results[0])) is not None:
        copied.properties["value"] = _seal(attr, place, op.results[0], short)
    return copied


def _seal(attr: WeightAttr, place: Place, value: SSAValue, short: Shortened) -> WeightAttr:
    sealed = SealedWeight(attr, short.opened)
    stand_in = WeightAttr(NamedWeight(attr.data.name, cast("WeightSource", sealed)))
    answer_uniform(stand_in, value.type, short.answer(place[1]))
    seal(stand_in)
    short.sealed.setdefault(stand_in, place)
    return stand_in
