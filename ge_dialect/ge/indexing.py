"""Ops that address elements by index, and ops that read a tensor's shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Operation, SSAValue
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
    int_attr,
)
from ge_dialect.ge.dims import expect_dim, merge_dims
from ge_dialect.ge.movement import MovementOp
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    Shape,
    normalize_axis,
    show_shape,
    tensor_of,
    tensor_type,
    value_shape,
)


@irdl_op_definition
class GatherOp(MovementOp):
    """Entries of `input` along `axis`, one for each index: rank `input` + rank `indices` - 1.

    Negative indices count from the back.

    Constraints:
    - (C1) `input` has rank 1 or more and `axis` is in `[-rank, rank)`.
    - (C2) `indices` holds integers.

    Example:
    ```mlir
    %y = ge.gather %x, %i axis 0 : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    ```
    """

    name = "ge.gather"
    GE_TYPE: ClassVar = "GatherV2D"
    GE_INPUTS: ClassVar = ("x", "indices")

    input = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $indices `axis` $axis attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, indices: SSAValue | Operation, axis: int = 0):
        super().__init__([input, indices], {"axis": int_attr(axis)})

    @property
    def dimension(self) -> int:
        """`axis` counted from the front."""
        return normalize_axis(self.axis.value.data, len(value_shape(self.input)))

    def infer_types(self) -> Sequence[Attribute]:
        shape, axis = expect_min_rank(self.input, 1, "input"), self.dimension  # (C1)
        expect_integer(self.indices, "indices")  # (C2)
        gathered = (*shape[:axis], *value_shape(self.indices), *shape[axis + 1 :])
        return (tensor_type(tensor_of(self.input).element_type, gathered),)


@irdl_op_definition
class GatherElementsOp(MovementOp):
    """For each index the element of `input` at that place along `axis`, and else at its own.

    Negative indices count from the back.

    Constraints:
    - (C1) `input` and `indices` have one rank, 1 or more, and `axis` is in `[-rank, rank)`.
    - (C2) `indices` holds integers.
    - (C3) Dimensions of `indices` but `axis` are at most those of `input`.

    Example:
    ```mlir
    %y = ge.gather_elements %x, %i axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
    ```
    """

    name = "ge.gather_elements"
    GE_TYPE: ClassVar = "GatherElements"
    GE_INPUTS: ClassVar = ("x", "index")

    input = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $indices `axis` $axis attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, indices: SSAValue | Operation, axis: int = 0):
        super().__init__([input, indices], {"axis": int_attr(axis)})

    def infer_types(self) -> Sequence[Attribute]:
        expect_elements(self.input, self.indices, self.axis.value.data)
        return (tensor_type(tensor_of(self.input).element_type, value_shape(self.indices)),)


@irdl_op_definition
class GatherNdOp(MovementOp):
    """Slices of `input` at the places that the rows of `indices` name, as ONNX `GatherND`.

    The last dimension of `indices`, K, is how many dimensions of `input` a row addresses, after the
    first `batch_dims` ones, which both have. Negative indices count from the back.

    | operand or result | shape                                                   |
    | ----------------- | ------------------------------------------------------- |
    | `input`           | `[B..., D...]`                                          |
    | `indices`         | `[B..., I..., K]`                                       |
    | `result`          | `[B..., I..., D[K:]...]`                                |

    Constraints:
    - (C1) `indices` has rank 1 or more, holds integers, and K is static.
    - (C2) `batch_dims` is not negative and below both ranks; the batch dimensions are equal.
    - (C3) K is at least 1, and at most the rank of `input` less `batch_dims`.

    Example:
    ```mlir
    %y = ge.gather_nd %x, %i batch_dims 0 : (tensor<2x3x4xf32>, tensor<5x2xi64>) -> tensor<5x4xf32>
    ```
    """

    name = "ge.gather_nd"
    GE_TYPE: ClassVar = "GatherNd"
    GE_INPUTS: ClassVar = ("x", "indices")

    input = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    batch_dims = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $indices `batch_dims` $batch_dims attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self, input: SSAValue | Operation, indices: SSAValue | Operation, batch_dims: int = 0
    ):
        super().__init__([input, indices], {"batch_dims": int_attr(batch_dims)})

    def infer_types(self) -> Sequence[Attribute]:
        shape, index_shape = value_shape(self.input), expect_min_rank(self.indices, 1, "indices")
        expect_integer(self.indices, "indices")
        batch = self.batch_dims.value.data
        if not 0 <= batch < min(len(shape), len(index_shape)):  # (C2)
            raise VerifyException(
                f"expected 'batch_dims' in [0, {min(len(shape), len(index_shape))}), got {batch}"
            )
        shared = [
            merge_dims(a, b, f"batch dimension {i}")
            for i, (a, b) in enumerate(zip(shape[:batch], index_shape[:batch], strict=True))
        ]
        depth = row_length(index_shape, len(shape) - batch)
        result = (*shared, *index_shape[batch:-1], *shape[batch + depth :])
        return (tensor_type(tensor_of(self.input).element_type, result),)


@irdl_op_definition
class OneHotOp(MovementOp):
    """A new dimension of `depth` at `axis`: `values[1]` at the index, `values[0]` elsewhere.

    Negative indices count from the back; those outside `[-depth, depth)` give no `values[1]`.

    Constraints:
    - (C1) `values` has two elements.
    - (C2) `depth` is positive.
    - (C3) `axis` is in `[-rank - 1, rank]` of `indices`.

    Example:
    ```mlir
    %y = ge.one_hot %i, %v depth 10 axis -1 : (tensor<4xi64>, tensor<2xf32>) -> tensor<4x10xf32>
    ```
    """

    name = "ge.one_hot"
    GE_TYPE: ClassVar = "OneHotD"
    GE_INPUTS: ClassVar = ("x", "values")
    ENGINE: ClassVar = Engine.VECTOR

    indices = operand_def(RankedTensor)
    values = operand_def(RankedTensor)
    depth = prop_def(I64Attr)
    axis = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$indices `,` $values `depth` $depth `axis` $axis attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        indices: SSAValue | Operation,
        values: SSAValue | Operation,
        depth: int,
        axis: int = -1,
    ):
        super().__init__([indices, values], {"depth": int_attr(depth), "axis": int_attr(axis)})

    def infer_types(self) -> Sequence[Attribute]:
        expect_shape(self.values, (2,), "values")  # (C1)
        if (depth := self.depth.value.data) < 1:  # (C2)
            raise VerifyException(f"expected 'depth' > 0, got {depth}")
        shape = value_shape(self.indices)
        axis = normalize_axis(self.axis.value.data, len(shape) + 1)  # (C3)
        hot = (*shape[:axis], depth, *shape[axis:])
        return (tensor_type(tensor_of(self.values).element_type, hot),)


@irdl_op_definition
class ShapeOp(GEOp):
    """The dimensions `[start:end)` of `input` as i64; negative ones count from the back, clamped.

    Example:
    ```mlir
    %s = ge.shape %x start 0 end 2 : (tensor<4x5x6xf32>) -> tensor<2xi64>
    ```
    """

    name = "ge.shape"
    GE_TYPE: ClassVar = "Shape"
    ENGINE: ClassVar = Engine.HOST

    input = operand_def(RankedTensor)
    start = prop_def(I64Attr)
    end = opt_prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `start` $start (`end` $end^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, start: int = 0, end: int | None = None):
        super().__init__(
            [input], {"start": int_attr(start), "end": None if end is None else int_attr(end)}
        )

    def dims(self) -> Shape:
        """Returns the dimensions that the result holds, as far as they are known."""
        end = None if self.end is None else self.end.value.data
        return value_shape(self.input)[self.start.value.data : end]

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type(i64, (len(self.dims()),)),)

    def flops(self) -> int:
        return 0


@irdl_op_definition
class SizeOp(GEOp):
    """The number of elements of `input`, as i64.

    Example:
    ```mlir
    %n = ge.size %x : (tensor<4x5xf32>) -> tensor<i64>
    ```
    """

    name = "ge.size"
    GE_TYPE: ClassVar = "Size"
    ENGINE: ClassVar = Engine.HOST

    input = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation):
        super().__init__([input])

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type(i64, ()),)

    def flops(self) -> int:
        return 0


def row_length(index_shape: Shape, rank: int) -> int:
    """Returns the last dimension of indices, each row of which addresses a tensor of `rank`.

    Raises:
        VerifyException: It is not a number, or not in `[1, rank]`.
    """
    depth: MaybeDim = index_shape[-1]
    if not isinstance(depth, int) or not 1 <= depth <= rank:
        raise VerifyException(
            f"expected the last dimension of 'indices' in [1, {rank}], got {show_shape((depth,))}"
        )
    return depth


def expect_shape(value: SSAValue, shape: Shape, name: str) -> None:
    """Checks that an operand may have a shape.

    Raises:
        VerifyException: The rank or a known dimension differs.
    """
    found = value_shape(value)
    if len(found) != len(shape):
        raise VerifyException(f"expected '{name}' of {show_shape(shape)}, got {show_shape(found)}")
    for i, (have, want) in enumerate(zip(found, shape, strict=True)):
        expect_dim(have, want, f"dimension {i} of '{name}'")


def expect_elements(input: SSAValue, indices: SSAValue, axis: int) -> int:
    """Checks the operands of an op that addresses single elements; returns the axis from the front.

    Raises:
        VerifyException: The ranks differ, the axis is none of them, or `indices` is no part of
            `input` along another axis.
    """
    shape, index_shape = expect_min_rank(input, 1, "input"), value_shape(indices)
    if len(shape) != len(index_shape):
        raise VerifyException(
            f"expected 'indices' of rank {len(shape)}, got {show_shape(index_shape)}"
        )
    expect_integer(indices, "indices")
    axis = normalize_axis(axis, len(shape))
    for i, (dim, count) in enumerate(zip(shape, index_shape, strict=True)):
        if i == axis or not isinstance(dim, int) or not isinstance(count, int):
            continue
        if count > dim:
            raise VerifyException(
                f"expected dimension {i} of 'indices' of at most {dim}, got {count}"
            )
    return axis
