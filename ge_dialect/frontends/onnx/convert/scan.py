"""`Scan`: a loop over the slices of its scan inputs, whose results are stacked along any axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import onnx
from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.frontends.onnx.convert.loops import LoopLimits, emit_loop
from ge_dialect.frontends.onnx.convert.node import Node
from ge_dialect.ge.types import MaybeDim, normalize_axis, value_shape

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.importer import Importer, Scope

_VERSION = 13
"""Of the operator set in which the operators here are written."""
_WHERE_VERSION = 16
_BATCHED_VERSION = 8
"""Of `Scan` with a dimension of the batch and lengths of its sequences."""
_LAST = -(2**63)
"""Where a slice with a negative step ends that takes the first element as well."""

Results = tuple[Sequence[SSAValue], Sequence[SSAValue]]
"""The states after a loop, and what its iterations gave."""


def convert_scan(
    importer: Importer, node: Node, body: onnx.GraphProto, scope: Scope
) -> Sequence[SSAValue]:
    """Returns the values of a `Scan`.

    Raises:
        GEError: The body does not fit the operands, or an axis is none of theirs (GE0221).
    """
    return _Scan.of(importer, node, body, scope).convert()


@dataclass(frozen=True)
class _Scan:
    """One `Scan` with its operands by kind.

    Attributes:
        importer: Adds the ops.
        node: The node.
        run: Adds the body; takes states and slices, returns states and what is stacked.
        lengths: Of each sequence of the batch; with a batch only.
        states: Their values before the first iteration.
        inputs: What is scanned.
    """

    importer: Importer
    node: Node
    run: Callable[[Sequence[SSAValue]], Sequence[SSAValue]]
    lengths: SSAValue | None
    states: Sequence[SSAValue]
    inputs: Sequence[SSAValue]

    @staticmethod
    def of(importer: Importer, node: Node, body: onnx.GraphProto, scope: Scope) -> _Scan:
        batched = node.version <= _BATCHED_VERSION
        values = [node[slot] for slot in range(int(batched), len(node.operands))]
        count = node.get_int("num_scan_inputs")
        if not 0 < count <= len(values):
            node.fail(f"expected 'num_scan_inputs' in [1, {len(values)}], got {count}")
        states = len(values) - count
        outputs = len(node.used)
        if len(body.input) != len(values) or len(body.output) != outputs or outputs < states:
            shown = f"{len(values)} inputs and {outputs} outputs, {states} or more"
            node.fail(f"expected a body of {shown}")
        run = partial(importer.inline, body, scope)
        lengths = node.optional(0) if batched else None
        return _Scan(importer, node, run, lengths, values[:states], values[states:])

    def convert(self) -> Sequence[SSAValue]:
        if self.node.version <= _BATCHED_VERSION:
            return self._batch()
        axes = self._ints("scan_input_axes", len(self.inputs), range(-64, 64))
        reverse = self._ints("scan_input_directions", len(self.inputs), range(2))
        states, stacked = self._loop(self.states, self.inputs, axes, reverse, None)
        axes = self._ints("scan_output_axes", len(stacked), range(-64, 64))
        reverse = self._ints("scan_output_directions", len(stacked), range(2))
        arranged = map(self._arranged, stacked, axes, reverse)
        return [*states, *arranged]

    def _ints(self, name: str, count: int, allowed: range) -> Sequence[int]:
        """Returns an attribute of one number an input or an output, 0 by default."""
        found = self.node.get_ints(name)
        if found is None:
            return (0,) * count
        if len(found) != count or any(number not in allowed for number in found):
            limits = f"[{allowed.start}, {allowed.stop})"
            self.node.fail(f"expected '{name}' of {count} numbers in {limits}, got {list(found)}")
        return found

    def _apply(self, op_type: str, *operands: SSAValue, **attributes: int | list[int]) -> SSAValue:
        version = _WHERE_VERSION if op_type == "Where" else _VERSION
        return self.importer.apply(self.node, op_type, version, operands, **attributes)

    def _length(self, value: SSAValue, axis: int) -> tuple[SSAValue, MaybeDim]:
        """Returns the length of a value along an axis, as a scalar and as a dimension."""
        builder = self.node.builder
        dim: MaybeDim = None
        if isinstance(value.type, TensorType):
            dim = value_shape(value)[self._axis(axis, len(value_shape(value)))]
        if isinstance(dim, int):
            return builder.ints(dim), dim
        return self._apply("Gather", self._apply("Shape", value), builder.ints(axis)), dim

    def _axis(self, axis: int, rank: int) -> int:
        try:
            return normalize_axis(axis, rank)
        except VerifyException as error:
            self.node.fail(str(error))

    def _loop(
        self,
        states: Sequence[SSAValue],
        inputs: Sequence[SSAValue],
        axes: Sequence[int],
        reverse: Sequence[int],
        length: SSAValue | None,
    ) -> Results:
        """Adds the loop over all slices; from iteration `length` on, states stay as they are."""
        builder = self.node.builder
        found = [self._length(value, axis) for value, axis in zip(inputs, axes, strict=True)]
        numbers = dict.fromkeys(dim for _, dim in found if isinstance(dim, int))
        if len(numbers) > 1:
            self.node.fail(f"expected scan inputs of one length, got {list(numbers)}")
        trip_count, trips = next((one for one in found if isinstance(one[1], int)), found[0])
        minus_one = builder.ints(-1)
        last = None
        if any(reverse):
            last = self._apply("Add", trip_count if length is None else length, minus_one)

        def body(args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            step, go_on, *before = args
            backward = step if last is None else self._apply("Sub", last, step)
            slices = [
                self._apply("Gather", value, backward if turned else step, axis=axis)
                for value, axis, turned in zip(inputs, axes, reverse, strict=True)
            ]
            after = list(self.run([*before, *slices]))
            if length is not None:
                within = self._apply("Less", step, length)
                for index, old in enumerate(before):
                    after[index] = self._apply("Where", within, after[index], old)
            return [go_on, *after]

        limits = LoopLimits(trip_count, builder.number(1, i1), trips)
        results = emit_loop(self.importer, self.node, limits, states, body, one_shape=True)
        return results[: len(states)], results[len(states) :]

    def _arranged(self, value: SSAValue, axis: int, reverse: int) -> SSAValue:
        """Returns stacked slices with the iterations along `axis`, the last one first if asked."""
        builder = self.node.builder
        if reverse:
            places = [builder.ints([number]) for number in (-1, _LAST, 0, -1)]
            value = self._apply("Slice", value, *places)
        if axis == 0:
            return value
        if not isinstance(value.type, TensorType):
            self.node.fail(f"expected an output of known rank for axis {axis}, got {value.type}")
        rank = len(value_shape(value))
        axis = self._axis(axis, rank)
        perm = list(range(1, rank))
        perm.insert(axis, 0)
        return self._apply("Transpose", value, perm=perm)

    def _batch(self) -> Sequence[SSAValue]:
        """Adds a loop over the batch, dimension 0, around that over the sequence, dimension 1.

        Of a sequence that is shorter than the longest one, what is stacked behind its end is
        undefined in ONNX; here these iterations run as well, on values of the padding.
        """
        builder = self.node.builder
        values = [*self.states, *self.inputs]
        count, batch = self._length(self.inputs[0], 0)
        reverse = self._ints("directions", len(self.inputs), range(2))

        def body(args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            member, go_on = args
            own = [self._apply("Gather", value, member, axis=0) for value in values]
            states, inputs = own[: len(self.states)], own[len(self.states) :]
            length = None
            if self.lengths is not None:
                length = self._apply("Gather", self.lengths, member, axis=0)
            after, stacked = self._loop(states, inputs, (0,) * len(inputs), reverse, length)
            return [go_on, *after, *stacked]

        limits = LoopLimits(count, builder.number(1, i1), batch)
        return emit_loop(self.importer, self.node, limits, (), body)
