"""What lies in arenas: inputs, weights, buffers, views, outputs; and objects.

Before `ge-plan-memory` none of them has a place; afterwards each names its arena and byte offset.
Objects never have one: no plan can say how many bytes they need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import MemRefType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import DimsAttr, WeightAttr
from ge_dialect.ge.base import FormattedOp, I64Attr, int_attr
from ge_dialect.ge_exec.arenas import ArenaType
from ge_dialect.ge_exec.storage import (
    AnyBuffer,
    AnyStorage,
    BoundedType,
    BufferType,
    ObjectType,
    StorageType,
    buffer_bytes,
    buffer_type,
    is_buffer,
    storage_type,
    verify_buffer_type,
)
from ge_dialect.literals import quoted
from ge_dialect.symbols import Dim, DimExpr
from ge_dialect.symbols.expr import constant_of

if TYPE_CHECKING:
    from ge_dialect.printing import ExactPrinter

__all__ = [
    "AnyStorage",
    "BoundedType",
    "BufferOp",
    "BufferType",
    "InputOp",
    "ObjectOp",
    "ObjectType",
    "OutputOp",
    "PlacedOp",
    "Storage",
    "StorageType",
    "ViewOp",
    "WeightOp",
    "base_of",
    "buffer_bytes",
    "buffer_type",
    "is_buffer",
    "offset_of",
    "storage_type",
]


class PlacedOp(FormattedOp):
    """Something with bytes of its own, in an arena once it is planned."""

    arena = opt_operand_def(ArenaType)
    offset = opt_prop_def(I64Attr)
    result = result_def(AnyBuffer)

    @property
    def size(self) -> int:
        """Bytes, unpadded."""
        (result,) = self.results
        return buffer_bytes(result.type)

    def place(self, arena: SSAValue, offset: int) -> None:
        """Sets the arena and the byte offset."""
        self.operands = [arena]
        self.properties["offset"] = int_attr(offset)

    def verify_(self) -> None:
        verify_buffer_type(self.result.type)
        if (self.arena is None) != (self.offset is None):
            raise VerifyException("expected 'arena' and 'offset' together")
        if self.offset is not None and self.offset.value.data < 0:
            raise VerifyException(f"expected 'offset' >= 0, got {self.offset.value.data}")


def build_placed(op: PlacedOp, type: StorageType, properties: Mapping[str, Attribute]) -> None:
    """Builds an op that has no place yet.

    A plan has one for each weight and each result: the general constructor of IRDL takes four times
    as long.
    """
    Operation.__init__(op, properties=properties, result_types=[type])


@irdl_op_definition
class InputOp(PlacedOp):
    """An input of the plan: the caller's bytes are here before the first task.

    An object has no place in an arena. `donated` says that tasks may write over it, since the
    caller does not want its bytes back.

    Example:
    ```mlir
    %x = ge_exec.input "x" in %work offset 0 : memref<4xf32, "hbm">
    ```
    """

    name = "ge_exec.input"

    io_name = prop_def(StringAttr)
    donated = opt_prop_def(UnitAttr)
    result = result_def(AnyStorage)

    assembly_format = (
        "$io_name (`donated` $donated^)? (`in` $arena^ `offset` $offset)?"
        " attr-dict `:` type($result)"
    )

    def __init__(self, io_name: str, type: StorageType, *, donated: bool = False):
        given = {"donated": UnitAttr()} if donated else {}
        build_placed(self, type, {"io_name": StringAttr(io_name), **given})

    @property
    def is_object(self) -> bool:
        """Whether the input has no bytes in the plan."""
        return isinstance(self.result.type, ObjectType)

    def verify_(self) -> None:
        if not self.is_object:
            super().verify_()
        elif self.arena is not None or self.offset is not None:
            raise VerifyException("expected an object without 'arena' and 'offset'")


@irdl_op_definition
class WeightOp(PlacedOp):
    """A weight of the model, read-only, in the weight arena before the first task.

    Constraints:
    - (C1) The weight has as many bytes as the type.

    Example:
    ```mlir
    %w = ge_exec.weight <"w", "m.onnx", 64, 16> : memref<4xf32, "hbm">
    ```
    """

    name = "ge_exec.weight"

    value = prop_def(WeightAttr)

    assembly_format = "$value (`in` $arena^ `offset` $offset)? attr-dict `:` type($result)"

    def __init__(self, value: WeightAttr, type: MemRefType[Attribute]):
        build_placed(self, type, {"value": value})

    def quick_text(self, printer: ExactPrinter) -> str | None:
        if self.attributes or (place := place_text(self, printer)) is None:
            return None
        value: Any = self.properties["value"]
        (result,) = self.results
        held = value.parameter_text(printer.stored.get(id(value)))
        return f" {held}{place} : {printer.text_of(result.type)}"

    def verify_(self) -> None:
        super().verify_()
        if self.value.data.length != self.size:  # (C1)
            raise VerifyException(
                f"expected a weight of {self.size} bytes, got {self.value.data.length}"
            )


@irdl_op_definition
class BufferOp(PlacedOp):
    """Bytes that tasks write and read.

    `resident` is the byte of the L2 where a copy stays for as long as the buffer is in use, so that
    nothing of it has to go to HBM.

    Constraints:
    - (C1) `resident` >= 0.

    Example:
    ```mlir
    %b = ge_exec.buffer in %work offset 512 resident 0 : memref<4xf32, "hbm">
    ```
    """

    name = "ge_exec.buffer"

    resident = opt_prop_def(I64Attr)

    assembly_format = (
        "(`in` $arena^ `offset` $offset)? (`resident` $resident^)? attr-dict `:` type($result)"
    )

    def __init__(self, type: BufferType):
        build_placed(self, type, {})

    def quick_text(self, printer: ExactPrinter) -> str | None:
        if self.attributes or (place := place_text(self, printer)) is None:
            return None
        resident = f" resident {self.l2_offset}" if "resident" in self.properties else ""
        (result,) = self.results
        return f"{place}{resident} : {printer.text_of(result.type)}"

    @property
    def l2_offset(self) -> int | None:
        """Its place in the L2, None where it has none."""
        return None if self.resident is None else self.resident.value.data

    def stay_in_l2(self, offset: int | None) -> None:
        """Sets or drops its place in the L2."""
        self.properties.pop("resident", None)
        if offset is not None:
            self.properties["resident"] = int_attr(offset)

    def verify_(self) -> None:
        super().verify_()
        if self.l2_offset is not None and self.l2_offset < 0:  # (C1)
            raise VerifyException(f"expected 'resident' >= 0, got {self.l2_offset}")


@irdl_op_definition
class ObjectOp(FormattedOp):
    """A value on the heap of the host: the task that writes it allocates it.

    Example:
    ```mlir
    %o = ge_exec.object : !ge_exec.object<tensor<2x?xi64>>
    ```
    """

    name = "ge_exec.object"

    result = result_def(ObjectType)

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: ObjectType):
        super().__init__(result_types=[type])

    @property
    def size(self) -> int:
        """Bytes in the plan: none."""
        return 0


Storage: TypeAlias = PlacedOp | ObjectOp
"""The ops that own what a task reads or writes."""


@irdl_op_definition
class ViewOp(FormattedOp):
    """The same bytes under another type, from byte `offset` of the source.

    `plus` adds bytes that depend on symbols of the plan: what is joined begins where the value
    before it ends.

    Constraints:
    - (C1) The view lies inside its source; `ge-verify-plan` proves it of sizes that are symbols.
    - (C2) `plus` is one expression, which is never negative.

    Example:
    ```mlir
    %v = ge_exec.view %b offset 0 : memref<4xf32, "hbm"> -> memref<2x2xf32, "hbm">
    %w = ge_exec.view %c offset 0 plus <"32*past">
      : !ge_exec.bounded<tensor<?x8xf32, #ge.dims<"past + 1">>, 288 : i64> -> memref<1x8xf32, "hbm">
    ```
    """

    name = "ge_exec.view"

    source = operand_def(AnyBuffer)
    offset = prop_def(I64Attr)
    plus = opt_prop_def(DimsAttr)
    result = result_def(AnyBuffer)

    assembly_format = (
        "$source `offset` $offset (`plus` $plus^)? attr-dict `:` type($source) `->` type($result)"
    )

    def __init__(self, source: SSAValue, type: BufferType, offset: Dim = 0):
        fixed = max(constant_of(offset), 0)
        moving = offset - fixed
        properties: dict[str, Attribute] = {"offset": int_attr(fixed)}
        if isinstance(moving, DimExpr):
            properties["plus"] = DimsAttr((moving,))
        Operation.__init__(
            self,
            operands=[source],
            properties=properties,
            result_types=[type],
        )

    @property
    def start(self) -> Dim:
        """The byte of the source where the view begins, in terms of the symbols of the plan."""
        plus = None if self.plus is None else self.plus.data[0]
        return self.offset.value.data + (0 if plus is None else plus)

    def verify_(self) -> None:
        verify_buffer_type(self.result.type)
        start, size = self.offset.value.data, buffer_bytes(self.result.type)
        if start < 0 or start + size > buffer_bytes(self.source.type):  # (C1)
            raise VerifyException(
                f"expected a view inside {buffer_bytes(self.source.type)} bytes,"
                f" got bytes {start} to {start + size}"
            )
        plus = (0,) if self.plus is None else self.plus.data
        if len(plus) != 1 or plus[0] is None:  # (C2)
            raise VerifyException(f"expected one expression for 'plus', got {self.plus}")


@irdl_op_definition
class OutputOp(FormattedOp):
    """An output of the plan: what the caller reads after the last task.

    Example:
    ```mlir
    ge_exec.output "y" %b : memref<4xf32, "hbm">
    ```
    """

    name = "ge_exec.output"

    io_name = prop_def(StringAttr)
    buffer = operand_def(AnyStorage)

    assembly_format = "$io_name $buffer attr-dict `:` type($buffer)"

    def __init__(self, io_name: str, buffer: SSAValue):
        # A model that keeps what it has seen has many: as for `build_placed`.
        Operation.__init__(self, operands=[buffer], properties={"io_name": StringAttr(io_name)})

    def quick_text(self, printer: ExactPrinter) -> str | None:
        if self.attributes:
            return None
        (buffer,) = operands_of(self)
        name, type_ = printer.name_of(buffer), printer.text_of(buffer.type)
        return f" {quoted(self.io_name.data)} {name} : {type_}"


def place_text(op: PlacedOp, printer: ExactPrinter) -> str | None:
    """Returns where an op lies, ` in %work offset 512`; nothing before it is planned, and None
    where it has an arena or an offset alone."""
    arenas, offset = operands_of(op), offset_of(op)
    if not arenas or offset is None:
        return "" if not arenas and offset is None else None
    (arena,) = arenas
    return f" in {printer.name_of(arena)} offset {offset}"


def base_of(value: SSAValue) -> tuple[Storage, int]:
    """Returns what owns the bytes of a value of a plan, and the byte offset into it.

    Raises:
        VerifyException: The value is no buffer of a plan.
    """
    offset = 0
    while type(owner := value.owner) is ViewOp:
        offset += owner.offset.value.data
        value = owner.source
    # The classes themselves: `isinstance` takes three times as long, and every stage asks.
    if type(owner) is BufferOp or type(owner) is WeightOp:
        return owner, offset
    if type(owner) is InputOp or type(owner) is ObjectOp:
        return owner, offset
    raise VerifyException("expected a buffer, object, input or weight of the plan")


def offset_of(op: PlacedOp) -> int | None:
    """Returns the planned byte offset of an op, None before planning."""
    # Not `op.offset`: every stage asks, for every value.
    given: Any = op.properties
    return given["offset"].value.data if "offset" in given else None
