"""Patterns of data movement that have a name: triangles, blocks, reversed sequences, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, UnitAttr, f64, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import eq as equal_to
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    Engine,
    GEOp,
    I64Attr,
    expect_integer,
    expect_min_rank,
    expect_rank,
    flag_attr,
    int_attr,
    same_type_pairs,
)
from ge_dialect.ge.dims import expect_dim, map_dim
from ge_dialect.ge.dtypes import is_float, is_integer
from ge_dialect.ge.movement import MovementOp
from ge_dialect.ge.requirements import require
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    normalize_axes,
    shape_of,
    tensor_of,
    tensor_type,
)
from ge_dialect.symbols import Dim, Relation, floor_div


@irdl_op_definition
class TriluOp(MovementOp):
    """The lower triangle of the last two dimensions, or with `upper` the upper one; else zeros.

    `k` is the number of diagonals between the main one and the edge of the triangle, to the right.

    Constraints:
    - (C1) `input` has rank 2 or more.

    Example:
    ```mlir
    %y = ge.trilu %x k 1 upper : (tensor<4x4xf32>) -> tensor<4x4xf32>
    ```
    """

    name = "ge.trilu"
    GE_TYPE: ClassVar = "Tril"
    ENGINE: ClassVar = Engine.VECTOR

    input = operand_def(RankedTensor)
    k = prop_def(I64Attr)
    upper = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `k` $k (`upper` $upper^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, k: int = 0, upper: bool = True):
        super().__init__([input], {"k": int_attr(k), "upper": flag_attr(upper)})

    def ge_op_type(self) -> str:
        return "Tril" if self.upper is None else "Triu"

    def infer_types(self) -> Sequence[Attribute]:
        expect_min_rank(self.input, 2, "input")  # (C1)
        return (self.input.type,)

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        return same_type_pairs(self)


@irdl_op_definition
class DepthToSpaceOp(MovementOp):
    """Blocks of channels laid out in space: `[N, C, H, W]` to `[N, C / b**2, H * b, W * b]`.

    `b` is `blocksize`. `mode` says whether the blocks (`DCR`) or the channels (`CRD`) vary slower.

    Constraints:
    - (C1) `input` has rank 4.
    - (C2) `blocksize` is positive, and C a multiple of its square.
    - (C3) `mode` is `DCR` or `CRD`.

    Example:
    ```mlir
    %y = ge.depth_to_space %x blocksize 2 mode "DCR" : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
    ```
    """

    name = "ge.depth_to_space"
    GE_TYPE: ClassVar = "DepthToSpace"

    input = operand_def(RankedTensor)
    blocksize = prop_def(I64Attr)
    mode = prop_def(StringAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `blocksize` $blocksize `mode` $mode attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, blocksize: int, mode: str = "DCR"):
        super().__init__([input], {"blocksize": int_attr(blocksize), "mode": StringAttr(mode)})

    def infer_types(self) -> Sequence[Attribute]:
        batch, channels, height, width = expect_rank(self.input, 4, "input")  # (C1)
        block = positive(self.blocksize.value.data, "blocksize")
        expect_multiple(channels, block**2, "channels")  # (C2)
        if (mode := self.mode.data) not in ("DCR", "CRD"):  # (C3)
            raise VerifyException(f"expected 'mode' to be DCR or CRD, got {mode}")
        shape = (
            batch,
            map_dim(channels, lambda dim: floor_div(dim, block**2)),
            map_dim(height, lambda dim: dim * block),
            map_dim(width, lambda dim: dim * block),
        )
        return (tensor_type(tensor_of(self.input).element_type, shape),)


@irdl_op_definition
class SpaceToDepthOp(MovementOp):
    """Blocks of space laid out in channels: `[N, C, H, W]` to `[N, C * b**2, H / b, W / b]`.

    `b` is `blocksize`.

    Constraints:
    - (C1) `input` has rank 4.
    - (C2) `blocksize` is positive, and H and W are multiples of it.

    Example:
    ```mlir
    %y = ge.space_to_depth %x blocksize 2 : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
    ```
    """

    name = "ge.space_to_depth"
    GE_TYPE: ClassVar = "SpaceToDepth"

    input = operand_def(RankedTensor)
    blocksize = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `blocksize` $blocksize attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, blocksize: int):
        super().__init__([input], {"blocksize": int_attr(blocksize)})

    def infer_types(self) -> Sequence[Attribute]:
        batch, channels, height, width = expect_rank(self.input, 4, "input")  # (C1)
        block = positive(self.blocksize.value.data, "blocksize")
        expect_multiple(height, block, "height")  # (C2)
        expect_multiple(width, block, "width")
        shape = (
            batch,
            map_dim(channels, lambda dim: dim * block**2),
            map_dim(height, lambda dim: floor_div(dim, block)),
            map_dim(width, lambda dim: floor_div(dim, block)),
        )
        return (tensor_type(tensor_of(self.input).element_type, shape),)


@irdl_op_definition
class ReverseSequenceOp(MovementOp):
    """The first `sequence_lens[b]` steps of each batch entry b reversed, the others kept.

    Constraints:
    - (C1) `input` has rank 2 or more, `sequence_lens` rank 1 and integers.
    - (C2) `time_axis` and `batch_axis` are 0 and 1, in either order.
    - (C3) There is a length for each batch entry.

    Example:
    ```mlir
    %y = ge.reverse_sequence %x, %n time_axis 0 batch_axis 1
        : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
    ```
    """

    name = "ge.reverse_sequence"
    GE_TYPE: ClassVar = "ReverseSequence"
    GE_INPUTS: ClassVar = ("x", "seq_lengths")

    input = operand_def(RankedTensor)
    sequence_lens = operand_def(RankedTensor)
    time_axis = prop_def(I64Attr)
    batch_axis = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $sequence_lens `time_axis` $time_axis `batch_axis` $batch_axis attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        sequence_lens: SSAValue | Operation,
        time_axis: int = 0,
        batch_axis: int = 1,
    ):
        super().__init__(
            [input, sequence_lens],
            {"time_axis": int_attr(time_axis), "batch_axis": int_attr(batch_axis)},
        )

    def infer_types(self) -> Sequence[Attribute]:
        shape = expect_min_rank(self.input, 2, "input")  # (C1)
        (lengths,) = expect_rank(self.sequence_lens, 1, "sequence_lens")
        expect_integer(self.sequence_lens, "sequence_lens")
        axes = (self.time_axis.value.data, self.batch_axis.value.data)
        if sorted(normalize_axes(axes, len(shape), "time_axis and batch_axis")) != [0, 1]:  # (C2)
            raise VerifyException(
                f"expected 'time_axis' and 'batch_axis' to be 0 and 1, got {list(axes)}"
            )
        expect_dim(lengths, shape[axes[1]], "'sequence_lens'")  # (C3)
        return (self.input.type,)


@irdl_op_definition
class RangeOp(GEOp):
    """`start + i * delta` for i = 0, 1, ...; the result type says how many and of what type.

    How many may be an expression over symbols.

    `start` and `delta` are i64 for integers, which wrap, and f64 for floats, rounded once.

    Constraints:
    - (C1) The result has rank 1 and a known size: a number or an expression.
    - (C2) `start` and `delta` are both integers or both floats, as the result.

    Example:
    ```mlir
    %y = ge.range start 0 : i64 delta 2 : i64 : tensor<8xi64>
    ```
    """

    name = "ge.range"
    GE_TYPE: ClassVar = "RangeD"
    GE_INPUTS: ClassVar = ()

    start = prop_def(IntegerAttr.constr(type=equal_to(i64)) | FloatAttr.constr(equal_to(f64)))
    delta = prop_def(IntegerAttr.constr(type=equal_to(i64)) | FloatAttr.constr(equal_to(f64)))
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "`start` $start `delta` $delta attr-dict `:` type($result)"

    def __init__(self, start: float, delta: float, length: Dim, element_type: Attribute):
        super().__init__(
            [],
            {"start": _number(start, element_type), "delta": _number(delta, element_type)},
            result_types=[tensor_type(element_type, (length,))],
        )

    def infer_types(self) -> Sequence[Attribute]:
        type_ = tensor_of(self.result)
        if len(shape := shape_of(type_)) != 1 or shape[0] is None:  # (C1)
            raise VerifyException(f"expected 'result' of rank 1 and known size, got {type_}")
        floats = [isinstance(number, FloatAttr) for number in (self.start, self.delta)]
        known = is_float(type_.element_type) or is_integer(type_.element_type)
        if not known or floats != [is_float(type_.element_type)] * 2:  # (C2)
            raise VerifyException(
                f"expected 'start' and 'delta' of the kind of 'result', got {self.start} and"
                f" {self.delta} for {type_.element_type}"
            )
        return (type_,)


def _number(value: float, element_type: Attribute) -> Attribute:
    return FloatAttr(value, f64) if is_float(element_type) else int_attr(int(value))


def positive(value: int, name: str) -> int:
    """Returns `value`.

    Raises:
        VerifyException: It is not positive.
    """
    if value < 1:
        raise VerifyException(f"expected '{name}' > 0, got {value}")
    return value


def expect_multiple(dim: MaybeDim, factor: int, what: str) -> None:
    """Checks that a dimension, where it is a number, is a multiple of `factor`.

    Raises:
        VerifyException: It is not.
    """
    if isinstance(dim, int) and dim % factor:
        raise VerifyException(f"expected {what} to be a multiple of {factor}, got {dim}")
    require(dim, Relation.MULTIPLE, factor, what)
