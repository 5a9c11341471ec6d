"""Patterns that take the place of a `ge.loop` whose number of iterations is known and small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ge_dialect import remarks
from ge_dialect.ge.constants import (
    ConstantOp,
    array_constant,
    constant_scalar,
    int_constant,
)
from ge_dialect.ge.dtypes import is_bool, is_string
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.structure import IfOp, LoopOp, YieldOp, region_of, yield_of
from ge_dialect.ge.types import (
    compatible,
    is_tensor,
    num_elements,
    shape_of,
    tensor_type,
    value_shape,
)
from ge_dialect.passes.control_flow.common import (
    NAME,
    known_truth,
    replaceable,
    trips_of,
    truth_constant,
)
from ge_dialect.passes.driver import Rewrite

INDEX = tensor_type(i64, ())
TRUTH = tensor_type(i1, ())


class SkipLoop(Rewrite):
    """`loop` that never runs -> its initial values, and scan results of no iterations."""

    roots = (LoopOp,)
    benefit = 5

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, LoopOp)
        if trips_of(op).most != 0:
            return
        scans = [_empty_scan(result) for result in op.results[len(op.carried) :]]
        constants = [scan for scan in scans if scan is not None]
        values = [*op.carried, *(constant.result for constant in constants)]
        if len(constants) != len(scans) or not _all_replaceable(op, [v.type for v in values]):
            text = "a result can not become its initial value: their types differ"
            remarks.missed(NAME, type(self).__name__, op, text, reason=remarks.ReasonClass.SHAPE)
            return
        remarks.passed(NAME, type(self).__name__, op, "it never runs")
        rewriter.replace(op, constants, values)


def _empty_scan(result: SSAValue) -> ConstantOp | None:
    """Returns the scan result of no iterations; None where the size of its slices is not known."""
    import numpy as np

    from ge_dialect.ge.dtypes import to_numpy

    type_ = result.type
    if not is_tensor(type_) or is_string(type_.element_type):
        return None
    slice_shape = [dim for dim in shape_of(type_)[1:] if isinstance(dim, int)]
    if len(slice_shape) != len(shape_of(type_)) - 1:
        return None
    return array_constant(np.zeros((0, *slice_shape), to_numpy(type_.element_type)))


def _all_replaceable(loop: LoopOp, types: Sequence[Attribute]) -> bool:
    return all(map(replaceable, loop.results, types))


class LoopToIf(Rewrite):
    """`loop` of at most one iteration -> `if`, where the count is known and it has no scan results.

    At most one: the count is 1, or the body yields false as its condition.
    """

    roots = (LoopOp,)
    benefit = 1

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, LoopOp)
        count = constant_scalar(op.trip_count)
        if trips_of(op) != (0, 1) or count is None or count < 1 or not _fits_if(op):
            return
        remarks.passed(NAME, type(self).__name__, op, "it runs at most once")
        block, last = op.body.block, yield_of(op.body)
        constants = [int_constant(0), truth_constant(TRUTH, truth=True)]
        rewriter.insert(constants, InsertPoint.before(op))
        values = [*(constant.result for constant in constants), *op.carried]
        for argument, value in zip(block.args, values, strict=True):
            rewriter.replace_all_uses_with(argument, value)
        for argument in reversed(block.args):
            rewriter.erase_block_argument(argument)
        rewriter.replace(last, YieldOp(*last.arguments[1:]))
        body = rewriter.move_region_contents_to_new_regions(op.body)
        otherwise = region_of((), list(op.carried))
        rewriter.replace(op, IfOp(op.condition, list(op.result_types), body, otherwise))


def _fits_if(loop: LoopOp) -> bool:
    """Whether the types of a loop without scan results permit an `if` in its place."""
    condition = loop.condition.type
    return (
        len(loop.carried) == len(loop.results)
        and is_tensor(condition)
        and is_bool(condition.element_type)
        and num_elements(condition) in (1, None)
        and all(
            replaceable(argument, type_) or argument.first_use is None
            for argument, type_ in zip(loop.body.block.args, _first_types(loop), strict=True)
        )
        and all(
            compatible(result.type, value.type)
            for values in (loop.carried, yield_of(loop.body).arguments[1:])
            for result, value in zip(loop.results, values, strict=True)
        )
    )


def _first_types(loop: LoopOp) -> list[Attribute]:
    """Returns the types of what the body is given in the first iteration."""
    return [INDEX, TRUTH, *(value.type for value in loop.carried)]


@dataclass
class UnrollLoop(Rewrite):
    """`loop` of a known number of iterations -> its body, so often.

    Applies where the body does not decide on the number: always to one iteration, to more within
    both limits.

    Attributes:
        max_trips: At most so many iterations.
        max_ops: At most so many ops after unrolling, constants not counted.
    """

    max_trips: int
    max_ops: int

    roots = (LoopOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, LoopOp)
        trips = trips_of(op).exact
        refusal = self._too_much(op, trips) if trips else _unknown(op)
        if refusal is None and trips and (text := _type_refusal(op, trips)) is not None:
            refusal = (text, remarks.ReasonClass.SHAPE)
        if not trips or refusal is not None:
            text, reason = refusal or ("it never runs", remarks.ReasonClass.SHAPE)
            remarks.missed(NAME, type(self).__name__, op, text, reason=reason)
            return
        many = "1 iteration" if trips == 1 else f"{trips} iterations"
        remarks.passed(NAME, type(self).__name__, op, f"unrolled: {many}")
        rewriter.replace(op, (), _unroll(op, trips, rewriter))

    def _too_much(self, loop: LoopOp, trips: int) -> tuple[str, remarks.ReasonClass] | None:
        if trips == 1:
            return None
        if trips > self.max_trips:
            return f"{trips} iterations, at most {self.max_trips}", remarks.ReasonClass.COST
        ops = sum(not isinstance(op, ConstantOp | YieldOp) for op in loop.body.walk())
        if ops * trips > self.max_ops:
            text = f"{ops * trips} ops after unrolling, at most {self.max_ops}"
            return text, remarks.ReasonClass.COST
        return None


def _unknown(loop: LoopOp) -> tuple[str, remarks.ReasonClass] | None:
    """Says why the number of iterations is not known; None where it is known to be 0."""
    if trips_of(loop).most == 0:
        return None
    if constant_scalar(loop.trip_count) is None:
        return "trip count is not constant", remarks.ReasonClass.CONST
    if known_truth(loop.condition) is None:
        return "condition is not constant", remarks.ReasonClass.CONST
    return "the body may stop the loop", remarks.ReasonClass.CONST


def _type_refusal(loop: LoopOp, trips: int) -> str | None:
    """Says which types stand in the way of unrolling, or None where none does."""
    block, carried = loop.body.block, len(loop.carried)
    given = _first_types(loop)
    slices: list[list[Attribute]] = []
    for _ in range(trips):
        for argument, type_ in zip(block.args, given, strict=True):
            if argument.first_use is not None and not replaceable(argument, type_):
                return f"the body takes {argument.type}, which can not become {type_}"
        yielded = [_type_in(value, block.args, given) for value in yield_of(loop.body).arguments]
        given = [INDEX, TRUTH, *yielded[1 : 1 + carried]]
        slices.append(yielded[1 + carried :])
    stacks = [_stacked_type(types, trips) for types in zip(*slices, strict=True)]
    for result, type_ in zip(loop.results, [*given[2:], *stacks], strict=True):
        if type_ is None:
            return "the size of a scan result's slices is not known"
        if not replaceable(result, type_):
            return f"a result of type {result.type} can not become one of {type_}"
    return None


def _type_in(
    value: SSAValue, arguments: Sequence[BlockArgument], given: Sequence[Attribute]
) -> Attribute:
    """Returns the type of a yielded value in an iteration whose arguments have types `given`."""
    if isinstance(value, BlockArgument) and value in arguments:
        return given[value.index]
    return value.type


def _stacked_type(types: Sequence[Attribute], trips: int) -> Attribute | None:
    first = types[0]
    if not is_tensor(first) or any(type_ != first for type_ in types):
        return None
    shape = shape_of(first)
    return None if None in shape else tensor_type(first.element_type, (trips, *shape))


def _unroll(loop: LoopOp, trips: int, rewriter: PatternRewriter) -> list[SSAValue]:
    """Puts the body before the loop, `trips` times; returns the loop's results."""
    block, last = loop.body.block, yield_of(loop.body)
    point, carried = InsertPoint.before(loop), len(loop.carried)
    values: list[SSAValue] = list(loop.carried)
    slices: list[list[SSAValue]] = []
    for iteration in range(trips):
        start = [int_constant(iteration), truth_constant(TRUTH, truth=True)]
        rewriter.insert(start, point)
        given = [*(constant.result for constant in start), *values]
        mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, given, strict=True))
        for op in block.ops:
            if op is not last:
                rewriter.insert(op.clone(mapping), point)
        yielded = [mapping.get(value, value) for value in last.arguments]
        values = yielded[1 : 1 + carried]
        slices.append(yielded[1 + carried :])
    return [*values, *(_stack(parts, rewriter, point) for parts in zip(*slices, strict=True))]


def _stack(parts: Sequence[SSAValue], rewriter: PatternRewriter, point: InsertPoint) -> SSAValue:
    """Returns the slices along a new dimension 0."""
    ops: list[IRDLOperation] = [ReshapeOp(part, (1, *value_shape(part))) for part in parts]
    rewriter.insert(ops, point)
    rows = [op.results[0] for op in ops]
    return rows[0] if len(rows) == 1 else rewriter.insert(ConcatOp(rows, 0), point).result
