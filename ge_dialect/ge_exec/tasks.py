"""Tasks: what a stream does, in order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    StringAttr,
    SymbolRefAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.access import operands_of, segments_of
from ge_dialect.ge.base import FormattedOp, I64Attr, int_attr
from ge_dialect.ge_exec.kernels import KernelOp
from ge_dialect.ge_exec.storage import (
    AnyStorage,
    ObjectType,
    buffer_bytes,
    buffer_shape,
    exact_bytes,
    is_buffer,
)

if TYPE_CHECKING:
    from ge_dialect.printing import ExactPrinter


@lru_cache
def _segments(inputs: int, outputs: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, [inputs, outputs])


@lru_cache(maxsize=1024)
def _symbol(name: str) -> SymbolRefAttr:
    return SymbolRefAttr(name)


_Known: TypeAlias = tuple[
    Sequence[SSAValue], Attribute, tuple[tuple[SSAValue, ...], tuple[SSAValue, ...]]
]
"""Operands and their segment sizes, and what they mean."""


@irdl_op_definition
class LaunchOp(FormattedOp):
    """Runs a kernel on buffers: reads `inputs`, writes `outputs`.

    `id` is the place in the order of the whole plan. An input that is also an output is updated in
    place.

    Example:
    ```mlir
    ge_exec.launch 3 @Relu_0 ins(%a : memref<4xf32, "hbm">)
      outs(%c : memref<4xf32, "hbm">)
    ```
    """

    name = "ge_exec.launch"

    id = prop_def(I64Attr)
    kernel = prop_def(FlatSymbolRefAttrConstr)
    inputs = var_operand_def(AnyStorage)
    outputs = var_operand_def(AnyStorage)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$id $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)?"
        " (`outs` `(` $outputs^ `:` type($outputs) `)`)? attr-dict"
    )

    def __init__(
        self, id: int, kernel: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ):
        # A plan has one a task: the general constructor of IRDL takes four times as long.
        Operation.__init__(
            self,
            operands=[*inputs, *outputs],
            properties={
                "id": int_attr(id),
                "kernel": _symbol(kernel),
                "operandSegmentSizes": _segments(len(inputs), len(outputs)),
            },
        )

    def accesses(self) -> tuple[tuple[SSAValue, ...], tuple[SSAValue, ...]]:
        """Returns `inputs` and `outputs` at the cost of one look-up: every stage asks."""
        operands, sizes = operands_of(self), self.properties["operandSegmentSizes"]
        fields: Any = self.__dict__
        known: _Known | None = fields.get("_ge_accesses")
        if known is None or known[0] is not operands or known[1] is not sizes:
            values = tuple(operands)  # which is another object as soon as one changes
            _, count = segments_of(sizes)[0]
            known = fields["_ge_accesses"] = operands, sizes, (values[:count], values[count:])
        return known[2]

    def quick_text(self, printer: ExactPrinter) -> str | None:
        if self.attributes:
            return None
        read, written = self.accesses()
        number: Any = self.properties["id"]
        text = f" {number.value.data} {printer.text_of(self.properties['kernel'])}"
        if read:
            text += f" ins({printer.names_of(read)} : {printer.types_of(read)})"
        if written:
            text += f" outs({printer.names_of(written)} : {printer.types_of(written)})"
        return text

    def kernel_op(self) -> KernelOp:
        """Returns the kernel that the task runs.

        Raises:
            VerifyException: There is none of that name.
        """
        found = SymbolTable.lookup_symbol(self, self.kernel)
        if not isinstance(found, KernelOp):
            raise VerifyException(f"expected a kernel named '{self.kernel.string_value()}'")
        return found


@irdl_op_definition
class CopyOp(FormattedOp):
    """Copies a value: the bytes of one buffer to another of the same size, or an object.

    Constraints:
    - (C1) Two buffers have the same number of bytes.

    Example:
    ```mlir
    ge_exec.copy 4 %a to %b : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
    ```
    """

    name = "ge_exec.copy"

    id = prop_def(I64Attr)
    source = operand_def(AnyStorage)
    target = operand_def(AnyStorage)

    assembly_format = "$id $source `to` $target attr-dict `:` type($source) `to` type($target)"

    def __init__(self, id: int, source: SSAValue, target: SSAValue):
        super().__init__(operands=[source, target], properties={"id": int_attr(id)})

    def verify_(self) -> None:
        if any(isinstance(value.type, ObjectType) for value in self.operands):
            return
        source, target = buffer_bytes(self.source.type), buffer_bytes(self.target.type)
        if exact_bytes(self.source.type) != exact_bytes(self.target.type):  # (C1)
            raise VerifyException(f"expected buffers of one size, got {source} and {target} bytes")


@irdl_op_definition
class StoreOp(FormattedOp):
    """Stores a value as slice number `at` of another one, along its dimension 0.

    An object grows by the slice; slice 0 starts it anew.

    Constraints:
    - (C1) A buffer of N slices has N times the bytes of the slice.

    Example:
    ```mlir
    ge_exec.store 4 %a to %b at %i : memref<4xf32, "hbm"> to memref<3x4xf32, "hbm">
      at memref<i64, "hbm">
    ```
    """

    name = "ge_exec.store"

    id = prop_def(I64Attr)
    source = operand_def(AnyStorage)
    target = operand_def(AnyStorage)
    at = operand_def(AnyStorage)

    assembly_format = (
        "$id $source `to` $target `at` $at attr-dict"
        " `:` type($source) `to` type($target) `at` type($at)"
    )

    def __init__(self, id: int, source: SSAValue, target: SSAValue, at: SSAValue):
        super().__init__(operands=[source, target, at], properties={"id": int_attr(id)})

    def verify_(self) -> None:
        if not is_buffer(target := self.target.type):
            return
        slices = (buffer_shape(target) or (0,))[0]
        source = self.source.type
        if not is_buffer(source) or exact_bytes(source) * slices != exact_bytes(target):  # (C1)
            raise VerifyException(f"expected slices of {target}, got {self.source.type}")


@irdl_op_definition
class RecordOp(FormattedOp):
    """Marks an event as reached by this stream.

    Example:
    ```mlir
    ge_exec.record 0
    ```
    """

    name = "ge_exec.record"

    event = prop_def(I64Attr)

    assembly_format = "$event attr-dict"

    def __init__(self, event: int):
        super().__init__(properties={"event": int_attr(event)})


@irdl_op_definition
class WaitOp(FormattedOp):
    """Holds this stream until an event is reached; `why` names the dependency it serves.

    Example:
    ```mlir
    ge_exec.wait 0 why "RAW: task 3 reads what task 1 wrote"
    ```
    """

    name = "ge_exec.wait"

    event = prop_def(I64Attr)
    why = opt_prop_def(StringAttr)

    assembly_format = "$event (`why` $why^)? attr-dict"

    def __init__(self, event: int, why: str | None = None):
        super().__init__(
            properties={
                "event": int_attr(event),
                "why": None if why is None else StringAttr(why),
            }
        )
