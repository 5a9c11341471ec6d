"""What a graph computes of its sizes alone: a weight of each gear, and no part of the graph.

Positions, masks and the pieces of tables that they choose read no input. At one set of sizes they
are constants, of which kernels are made otherwise than of what a run computes. So the graph of all
gears takes them for further inputs, and the plan of each gear has weights in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.indexing import ShapeOp, SizeOp
from ge_dialect.ge.sealed import SealedWeight
from ge_dialect.ge.structure import HostCallOp, YieldOp
from ge_dialect.ge.symbolic import bind_values, bound_type, symbol_ranges
from ge_dialect.ge.types import byte_size, is_tensor, shape_of, static_shape
from ge_dialect.lowering.constant_rules import Readers
from ge_dialect.passes.constant_fold import ConstantFoldPass
from ge_dialect.passes.repeats.shorten import Shortened
from ge_dialect.symbols import symbols_of

PREFIX = "ge.gear_constant."
"""What the names of these inputs begin with."""


@dataclass
class GearConstants:
    """Values that follow from the sizes of a gear.

    Attributes:
        function: Computes them, in order; of its arguments only the types are read.
        names: Of the inputs that stand for them.
        read: Those of them that the graph reads at the smallest sizes.
        readers: The ops that read these, and what `large` gives.
        large: Computes those that are constants of the smallest sizes, but too large at others.
        apart: The bytes of each op that computes such values, at the smallest sizes.
        left: Whether some stay in the graph for another reason.
    """

    function: FuncOp
    names: list[str]
    read: list[str]
    readers: Readers
    large: FuncOp
    apart: list[int]
    left: bool

    def at(self, sizes: Mapping[str, int]) -> dict[str, Any] | None:
        """Returns the arrays of a gear by the names of their inputs; None where one has none."""
        found = _evaluated(self.function, sizes)
        return None if found is None else dict(zip(self.names, found, strict=True))

    def are_looked_into(
        self, arrays: Mapping[str, Any], sizes: Mapping[str, int], fast_math: tuple[str, ...]
    ) -> bool:
        """Whether rules make something else of the graph where the values are constants, at the
        smallest sizes."""
        large = _evaluated(self.large, sizes)
        if large is None:
            return True
        known = [*(arrays[name] for name in self.read), *large]
        return bool(known) and self.readers.differ(known, sizes, fast_math)


def _evaluated(function: FuncOp, sizes: Mapping[str, int]) -> list[Any] | None:
    """Returns the arrays that a function computes of the types of its arguments; None where it
    gives none, or others than its types say."""
    import numpy as np

    from ge_dialect.ge.dtypes import to_numpy
    from ge_dialect.interpreters.compiled import compile_block

    if not function.function_type.outputs.data:
        return []
    bound = function.clone()
    bind_values(bound, sizes)
    block = bound.body.block
    last, run = block.last_op, compile_block(block)
    if last is None or run is None:
        return None
    given: list[Any] = []
    for argument in block.args:
        assert is_tensor(argument.type)
        if (shape := static_shape(argument.type)) is None:
            return None
        dtype = to_numpy(argument.type.element_type)
        given.append(np.broadcast_to(np.zeros((), dtype), shape))  # only its shape is read
    try:
        found = [np.ascontiguousarray(array) for array in run(tuple(given))]
    except Exception:  # whatever the arithmetic of an op may raise: it is left for the run
        return None
    wanted = [static_shape(value.type) for value in last.operands]
    return found if [array.shape for array in found] == wanted else None


def take_constants(function: FuncOp, short: Shortened | None) -> GearConstants:
    """Takes what follows from sizes alone out of a function, which gets an input for each value.

    Args:
        function: Of which all types are known; changed.
        short: Its short form, which is changed instead; the function gets the inputs as well.
    """
    block = function.body.block if short is None else short.block
    taken = _Taken(function, short)
    for op in block.ops:
        taken.look(op)
    wanted = [value for op in taken.ops for value in op.results if taken.is_wanted(value)]
    large = [value for op in taken.large for value in op.results if taken.is_wanted(value, True)]
    names = [f"{PREFIX}{number}" for number in range(len(wanted))]
    read = {name: v for name, v in zip(names, wanted, strict=True) if taken.is_wanted(v, True)}
    constants = GearConstants(
        _computing(taken.ops, wanted),
        names,
        list(read),
        Readers.of([*read.values(), *large], taken.large),
        _computing(taken.ops | taken.large, large),
        [taken.bytes_at(taken.least, op.results) for op in taken.large],
        taken.left,
    )
    for value in wanted:
        place = block.insert_arg(value.type, len(block.args))
        place.name_hint = value.name_hint
        value.replace_all_uses_with(place)
    for op in reversed(taken.ops):
        if all(result.first_use is None for result in op.results):
            op.detach()
            op.erase()
    functions = [function]
    if short is not None:
        functions += [op for op in short.module.body.block.ops if isinstance(op, FuncOp)]
        for value in wanted:
            function.body.block.insert_arg(value.type, len(function.body.block.args))
    for one in functions:
        _name_inputs(one, names)
    return constants


def _name_inputs(function: FuncOp, names: list[str]) -> None:
    function.update_function_type()
    count = len(function.body.block.args) - len(names)
    attrs = list(function.arg_attrs or [DictionaryAttr({})] * count)
    attrs += [DictionaryAttr({"ge.name": StringAttr(name)}) for name in names]
    function.arg_attrs = ArrayAttr(attrs)


@dataclass
class _Taken:
    """The ops of a function that read no input.

    Attributes:
        function: All of it.
        short: Its short form, where there is one.
        ops: In order, those that are constants at all sizes.
        large: Those that are so at the smallest sizes.
        left: Whether some stay for another reason than their size.
    """

    function: FuncOp
    short: Shortened | None
    left: bool = False
    ops: dict[Operation, None] = field(default_factory=dict[Operation, None])
    large: dict[Operation, None] = field(default_factory=dict[Operation, None])

    def __post_init__(self) -> None:
        ranges = symbol_ranges(self.function)
        self.greatest = {
            name: known.last for name, known in ranges.items() if known.last is not None
        }
        self.least = {name: ranges[name].first for name in self.greatest}
        self.policy = ConstantFoldPass()

    def look(self, op: Operation) -> None:
        """Adds an op that follows from sizes alone, within the budget of `ge-constant-fold`."""
        if (
            isinstance(op, GEOp)
            and not isinstance(op, ConstantOp | HostCallOp | YieldOp)
            and not op.regions
            and is_side_effect_free(op)
            and self._follows(op)
            and all(self._is_sized(value) for value in (*op.operands, *op.results))
        ):
            if self._is_returned(op) or not self._is_one(op):
                self.left = True
            elif self._fits(op, self.greatest) and not self._reads_large(op):
                self.ops[op] = None
            elif self._fits(op, self.least):
                self.large[op] = None

    def is_wanted(self, value: SSAValue, least: bool = False) -> bool:
        """Whether a value is read by what stays; what stays at the smallest sizes, if `least`."""
        return any(
            use.operation not in self.ops and not (least and use.operation in self.large)
            for use in value.uses
        )

    def bytes_at(self, sizes: Mapping[str, int], values: Sequence[SSAValue]) -> int:
        """Returns the bytes of values at some sizes."""
        return sum(byte_size(bound_type(value.type, sizes)) or 0 for value in values)

    def _follows(self, op: GEOp) -> bool:
        if isinstance(op, ShapeOp | SizeOp):
            return True
        computed = [v for v in operands_of(op) if not isinstance(v.owner, ConstantOp)]
        if not computed and all(static_shape(result.type) is not None for result in op.results):
            return False  # a constant that was too large to be one
        return all(v.owner in self.ops or v.owner in self.large for v in computed) and not any(
            _is_sealed(value.owner) for value in op.operands
        )

    def _is_returned(self, op: Operation) -> bool:
        return any(isinstance(use.operation, ReturnOp) for r in op.results for use in r.uses)

    def _is_one(self, op: Operation) -> bool:
        """Whether an op is not in a block that stands for others."""
        return self.short is None or not any(self.short.names.blocks_of(op))

    def _is_sized(self, value: SSAValue) -> bool:
        return is_tensor(value.type) and all(
            dim is not None and all(name in self.greatest for name in symbols_of(dim))
            for dim in shape_of(value.type)
        )

    def _fits(self, op: GEOp, sizes: Mapping[str, int]) -> bool:
        size = self.bytes_at(sizes, op.results)
        read = 0 if isinstance(op, ShapeOp | SizeOp) else self.bytes_at(sizes, op.operands)
        return size <= self.policy.max_bytes and size - read <= self.policy.max_growth

    def _reads_large(self, op: GEOp) -> bool:
        return any(operand.owner in self.large for operand in operands_of(op))


def _is_sealed(owner: Operation | Block) -> bool:
    if not isinstance(owner, ConstantOp) or not isinstance(owner.value, WeightAttr):
        return False
    return isinstance(owner.value.data.weight, SealedWeight)


def _computing(ops: Iterable[Operation], wanted: Sequence[SSAValue]) -> FuncOp:
    """Returns a function that computes values, with copies of ops."""
    block = Block()
    values: dict[SSAValue, SSAValue] = {}
    for op in ops:
        for operand in op.operands:
            if operand in values:
                continue
            if isinstance(operand.owner, ConstantOp):
                copy = operand.owner.clone()
                block.add_op(copy)
                values[operand] = copy.result
            else:  # what has a shape
                values[operand] = block.insert_arg(operand.type, len(block.args))
        copied = op.clone(values)
        block.add_op(copied)
        values |= dict(zip(op.results, copied.results, strict=True))
    block.add_op(YieldOp(*(values[value] for value in wanted)))
    types = [argument.type for argument in block.args]
    return FuncOp("constants", (types, [value.type for value in wanted]), Region(block))
