"""Element types: one table from the IR type to numpy, ONNX, GE and the width in bits.

numpy is imported only where an array type is asked for, so that the dialect loads without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute

from ge_dialect.ge.attributes import FloatFormatType, StringType

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class DType:
    """One element type.

    Attributes:
        name: As in messages and in a plan, `f32`.
        onnx: `TensorProto.DataType`.
        ge: The enum of `ge.proto.TensorDescriptor.dtype` (0 where GE has none).
        bits: Width of one element; 0 for strings. Sub-byte types are held one a byte in memory.
        numpy: The name numpy or ml_dtypes knows.
    """

    name: str
    onnx: int
    ge: int
    bits: int
    numpy: str

    @property
    def storage_bytes(self) -> int:
        """Bytes of one element in a buffer of the plan."""
        return (self.bits + 7) // 8


def _unsigned(bits: int) -> IntegerType:
    return IntegerType(bits, Signedness.UNSIGNED)


_TABLE: dict[Attribute, DType] = {
    f32: DType("f32", 1, 1, 32, "float32"),
    f16: DType("f16", 10, 2, 16, "float16"),
    f64: DType("f64", 11, 12, 64, "float64"),
    BFloat16Type(): DType("bf16", 16, 27, 16, "bfloat16"),
    IntegerType(8): DType("i8", 3, 3, 8, "int8"),
    IntegerType(16): DType("i16", 5, 5, 16, "int16"),
    IntegerType(32): DType("i32", 6, 7, 32, "int32"),
    IntegerType(64): DType("i64", 7, 8, 64, "int64"),
    _unsigned(8): DType("ui8", 2, 4, 8, "uint8"),
    _unsigned(16): DType("ui16", 4, 6, 16, "uint16"),
    _unsigned(32): DType("ui32", 12, 9, 32, "uint32"),
    _unsigned(64): DType("ui64", 13, 10, 64, "uint64"),
    IntegerType(1): DType("i1", 9, 11, 8, "bool"),
    IntegerType(4): DType("i4", 22, 28, 4, "int4"),
    _unsigned(4): DType("ui4", 21, 0, 4, "uint4"),
    IntegerType(2): DType("i2", 26, 30, 2, "int2"),
    _unsigned(2): DType("ui2", 25, 31, 2, "uint2"),
    FloatFormatType("f8E4M3FN"): DType("f8E4M3FN", 17, 35, 8, "float8_e4m3fn"),
    FloatFormatType("f8E4M3FNUZ"): DType("f8E4M3FNUZ", 18, 0, 8, "float8_e4m3fnuz"),
    FloatFormatType("f8E5M2"): DType("f8E5M2", 19, 34, 8, "float8_e5m2"),
    FloatFormatType("f8E5M2FNUZ"): DType("f8E5M2FNUZ", 20, 0, 8, "float8_e5m2fnuz"),
    FloatFormatType("f4E2M1FN"): DType("f4E2M1FN", 23, 39, 4, "float4_e2m1fn"),
    FloatFormatType("f8E8M0FNU"): DType("f8E8M0FNU", 24, 36, 8, "float8_e8m0fnu"),
    ComplexType(f32): DType("complex<f32>", 14, 16, 64, "complex64"),
    ComplexType(f64): DType("complex<f64>", 15, 17, 128, "complex128"),
    StringType(): DType("string", 8, 13, 0, "object"),
}
_BY_ONNX = {dtype.onnx: attr for attr, dtype in _TABLE.items()}
_BY_NUMPY = {dtype.numpy: attr for attr, dtype in _TABLE.items()}

AnyFloatType = Float16Type | BFloat16Type | Float32Type | Float64Type


def dtype_names() -> dict[str, str]:
    """Returns the names of all element types in `ge`, each with that of numpy or ml_dtypes."""
    return {dtype.name: dtype.numpy for dtype in _TABLE.values()}


def find_dtype(element_type: Attribute) -> DType | None:
    """Returns the entry of an IR element type, or None for a type `ge` does not know."""
    return _TABLE.get(element_type)


def dtype_of(element_type: Attribute) -> DType:
    """Returns the entry of an IR element type.

    Raises:
        ValueError: The type is none of `ge`'s element types.
    """
    # Kept with the type itself: to look it up by value hashes it each time.
    try:
        return element_type.__dict__["_ge_dtype"]
    except KeyError:
        if (known := _TABLE.get(element_type)) is None:
            raise ValueError(f"expected an element type of ge, got {element_type}") from None
        vars(element_type)["_ge_dtype"] = known
        return known


def from_onnx(data_type: int) -> Attribute | None:
    """Returns the IR type of an ONNX `TensorProto.DataType`, or None for an unknown one."""
    return _BY_ONNX.get(data_type)


def from_numpy(dtype: np.dtype[Any]) -> Attribute:
    """Returns the IR type of a numpy dtype.

    Raises:
        ValueError: numpy's type has no counterpart.
    """
    name = "object" if dtype.kind in "OUST" else dtype.name
    if (found := _BY_NUMPY.get(name)) is None:
        raise ValueError(f"expected a numeric numpy type, got {dtype}")
    return found


@cache
def to_numpy(element_type: Attribute) -> np.dtype[Any]:
    """Returns the numpy (or ml_dtypes) dtype that holds `element_type`."""
    import numpy as np

    name = dtype_of(element_type).numpy
    if name in ("bool", "object") or hasattr(np, name):
        return np.dtype(name)
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name))


def is_float(element_type: Attribute) -> bool:
    """Whether the type is a floating-point one, of any width."""
    return isinstance(element_type, AnyFloatType | FloatFormatType)


def is_integer(element_type: Attribute) -> bool:
    """Whether the type is an integer of two bits or more (`i1` is a truth value)."""
    return isinstance(element_type, IntegerType) and element_type.bitwidth > 1


def is_bool(element_type: Attribute) -> bool:
    """Whether the type is `i1`."""
    return isinstance(element_type, IntegerType) and element_type.bitwidth == 1


def is_string(element_type: Attribute) -> bool:
    """Whether the type is that of text, whose elements have no fixed number of bytes."""
    return isinstance(element_type, StringType)
