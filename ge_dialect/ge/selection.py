"""Ops that find places along an axis, and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, i64
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
    FusionKind,
    GEOp,
    I1Attr,
    I64Attr,
    bool_attr,
    expect_min_rank,
    flag_attr,
    int_attr,
)
from ge_dialect.ge.reductions import reduced_shape
from ge_dialect.ge.types import (
    RankedTensor,
    normalize_axis,
    num_elements,
    tensor_of,
    tensor_type,
    value_shape,
)


class ArgReduceOp(GEOp):
    """The place of the greatest or least element along `axis`: the first one, or with
    `select_last_index` the last one where several are equal.

    | operand or result | shape                               | type    |
    | ----------------- | ----------------------------------- | ------- |
    | `input`           | any                                 | numbers |
    | `result`          | of `input`, with `axis` at 1 or gone | i64    |

    Constraints:
    - (C1) `axis` is in `[-rank, rank)`.

    Example:
    ```mlir
    %y = ge.arg_max %x axis 1 keepdims false : (tensor<4x8xf32>) -> tensor<4xi64>
    ```
    """

    FUSION_KIND: ClassVar = FusionKind.REDUCTION

    input = operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    keepdims = prop_def(I1Attr)
    select_last_index = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `axis` $axis `keepdims` $keepdims (`select_last_index` $select_last_index^)?"
        " attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        axis: int,
        keepdims: bool = True,
        select_last_index: bool = False,
    ):
        super().__init__(
            [input],
            {
                "axis": int_attr(axis),
                "keepdims": bool_attr(keepdims),
                "select_last_index": flag_attr(select_last_index),
            },
        )

    def infer_types(self) -> Sequence[Attribute]:
        shape = value_shape(self.input)
        axis = normalize_axis(self.axis.value.data, len(shape))  # (C1)
        return (tensor_type(i64, reduced_shape(shape, (axis,), bool(self.keepdims))),)

    def flops(self) -> int:
        return num_elements(self.input.type) or 0


@irdl_op_definition
class ArgMaxOp(ArgReduceOp):
    """The place of the greatest element along `axis`."""

    name = "ge.arg_max"
    GE_TYPE: ClassVar = "ArgMaxD"


@irdl_op_definition
class ArgMinOp(ArgReduceOp):
    """The place of the least element along `axis`."""

    name = "ge.arg_min"
    GE_TYPE: ClassVar = "ArgMinD"


@irdl_op_definition
class CumsumOp(GEOp):
    """The sum of all elements up to each place along `axis`.

    `exclusive` leaves out the element of the place itself; `reverse` starts from the end.

    Constraints:
    - (C1) `axis` is in `[-rank, rank)`.

    Example:
    ```mlir
    %y = ge.cumsum %x axis 1 exclusive : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "ge.cumsum"
    GE_TYPE: ClassVar = "CumsumD"

    input = operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)?"
        " attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        axis: int,
        exclusive: bool = False,
        reverse: bool = False,
    ):
        super().__init__(
            [input],
            {
                "axis": int_attr(axis),
                "exclusive": flag_attr(exclusive),
                "reverse": flag_attr(reverse),
            },
        )

    def infer_types(self) -> Sequence[Attribute]:
        normalize_axis(self.axis.value.data, len(value_shape(self.input)))  # (C1)
        return (self.input.type,)


@irdl_op_definition
class TopKOp(GEOp):
    """The `k` greatest (or least) elements along `axis` and their places.

    Of equal elements the one with the lower place comes first. Without `sorted` the order is open;
    the reference semantics sort all the same.

    | operand or result   | shape                     | type        |
    | ------------------- | ------------------------- | ----------- |
    | `input`             | rank 1 or more            | numbers `T` |
    | `values`, `indices` | of `input`, `axis` at `k` | `T`, i64    |

    Constraints:
    - (C1) `input` has rank 1 or more, and `axis` is in `[-rank, rank)`.
    - (C2) `k` is between 0 and the size of `axis`.

    Example:
    ```mlir
    %v, %i = ge.top_k %x k 3 axis -1 largest sorted
      : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
    ```
    """

    name = "ge.top_k"
    GE_TYPE: ClassVar = "TopKD"
    GE_OUTPUTS: ClassVar = ("values", "indices")

    input = operand_def(RankedTensor)
    k = prop_def(I64Attr)
    axis = prop_def(I64Attr)
    largest = opt_prop_def(UnitAttr)
    sorted = opt_prop_def(UnitAttr)
    values = result_def(RankedTensor)
    indices = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `k` $k `axis` $axis (`largest` $largest^)? (`sorted` $sorted^)?"
        " attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        k: int,
        axis: int = -1,
        largest: bool = True,
        sorted: bool = True,
    ):
        super().__init__(
            [input],
            {
                "k": int_attr(k),
                "axis": int_attr(axis),
                "largest": flag_attr(largest),
                "sorted": flag_attr(sorted),
            },
            num_results=2,
        )

    def infer_types(self) -> Sequence[Attribute]:
        shape = expect_min_rank(self.input, 1, "input")  # (C1)
        axis = normalize_axis(self.axis.value.data, len(shape))
        k, size = self.k.value.data, shape[axis]
        if k < 0 or (isinstance(size, int) and k > size):  # (C2)
            raise VerifyException(f"expected 'k' between 0 and the {size} of axis {axis}, got {k}")
        found = (*shape[:axis], k, *shape[axis + 1 :])
        return tensor_type(tensor_of(self.input).element_type, found), tensor_type(i64, found)

    def flops(self) -> int:
        return num_elements(self.input.type) or 0
