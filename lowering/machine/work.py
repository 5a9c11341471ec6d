"""What a kernel does, out of the ops of its body: arithmetic, products, bytes it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import SSAValue

from ge_dialect.ge.activations import GeluOp, QuickGeluOp, SiluOp
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import Engine, GEOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.convolution import WindowContractionOp
from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.integer_contractions import MatmulIntegerOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.normalization import NormalizationOp
from ge_dialect.ge.reductions import AxisSoftmaxOp
from ge_dialect.ge.types import byte_size, is_tensor, num_elements, static_shape
from ge_dialect.ge_exec import KernelOp
from ge_dialect.lowering.machine.tiles import Product
from ge_dialect.lowering.task_bytes import needed_bytes

_KINDS: Sequence[tuple[type[GEOp], str]] = (
    (AxisSoftmaxOp, "softmax"),
    (NormalizationOp, "norm"),
    (GeluOp, "gelu"),
    (QuickGeluOp, "silu"),
    (SiluOp, "silu"),
)
"""Ops whose cycles the targets give by kind; any other takes one for each of its operations."""

_AROUND = (ReshapeOp, TransposeOp)
"""Ops after which a value from outside is still one."""


@dataclass(frozen=True)
class KernelWork:
    """What a kernel does, whatever buffers it runs on.

    Attributes:
        operations, products, attention: As in `Work`.
        elements: Of one vector op each: its kind, the element type, elements and operations.
        needed: Of each operand, bytes of it at most; None for all.
    """

    operations: Mapping[tuple[str, str], float]
    products: Sequence[Product]
    attention: float
    elements: Sequence[tuple[str, str, int, float]]
    needed: Sequence[int | None]

    def cycles(self, costs: Mapping[str, float]) -> dict[str, float]:
        """Returns the cycles of one lane by element type.

        Args:
            costs: `Target.vector_cycles`.
        """
        found: dict[str, float] = {}
        for kind, dtype, elements, operations in self.elements:
            own = elements * costs[kind] if kind in costs else operations
            found[dtype] = found.get(dtype, 0.0) + own
        return found


def kernel_work(kernel: KernelOp) -> KernelWork:
    """Returns the work of a kernel.

    Data movement and host ops count as bytes only: the machine model has no rate for them.
    """
    found = _Work()
    block = kernel.body.block
    outside: set[SSAValue] = set(block.args)
    for op in block.ops:
        if isinstance(op, _AROUND) and op.operands[0] in outside:
            outside.update(op.results)
        if isinstance(op, GEOp) and op.ENGINE in (Engine.CUBE, Engine.VECTOR) and op.results:
            found.add(op, outside)
    needed = [needed_bytes(argument) for argument in block.args]
    attention = sum(op.flops() for op in block.ops if isinstance(op, FlashAttentionOp))
    cube = sum(count for (engine, _), count in found.operations.items() if engine == "cube")
    share = attention / cube if attention else 0.0
    return KernelWork(found.operations, found.products, share, found.elements, needed)


@dataclass
class _Work:
    operations: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    products: list[Product] = field(default_factory=list[Product])
    elements: list[tuple[str, str, int, float]] = field(
        default_factory=list[tuple[str, str, int, float]]
    )

    def add(self, op: GEOp, outside: set[SSAValue]) -> None:
        dtype = element_type(op)
        if op.ENGINE is Engine.CUBE:
            self._count("cube", dtype, op.flops())
            if (product := product_of(op, outside, dtype)) is not None:
                self.products.append(product)
            return
        elements = max((num_elements(v.type) or 0 for v in (*op.operands, *op.results)), default=0)
        kind = next((kind for cls, kind in _KINDS if isinstance(op, cls)), "")
        self._count("vector", dtype, num_elements(op.results[0].type) or 0)
        self.elements.append((kind, dtype, elements, float(op.flops())))

    def _count(self, engine: str, dtype: str, count: float) -> None:
        self.operations[engine, dtype] = self.operations.get((engine, dtype), 0.0) + count


def element_type(op: GEOp) -> str:
    """Returns the element type an op computes in: that of its first operand, or of its result."""
    type_ = (*op.operands, *op.results)[0].type
    return dtype_of(type_.element_type).name if is_tensor(type_) else "f32"


def product_of(op: GEOp, outside: set[SSAValue], dtype: str) -> Product | None:
    """Returns an op of the cube as a product; None where its shape is not known.

    Args:
        op: Of the cube.
        outside: Values that come from HBM or L2, not from another op of the kernel.
        dtype: It computes in.
    """
    operands = [static_shape(value.type) for value in op.operands[:2]]
    result = static_shape(op.results[0].type)
    if result is None or len(operands) < 2 or not prod(result):
        return None
    left, right = operands
    if left is None or right is None:
        return None
    sizes = [(byte_size(v.type) or 0) if v in outside else 0 for v in op.operands[:3]]
    match op:
        case FlashAttentionOp():
            kv = sizes[1] + sizes[2] if left[1] == right[1] else 0  # heads that share are kept
            batch, heads, rows, depth = left
            return Product(batch * heads, rows, right[2], 2 * depth, dtype, sizes[0], kv, True)
        case WindowContractionOp():
            columns = right[0]
            depth = op.flops() // max(1, 2 * prod(result))
            return Product(1, prod(result) // columns, columns, depth, dtype, sizes[0], sizes[1])
        case GemmOp():
            depth = left[0] if op.trans_a is not None else left[1]
            return Product(1, result[0], result[1], depth, dtype, sizes[0], sizes[1])
        case MatmulOp() | MatmulIntegerOp():
            return _matmul(left, right, result, dtype, sizes)
        case _:
            return None


def _matmul(
    left: tuple[int, ...],
    right: tuple[int, ...],
    result: tuple[int, ...],
    dtype: str,
    sizes: Sequence[int],
) -> Product:
    depth = left[-1]
    columns = result[-1] if len(right) > 1 else 1
    rows = prod(result) // max(1, columns)
    batch = prod(right[:-2]) if len(right) > 2 else 1
    if rows % batch:
        batch = 1
    return Product(batch, rows // batch, columns, depth, dtype, sizes[0], sizes[1])
