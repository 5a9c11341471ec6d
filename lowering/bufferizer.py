"""One function on its way to a plan: a place for every value, a task for every op."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import operands_of, ops_of
from ge_dialect.ge.attributes import NamedWeight, StringsAttr, WeightAttr
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp, array_of
from ge_dialect.ge.structure import IfOp, LoopOp, YieldOp
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge_exec import (
    BufferOp,
    CopyOp,
    InputOp,
    LaunchOp,
    ObjectOp,
    ObjectType,
    OutputOp,
    PlanOp,
    StreamOp,
    SymbolOp,
    ViewOp,
    WeightOp,
)
from ge_dialect.ge_exec.memory import (
    BufferType,
    Storage,
    StorageType,
    base_of,
    buffer_bytes,
    buffer_type,
)
from ge_dialect.locations import location_name, op_name
from ge_dialect.lowering.data_sizes import DataSizes
from ge_dialect.lowering.kernels import KernelTable, block_of
from ge_dialect.lowering.schedule.labels import Labels
from ge_dialect.lowering.zero_copy import find_parts, lower_parts, lower_views, place_in_whole
from ge_dialect.passes.zero_copy.marks import views_of
from ge_dialect.symbols import Dim, SymbolRange

Pairs: TypeAlias = Sequence[tuple[int, int]]
"""Operand and result of an op, by number."""


@dataclass
class Bufferizer:
    """What is known of a function's values while it becomes a plan.

    Attributes:
        buffers: Where each value lies.
        remaining: How many reads of what lies in a buffer or object are still to come; not of
            weights, which nothing takes the place of.
        home: The block whose tasks write a buffer or object first. Elsewhere its bytes may not be
            taken over: a loop comes back to them, and a branch may not run.
        wanted: Where a value should be written if that place is free by then.
        parts: The joined value that a value is written straight into, and where in it.
        joined: Where a joined value lies, before all of it is written.
        pairs: Of each kernel so far the operands and results that may share bytes; ops of one
            kernel have the same.
        ranges: Of the symbols that the inputs give values to.
        sizes: Those that depend on data.
    """

    kernels: KernelTable
    in_place: bool
    in_place_shared: bool
    ranges: Mapping[str, SymbolRange] = field(default_factory=dict[str, SymbolRange])
    sizes: DataSizes = field(default_factory=DataSizes)
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    remaining: dict[Storage, int] = field(default_factory=dict[Storage, int])
    home: dict[Storage, Block] = field(default_factory=dict[Storage, Block])
    wanted: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    parts: dict[SSAValue, tuple[SSAValue, Dim]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, Dim]]
    )
    joined: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    pairs: dict[str, Pairs] = field(default_factory=dict[str, Pairs])
    labels: Labels = field(default_factory=Labels)
    placed: list[Operation] = field(default_factory=list[Operation])
    weights: list[Operation] = field(default_factory=list[Operation])
    tasks: list[Operation] = field(default_factory=list[Operation])
    task_count: int = 0

    def plan(
        self,
        function: FuncOp,
        input_names: Sequence[str],
        output_names: Sequence[str],
        donated: Collection[str] = (),
    ) -> PlanOp:
        """Returns the plan of a function; tasks may write over the inputs that are donated.

        Raises:
            GEError: It holds an op of another dialect (GE0521).
        """
        block = function.body.block
        inputs: list[Operation] = []
        for arg, name in zip(block.args, input_names, strict=True):
            op = InputOp(name, self.storage(arg.type), donated=name in donated)
            self.home[op] = block
            op.result.name_hint = arg.name_hint
            inputs.append(op)
            self.bind(arg, op.result)
        self.lower_block(block)
        outputs = self._outputs(block, output_names)
        stream = StreamOp(0, self.tasks)
        return PlanOp(
            function.sym_name.data, [*inputs, *self.weights, *self.placed, stream, *outputs]
        )

    def lower_block(self, block: Block) -> None:
        """Adds tasks for the ops of a block to the current list."""
        from ge_dialect.lowering.bufferize_control import lower_if, lower_loop

        find_parts(self, block)
        for op in ops_of(block):
            self.sizes.note(op)
            match op:
                case ReturnOp() | YieldOp() | ConstantOp():
                    continue  # a constant is materialised where a task or an output reads it
                case IfOp():
                    lower_if(self, op)
                case LoopOp():
                    lower_loop(self, op)
                case GEOp():
                    self._lower(op, block)
                case _:
                    raise GEError(
                        "GE0521",
                        f"'{op_name(op)}' at {location_name(op) or 'unknown'} has no kernel:"
                        " only ops of ge can be lowered",
                    )

    def _lower(self, op: GEOp, block: Block) -> None:
        if lower_views(self, op) or lower_parts(self, op):
            return
        kernel, operands = self.kernels.kernel_of(op, self.sizes.waits_for(op))
        if (pairs := self.pairs.get(kernel)) is None:
            pairs = self.pairs[kernel] = op.in_place_pairs() if self.in_place else ()
        known = self.buffers
        sources = [known[value] if value in known else self.buffer(value) for value in operands]
        targets: list[SSAValue] = []
        for index, result in enumerate(op.results):
            targets.append(self._target(op, index, result, block, targets, pairs))
        launch = LaunchOp(self.next_id(), kernel, sources, targets)
        launch.location = op.location
        self.labels.carry(op, launch)
        self.tasks.append(launch)
        self.consume(operands_of(op))
        for result, target in zip(op.results, targets, strict=True):
            self.bind(result, target)

    def storage(self, type: Attribute) -> StorageType:
        """Returns how the plan holds values of a type."""
        return self.sizes.storage(type, self.ranges)

    def view(self, source: SSAValue, type_: BufferType, offset: Dim, value: SSAValue):
        """Returns some bytes of a place, as the place of a value."""
        op = ViewOp(source, type_, offset)
        if isinstance(value.owner, Operation):
            op.location = value.owner.location
        op.result.name_hint = value.name_hint
        self.placed.append(op)
        return op.result

    def next_id(self) -> int:
        """Returns the number of the next task."""
        self.task_count += 1
        return self.task_count - 1

    def bind(self, value: SSAValue, buffer: SSAValue) -> None:
        """Says where a value lies; its reads are reads of what lies there."""
        self.buffers[value] = buffer
        for told in self.sizes.tellers.get(value, ()):
            self.placed.append(SymbolOp(told.symbol, buffer, told.axis, told.known))
        base, _ = base_of(buffer)
        self.remaining[base] = self.remaining.get(base, 0) + value.uses.get_length()

    def consume(self, values: Sequence[SSAValue]) -> None:
        """Counts reads off, so that it is seen which bytes are still wanted."""
        buffers = self.buffers
        for value in values:
            if value in buffers and type(buffers[value].owner) is not WeightOp:
                self.remaining[base_of(buffers[value])[0]] -= 1

    def _target(
        self,
        op: GEOp,
        index: int,
        result: SSAValue,
        block: Block,
        taken: Sequence[SSAValue],
        pairs: Pairs,
    ) -> SSAValue:
        """Returns where a result goes; what earlier results of the op have taken is not free.

        Args:
            op: Whose result it is.
            index: Of the result.
            result: Of that index.
            block: That the op is in.
            taken: Where earlier results go.
            pairs: Operands and results of the op that may share bytes.
        """
        if (place := place_in_whole(self, result)) is not None:
            return place
        wanted = self.wanted.get(result)
        if wanted is not None and wanted not in taken and self._is_free(op, index, wanted, pairs):
            return wanted
        for operand, target in pairs:
            if target != index:
                continue
            value = op.operands[operand]
            if self.buffers.get(value) in taken:
                continue
            if self.is_last_read(op, value, block):
                return self.buffers[value]
        return self.new(result.type, op, block, result.name_hint)

    def _is_free(self, op: GEOp, index: int, wanted: SSAValue, pairs: Pairs) -> bool:
        """Whether a result may be written where it is wanted: nobody reads there any more."""
        base, _ = base_of(wanted)
        left = self.remaining.get(base, 0)
        if left == 0 or not self.in_place:
            return left == 0
        sources = [source for source, target in pairs if target == index]
        return left == 1 and any(self.buffers.get(op.operands[i]) is wanted for i in sources)

    def is_last_read(self, op: Operation, value: SSAValue, block: Block) -> bool:
        """Whether nobody but `op` reads the bytes of `value`, now or later."""
        if (buffer := self.buffers.get(value)) is None:
            return False
        if not self.in_place_shared and has_other_readers(value):
            return False
        base, _ = base_of(buffer)
        if base.size != buffer_bytes(buffer.type):
            return False  # the rest of the bytes would live on for the result alone
        if not _is_ours(base) or self.home.get(base) is not block:
            return False
        reads_here = sum([operand is value for operand in operands_of(op)])
        return self.remaining[base] == reads_here == 1

    def grown(self, result: SSAValue, source: Operation, block: Block) -> SSAValue:
        """Returns a place for what regions give; where they tell its size, that is an object."""
        if result in self.sizes.tellers:
            return self._place(ObjectType(result.type), source, block, result.name_hint)
        return self.new(result.type, source, block, result.name_hint)

    def new(
        self, type: Attribute, source: Operation | None, block: Block, name: str | None = None
    ) -> SSAValue:
        """Returns a new buffer, or object, for a value of a type, at home in a block."""
        return self._place(self.storage(type), source, block, name)

    def _place(
        self, found: StorageType, source: Operation | None, block: Block, name: str | None
    ) -> SSAValue:
        op = ObjectOp(found) if isinstance(found, ObjectType) else BufferOp(found)
        if source is not None:
            op.location = source.location
        op.result.name_hint = name
        self.placed.append(op)
        self.home[op] = block
        return op.result

    def buffer(self, value: SSAValue) -> SSAValue:
        """Returns where a value lies; a constant gets its place now."""
        if (buffer := self.buffers.get(value)) is not None:
            return buffer
        constant = value.owner
        assert isinstance(constant, ConstantOp)
        attr = constant.properties["value"]
        if isinstance(attr, StringsAttr):
            return self.launch(constant, self.new(value.type, constant, block_of(constant)))
        if type(attr) is not WeightAttr:
            attr = weight_attr(constant)
        weight = WeightOp(attr, buffer_type(tensor_of(value)))
        (place,) = weight.results
        place.name_hint = value.name_hint
        weight.location = constant.location
        self.weights.append(weight)
        self.buffers[value] = place
        return place

    def launch(self, constant: ConstantOp, target: SSAValue) -> SSAValue:
        """Adds a task that writes a constant to a place of the plan, and returns the place."""
        kernel, _ = self.kernels.kernel_of(constant)
        launch = LaunchOp(self.next_id(), kernel, (), (target,))
        launch.location = constant.location
        self.tasks.append(launch)
        return target

    def move(self, source: SSAValue, target: SSAValue, cause: Operation | None) -> None:
        """Adds a copy, where source and target are not the same."""
        if source is target:
            return
        copy = CopyOp(self.next_id(), source, target)
        if cause is not None:
            copy.location = cause.location
        self.tasks.append(copy)

    @contextmanager
    def inside(self) -> Generator[list[Operation]]:
        """Gives a list that collects the tasks added meanwhile."""
        outer, self.tasks = self.tasks, []
        try:
            yield self.tasks
        finally:
            self.tasks = outer

    def _outputs(self, block: Block, names: Sequence[str]) -> list[Operation]:
        """Binds the outputs; inputs, weights and shared bytes cannot be outputs themselves."""
        outputs: list[Operation] = []
        taken: set[Storage] = set()
        last = block.last_op
        assert isinstance(last, ReturnOp)
        for value, name in zip(last.arguments, names, strict=True):
            buffer = self.buffer(value)
            base, _ = base_of(buffer)
            whole = base.size == buffer_bytes(buffer.type)
            is_ours = _is_ours(base) or isinstance(base, ObjectOp)
            if not is_ours or base in taken or not whole:
                cause = value.owner if isinstance(value.owner, Operation) else None
                target = self.new(value.type, cause, block)
                self.move(buffer, target, cause)
                buffer, base = target, base_of(target)[0]
            taken.add(base)
            outputs.append(OutputOp(name, buffer))
        return outputs


def has_other_readers(value: SSAValue) -> bool:
    """Whether the bytes of a value are read elsewhere, under any form."""
    while value.uses.get_length() == 1:
        owner = value.owner
        views = views_of(owner) if isinstance(owner, Operation) else None
        if views is None:
            return False
        value = views[0]
    return True


def _is_ours(base: Storage) -> bool:
    """Whether tasks may write to bytes, and outputs be there: weights and most inputs are not."""
    return isinstance(base, BufferOp) or (isinstance(base, InputOp) and base.donated is not None)


def weight_attr(constant: ConstantOp) -> WeightAttr:
    """Returns the weight of a constant; a dense attribute becomes one in memory."""
    if isinstance(value := constant.value, WeightAttr):
        return value
    from ge_dialect.weights import MemoryWeight

    weight = MemoryWeight(array_of(value, tensor_of(constant.result)).tobytes())
    name = location_name(constant) or f"constant_{weight.digest[:12]}"
    return WeightAttr(NamedWeight(name, weight))
