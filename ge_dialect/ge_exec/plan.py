"""The plan: what a runtime needs to run a model, and its streams."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import (
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.access import ops_of
from ge_dialect.ge.base import FormattedOp, I64Attr, int_attr
from ge_dialect.ge_exec.control import TaskOp, flatten, task_id
from ge_dialect.ge_exec.guards import GuardOp, SymbolOp
from ge_dialect.ge_exec.memory import BufferOp, InputOp, ObjectOp, OutputOp, WeightOp
from ge_dialect.ge_exec.tasks import RecordOp, WaitOp


@irdl_op_definition
class StreamOp(FormattedOp):
    """Tasks in order on one stream.

    Constraints:
    - (C1) Holds only tasks, records and waits.

    Example:
    ```mlir
    ge_exec.stream 0 {
      ge_exec.wait 1 why "RAW: task 3 reads what task 1 wrote"
      ge_exec.record 0
    }
    ```
    """

    name = "ge_exec.stream"

    id = prop_def(I64Attr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$id attr-dict-with-keyword $body"

    def __init__(self, id: int, tasks: Sequence[Operation] = ()):
        super().__init__(properties={"id": int_attr(id)}, regions=[Region(Block(tasks))])

    def verify_(self) -> None:
        for op in self.body.block.ops:  # (C1)
            if not isinstance(op, TaskOp | RecordOp | WaitOp):
                raise VerifyException(f"expected tasks, got '{op.name}'")


_KINDS = "_ge_kinds"
_Op = TypeVar("_Op", bound=Operation)


@irdl_op_definition
class PlanOp(FormattedOp):
    """An execution plan: arenas, what lies in them, and streams of tasks.

    Constraints:
    - (C1) Stream ids are distinct.
    - (C2) Names of inputs and of outputs are distinct.

    Example:
    ```mlir
    ge_exec.plan @main {
      %x = ge_exec.input "x" : memref<4xf32, "hbm">
      %b = ge_exec.buffer : memref<4xf32, "hbm">
      ge_exec.stream 0 {
        ge_exec.copy 0 %x to %b : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
      }
      ge_exec.output "y" %b : memref<4xf32, "hbm">
    }
    ```
    """

    name = "ge_exec.plan"

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    assembly_format = "$sym_name attr-dict-with-keyword $body"

    def __init__(self, sym_name: str, ops: Sequence[Operation] = ()):
        super().__init__(
            properties={"sym_name": StringAttr(sym_name)}, regions=[Region(Block(ops))]
        )

    @contextmanager
    def unchanged(self) -> Generator[None]:
        """While it lasts, which ops the plan has is looked up once: nobody adds or removes one."""
        kinds: dict[type[Operation], list[Operation]] = {}
        for op in ops_of(self.body.block):
            kinds.setdefault(type(op), []).append(op)
        vars(self)[_KINDS] = kinds
        try:
            yield
        finally:
            vars(self).pop(_KINDS, None)

    def of_kind(self, kind: type[_Op]) -> list[_Op]:
        """Returns the ops of a class that are directly in the plan, in order."""
        if (known := vars(self).get(_KINDS)) is not None:
            return [*known.get(kind, ())]
        return [op for op in ops_of(self.body.block) if type(op) is kind]

    @property
    def streams(self) -> Sequence[StreamOp]:
        """The streams, in the order they are written."""
        return self.of_kind(StreamOp)

    @property
    def inputs(self) -> Sequence[InputOp]:
        """The inputs, in the order of the model."""
        return self.of_kind(InputOp)

    @property
    def outputs(self) -> Sequence[OutputOp]:
        """The outputs, in the order of the model."""
        return self.of_kind(OutputOp)

    @property
    def symbols(self) -> Sequence[SymbolOp]:
        """The symbols, in the order in which they become known."""
        return self.of_kind(SymbolOp)

    @property
    def guards(self) -> Sequence[GuardOp]:
        """What has to hold of the symbols."""
        return self.of_kind(GuardOp)

    @property
    def weights(self) -> Sequence[WeightOp]:
        """The weights, in the order of first use."""
        return self.of_kind(WeightOp)

    @property
    def buffers(self) -> Sequence[BufferOp]:
        """The buffers, in the order of first use."""
        return self.of_kind(BufferOp)

    @property
    def objects(self) -> Sequence[ObjectOp]:
        """The objects on the heap, in the order of first use."""
        return self.of_kind(ObjectOp)

    def tasks(self) -> Sequence[TaskOp]:
        """Returns the tasks of all streams, in the order of the plan; a branch or loop is one."""
        return sorted(self._tasks(), key=task_id)

    def all_tasks(self) -> Sequence[TaskOp]:
        """Returns the tasks of all streams in order, each followed by those inside it."""
        return [inner for task in self.tasks() for inner in flatten(task)]

    def _tasks(self) -> Iterator[TaskOp]:
        for stream in self.streams:
            for op in ops_of(stream.body.block):
                if isinstance(op, TaskOp):
                    yield op

    def verify_(self) -> None:
        for what, found in (
            ("stream ids", [stream.id.value.data for stream in self.streams]),  # (C1)
            ("input names", [op.io_name.data for op in self.inputs]),  # (C2)
            ("output names", [op.io_name.data for op in self.outputs]),
        ):
            if len(set(found)) != len(found):
                raise VerifyException(f"expected distinct {what}, got {found}")
