"""Weights of a few bits in blocks that share a scale, as ONNX Runtime's domain packs them.

They become `ge.dequantize_linear` of integers as narrow as they are, so that what reads them is
what it is for ONNX's own form of the same weights.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.contrib import DOMAIN
from ge_dialect.frontends.onnx.convert.delegate import apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.constants import constant_array
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.quantization import DequantizeLinearOp
from ge_dialect.ge.types import element_type_of, normalize_axis, value_shape

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_BITS = (2, 4, 8)


@converts("MatMulNBits", domain=DOMAIN)
def matmul_nbits(node: Node) -> SSAValue:
    """`A @ W + bias` with a weight of 2, 4 or 8 bits, `[N, blocks, bytes]`.

    `accuracy_level` allows to compute less exactly, which nobody has to.
    """
    if node.get_flag("weight_prepacked"):
        raise OnHost("its weight is packed for one machine")
    columns, rows = node.get_int("N"), node.get_int("K")
    levels = _levels(node, columns, rows)
    weight = _grouped(node, levels) if node.optional(4) is not None else _blocks(node, levels)
    product = node.emit(MatmulOp(node[0], weight))
    bias = node.optional(5)
    return product if bias is None else node.emit(AddOp(product, bias))


def _bits(node: Node) -> int:
    bits = node.get_int("bits", 4)
    if bits not in _BITS:
        raise OnHost(f"weights of {bits} bits")
    return bits


def _constant(node: Node, slot: int) -> Array:
    array = constant_array(node[slot])
    if array is None:
        raise OnHost(f"input {slot} is not constant")
    return array


def unpacked(packed: Array, bits: int) -> Array:
    """Returns the numbers that bytes hold, the first one lowest: the last dimension grows."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    numbers = (packed.view(np.uint8)[..., None] >> shifts) & (2**bits - 1)
    return numbers.reshape(*packed.shape[:-1], -1)


def _levels(node: Node, columns: int, rows: int) -> Array:
    """Returns the numbers of the weight, `[N, K]`."""
    packed = _constant(node, 1)
    if packed.dtype.itemsize != 1 or packed.dtype.kind not in "iu":
        raise OnHost(f"weights in {packed.dtype}")
    per_byte = 8 // _bits(node)
    if columns < 1 or packed.size % columns or packed.size * per_byte < columns * rows:
        node.fail(f"expected a weight of [{columns}, {rows}], got {packed.size} bytes")
    return unpacked(packed.reshape(columns, -1), _bits(node))[:, :rows]


def _blocks(node: Node, levels: Array) -> SSAValue:
    """Returns the weight `[K, N]` as blocks of integers; without zero points they are signed."""
    size, bits = node.get_int("block_size"), _bits(node)
    scales = _per_block(node, _constant(node, 2), levels, size)
    if node.optional(3) is None:
        numbers = (levels.astype(np.int16) - 2 ** (bits - 1)).astype(np.int8)
        return _dequantized(node, numbers, scales, None, bits, size)
    zero_points = _constant(node, 3)
    if zero_points.dtype != np.uint8:  # of floats, which no operator of ONNX has
        zeros = _per_block(node, zero_points, levels, size)
        places: Array = np.arange(levels.shape[1], dtype=np.int64)
        return _folded(node, levels, scales, zeros, np.floor_divide(places, size))
    found = unpacked(zero_points.reshape(len(levels), -1), bits)[:, : scales.shape[1]]
    return _dequantized(node, levels, scales, found, bits, size)


def _per_block(node: Node, found: Array, levels: Array, size: int) -> Array:
    columns, rows = levels.shape
    if size < 1 or found.size != columns * -(-rows // size):
        node.fail(f"expected one number for each {size} of [{columns}, {rows}], got {found.size}")
    return found.reshape(columns, -1)


def _dequantized(
    node: Node, levels: Array, scales: Array, zeros: Array | None, bits: int, size: int
) -> SSAValue:
    """Adds the dequantisation of a matrix `[N, K]`, in blocks along K, transposed."""
    kind = narrow_type(bits, levels.dtype.kind)
    x, scale = (
        node.builder.array(np.ascontiguousarray(a.T)) for a in (levels.astype(kind), scales)
    )
    zero = None if zeros is None else node.builder.array(np.ascontiguousarray(zeros.T).astype(kind))
    return node.emit(DequantizeLinearOp(x, scale, zero, axis=0, block_size=size))


def narrow_type(bits: int, kind: str) -> npt.DTypeLike:
    """Returns the type of integers of so many bits."""
    import ml_dtypes

    name = f"{'u' if kind == 'u' else ''}int{bits}"
    return np.dtype(name) if bits == 8 else np.dtype(getattr(ml_dtypes, name))


def _grouped(node: Node, levels: Array) -> SSAValue:
    """Returns the weight where an operand says which block each row belongs to."""
    size, bits = node.get_int("block_size"), _bits(node)
    scales = _per_block(node, _constant(node, 2), levels, size)
    zeros = np.full_like(scales, 2 ** (bits - 1))
    if node.optional(3) is not None:
        found = _constant(node, 3)
        if found.dtype == np.uint8:
            found = unpacked(found.reshape(len(levels), -1), bits)[:, : scales.shape[1]]
        zeros = found.reshape(scales.shape).astype(scales.dtype)
    groups = _constant(node, 4).reshape(-1)[: levels.shape[1]]
    if groups.size != levels.shape[1] or groups.min() < 0 or groups.max() >= scales.shape[1]:
        node.fail(f"expected a block below {scales.shape[1]} for each of {levels.shape[1]} rows")
    return _folded(node, levels, scales, zeros, groups)


def _folded(node: Node, levels: Array, scales: Array, zeros: Array, blocks: Array) -> SSAValue:
    """Returns the weight `[K, N]` as floats."""
    numbers = levels.astype(np.float32) - zeros.astype(np.float32)[:, blocks]
    weight = (numbers * scales.astype(np.float32)[:, blocks]).astype(scales.dtype)
    return node.builder.array(np.ascontiguousarray(weight.T))


@converts("GatherBlockQuantized", domain=DOMAIN)
def gather_block_quantized(node: Node) -> SSAValue:
    """Rows of a table of a few bits: what is gathered is dequantised, not the table."""
    data, zero = node[0], node.optional(3)
    rank = len(value_shape(data))
    axis = normalize_axis(node.get_int("gather_axis", 0), rank)
    quantized = normalize_axis(node.get_int("quantize_axis", 1), rank)
    if axis == quantized:
        raise OnHost("it gathers along the axis of its blocks")
    if element_type_of(data) == IntegerType(8, Signedness.UNSIGNED):
        data, zero = _unpacked_table(node, _table(data), zero)
    index = node[1]
    parts = [
        None if x is None else apply(node, "Gather", x, index, axis=axis)
        for x in (data, node[2], zero)
    ]
    x, scale, zero_point = parts
    assert x is not None and scale is not None
    if quantized > axis:
        quantized += len(value_shape(index)) - 1
    size = node.get_int("block_size", 128)
    return node.emit(DequantizeLinearOp(x, scale, zero_point, axis=quantized, block_size=size))


def _table(data: SSAValue) -> Array:
    """Returns a constant, or one that is reshaped.

    Raises:
        OnHost: It is none.
    """
    owner, shape = data.owner, value_shape(data)
    source = owner.input if isinstance(owner, ReshapeOp) else data
    array = constant_array(source)
    if array is None or not all(isinstance(dim, int) for dim in shape):
        raise OnHost("its table is not constant")
    return array.reshape([dim for dim in shape if isinstance(dim, int)])


def _unpacked_table(
    node: Node, packed: Array, zero: SSAValue | None
) -> tuple[SSAValue, SSAValue | None]:
    """Returns a table of bytes as what they hold, and its zero points.

    Without zero points the middle is 0, as if the numbers were signed.
    """
    bits = _bits(node)
    levels = unpacked(packed, bits)
    if zero is None:
        numbers = (levels.astype(np.int16) - 2 ** (bits - 1)).astype(np.int8)
        return node.builder.array(numbers.astype(narrow_type(bits, "i"))), None
    found = unpacked(_constant(node, 3), bits)[..., : node.shape(2)[-1]]
    kind = narrow_type(bits, "u")
    return node.builder.array(levels.astype(kind)), node.builder.array(found.astype(kind))
