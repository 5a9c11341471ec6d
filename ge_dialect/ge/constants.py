"""Constants, and how passes read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    f32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.attributes import StringsAttr, WeightAttr
from ge_dialect.ge.base import FusionKind, GEOp
from ge_dialect.ge.dtypes import dtype_of, find_dtype, is_bool
from ge_dialect.ge.types import (
    RankedTensor,
    TensorT,
    byte_size,
    made_of,
    static_shape,
    tensor_of,
)
from ge_dialect.printing import print_exactly

if TYPE_CHECKING:
    import numpy.typing as npt

Dense: TypeAlias = DenseIntOrFPElementsAttr[Any]

SMALL_BYTES = 1024
"""Constants of at most this many bytes are dense attributes; larger ones are weights."""


def is_dense(attr: Attribute | None) -> TypeGuard[Dense]:
    """Whether an attribute is a dense constant; `isinstance` alone forgets the element type."""
    return isinstance(attr, DenseIntOrFPElementsAttr)


@irdl_custom_directive
class TypedValue(CustomDirective):
    """Prints `value : type` once, whether or not the attribute carries its type itself."""

    value: AttributeVariable
    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        attr = parser.parse_attribute()
        self.value.set(state, attr)
        if is_dense(attr):
            self.type.set(state, (attr.type,))
        else:
            parser.parse_punctuation(":")
            self.type.parse(parser, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        attr = self.value.get(op)
        assert attr is not None
        print_exactly(printer, attr)
        if not is_dense(attr):
            printer.print_string(" :")
            self.type.print(printer, state, op)


@irdl_op_definition
class ConstantOp(GEOp):
    """A tensor known at compile time.

    `value` is a dense attribute (small constants), a `#ge.weight` (large ones, which stay in their
    file) or `#ge.strings`.

    Constraints:
    - (C1) The result type is static, and where `value` has a type it is that.
    - (C2) A weight has as many bytes as the type.

    Example:
    ```mlir
    %e = ge.constant dense<1.000000e-05> : tensor<f32>
    %w = ge.constant #ge.weight<"fc1.weight", "bert.onnx", 4096, 2359296> : tensor<768x768xf32>
    ```
    """

    name = "ge.constant"
    GE_TYPE: ClassVar = "Const"
    GE_INPUTS: ClassVar = ()
    FUSION_KIND: ClassVar = FusionKind.MOVEMENT

    value = prop_def(AnyAttr())
    result = result_def(RankedTensor)

    traits = traits_def(Pure(), ConstantLike())

    custom_directives = (TypedValue,)

    assembly_format = "custom<TypedValue>($value, type($result)) attr-dict"

    def __init__(self, value: Attribute, type: TensorT | None = None):
        if type is None:
            assert is_dense(value)
            type = cast(TensorT, value.type)
        super().__init__([], {"value": value}, result_types=[type])

    def infer_types(self) -> Sequence[Attribute]:
        if is_dense(self.value):
            return (self.value.type,)
        return (self.result.type,)

    def flops(self) -> int:
        return 0

    def verify_(self) -> None:
        super().verify_()
        if (size := byte_size(self.result.type)) is None:  # (C1)
            raise VerifyException(f"expected a static type, got {self.result.type}")
        if isinstance(self.value, WeightAttr) and self.value.data.length != size:  # (C2)
            raise VerifyException(
                f"expected a weight of {size} bytes, got {self.value.data.length}"
            )


_SEALED = "_ge_sealed"


def constant_attr(value: SSAValue) -> Attribute | None:
    """Returns the attribute of a constant's result, or None for any other value."""
    owner = value.owner
    return owner.value if type(owner) is ConstantOp else None


def constant_ints(value: SSAValue, limit: int = 4096) -> tuple[int, ...] | None:
    """Returns the elements of a constant of integers, or None where there is no such constant.

    Reads no weight of more than `limit` elements.
    """
    array = constant_array(value, limit)
    if array is None or array.dtype.kind not in "iu":
        return None
    return tuple(int(item) for item in array.reshape(-1))


def constant_scalar(value: SSAValue) -> float | int | bool | None:
    """Returns the element of a constant of one element, exactly as its type holds it."""
    array = constant_array(value, 1)
    if array is None or array.size != 1 or array.dtype.kind in "OSU":
        return None
    item = array.reshape(-1)[0]
    if array.dtype.kind == "b":
        return bool(item)
    return int(item) if array.dtype.kind in "iu" else float(item)


def constant_array(value: SSAValue, limit: int | None = None) -> npt.NDArray[Any] | None:
    """Returns a constant as a read-only array, or None where the value is not constant.

    Args:
        value: Any value.
        limit: In elements; a larger constant gives None without being read, and so does one that
            stands for several (see `seal`).
    """
    if (attr := constant_attr(value)) is None:
        return None
    type_ = tensor_of(value)
    if limit is not None and prod(static_shape(type_) or ()) > limit:
        return None
    if limit is not None and _SEALED in vars(attr):
        return None
    return array_of(attr, type_)


def common_array(value: SSAValue, limit: int) -> npt.NDArray[Any] | None:
    """As `constant_array`, also of a constant that stands for several, if these are equal: for who
    needs the value, since all of them are compared."""
    attr = constant_attr(value)
    if attr is None or (are_equal := vars(attr).get(_SEALED)) is None:
        return constant_array(value, limit)
    shape = static_shape(tensor_of(value)) or ()
    if prod(shape) > limit or (like := are_equal()) is None:
        return None
    return array_of(like, tensor_of(value))


def seal(attr: Attribute, common: Callable[[], Attribute | None] = lambda: None) -> None:
    """Makes of a constant one that stands for several: who can do without its value gets none.

    Args:
        attr: The constant.
        common: Returns what all of them are; None where they differ.
    """
    vars(attr)[_SEALED] = common


def array_of(attr: Attribute, type: TensorT) -> npt.NDArray[Any]:
    """Returns the value of a constant attribute as a read-only array; a weight stays mapped.

    Raises:
        GEError: The weight's file is gone or its bytes were elided.
        ValueError: `attr` is no constant of `ge`.
    """
    import numpy as np

    from ge_dialect.ge.dtypes import to_numpy

    shape = static_shape(type) or ()
    if isinstance(attr, StringsAttr):
        return np.array([s.decode("utf-8", "surrogateescape") for s in attr.data], object).reshape(
            shape
        )
    dtype = to_numpy(type.element_type)
    if isinstance(attr, WeightAttr):
        return np.frombuffer(attr.data.weight.view(), dtype=dtype).reshape(shape)
    if not is_dense(attr):
        raise ValueError(f"expected a constant of ge, got {attr}")
    return _dense_array(attr, dtype, shape)


def _dense_array(attr: Dense, dtype: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    import numpy as np

    raw = attr.data.data
    element_type: Attribute = attr.get_element_type()
    if isinstance(element_type, IntegerType) and element_type.bitwidth < 8:
        # xDSL holds narrow integers one a byte, sign-extended: `true` is 0xff.
        small = np.frombuffer(raw, np.int8)
        array = (small != 0) if element_type.bitwidth == 1 else small.astype(dtype)
    else:
        array = np.frombuffer(raw, dtype)
    if array.size == 1:
        array = np.broadcast_to(array.reshape(()), shape)
    return array.reshape(shape)


def dense_constant(array: npt.NDArray[Any]) -> Attribute:
    """Returns `array` as an attribute for `ConstantOp`: dense if small, else a weight in memory."""
    import numpy as np

    from ge_dialect.ge.attributes import NamedWeight
    from ge_dialect.ge.dtypes import from_numpy
    from ge_dialect.ge.types import tensor_type
    from ge_dialect.weights import MemoryWeight

    if array.dtype.kind in "OSU":
        return StringsAttr(tuple(_as_bytes(item) for item in array.reshape(-1)))
    element_type = from_numpy(array.dtype)
    data = np.ascontiguousarray(array).tobytes()
    if not _fits_dense(element_type, len(data)):
        weight = MemoryWeight(data)
        return WeightAttr(NamedWeight(f"folded_{weight.digest[:12]}", weight))
    if array.dtype.kind == "b":
        data = bytes(255 if byte else 0 for byte in data)
    return dense_from_bytes(tensor_type(element_type, array.shape), data)


def embed_constants(module: Operation) -> None:
    """Makes every weight a dense constant, so that the printed text holds its bytes (as hex).

    Raises:
        GEError: The file of a weight is gone, or its bytes were elided.
    """
    for op in module.walk():
        if isinstance(op, ConstantOp) and isinstance(op.value, WeightAttr):
            type_ = tensor_of(op.result)
            data = bytes(op.value.data.weight.view())
            if is_bool(type_.element_type):
                data = bytes(255 if byte else 0 for byte in data)
            op.properties["value"] = dense_from_bytes(type_, data)


def dense_from_bytes(type: TensorT, data: bytes) -> DenseIntOrFPElementsAttr:
    """Returns the dense attribute of little-endian `data`; equal elements print as a splat."""
    from xdsl.dialects.builtin import BytesAttr

    return made_of(DenseIntOrFPElementsAttr, type=type, data=made_of(BytesAttr, data=data))


def _fits_dense(element_type: Attribute, size: int) -> bool:
    known = find_dtype(element_type)
    plain = known is not None and (known.bits >= 8 or known.bits == 1)
    return (
        plain
        and size <= SMALL_BYTES
        and not dtype_of(element_type).numpy.startswith(("float8", "float4"))
    )


def _as_bytes(item: object) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode("utf-8", "surrogateescape")


def int_constant(values: Sequence[int] | int) -> ConstantOp:
    """Returns a constant of `i64`: of rank 1 for a sequence, of rank 0 for a number."""
    from ge_dialect.ge.types import tensor_type

    numbers = [values] if isinstance(values, int) else list(values)
    shape = () if isinstance(values, int) else (len(numbers),)
    return ConstantOp(dense_from_bytes(tensor_type(i64, shape), i64.pack(numbers)))


def float_constant(value: float, element_type: Attribute = f32) -> ConstantOp:
    """Returns a constant scalar of floats, rounded to `element_type`."""
    import numpy as np

    from ge_dialect.ge.dtypes import to_numpy

    return array_constant(np.asarray(value, to_numpy(element_type)))


def splat_constant(value: float, type: TensorT) -> ConstantOp:
    """Returns the constant of a static type whose elements are all `value`; it holds only one."""
    import numpy as np

    from ge_dialect.ge.dtypes import to_numpy

    data = np.asarray(value).astype(to_numpy(type.element_type)).tobytes()
    return ConstantOp(
        dense_from_bytes(type, b"\xff" if is_bool(type.element_type) and value else data)
    )


def array_constant(array: npt.NDArray[Any]) -> ConstantOp:
    """Returns the constant that holds `array`."""
    from ge_dialect.ge.dtypes import from_numpy
    from ge_dialect.ge.types import tensor_type

    type_ = tensor_type(from_numpy(array.dtype), array.shape)
    return ConstantOp(dense_constant(array), type_)


def empty_constant(type: TensorT) -> ConstantOp:
    """Returns the constant of a static type without elements."""
    import numpy as np

    from ge_dialect.ge.dtypes import to_numpy

    return array_constant(np.empty(type.get_shape(), to_numpy(type.element_type)))
