"""Ops that write elements at indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    FusionKind,
    GEOp,
    I64Attr,
    expect_integer,
    expect_min_rank,
    int_attr,
    same_element_types,
)
from ge_dialect.ge.indexing import expect_elements, expect_shape, row_length
from ge_dialect.ge.types import RankedTensor, num_elements, value_shape

REDUCTIONS = ("none", "add", "mul", "min", "max")


class ScatterOp(GEOp):
    """Copies `input` and changes elements: they become the updates, or are combined with them.

    `reduction`: `none` replaces, where of two updates of one element the last one holds; `add`,
    `mul`, `min` and `max` combine the element and all of its updates.
    """

    GE_INPUTS: ClassVar = ("x", "indices", "updates")
    FUSION_KIND: ClassVar = FusionKind.MOVEMENT

    input = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    updates = operand_def(RankedTensor)
    reduction = prop_def(StringAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        return ((0, 0),) if self.input.type == self.result.type else ()

    def flops(self) -> int:
        return 0 if self.reduction.data == "none" else num_elements(self.updates.type) or 0

    def check_values(self) -> None:
        """Checks element types and the reduction.

        Raises:
            VerifyException: They do not fit.
        """
        same_element_types(self.input, self.updates)
        expect_integer(self.indices, "indices")
        if (found := self.reduction.data) not in REDUCTIONS:
            raise VerifyException(
                f"expected 'reduction' to be one of {', '.join(REDUCTIONS)}, got {found}"
            )


@irdl_op_definition
class ScatterNdOp(ScatterOp):
    """`input` with the slices that the rows of `indices` name changed by `updates`.

    | operand or result | shape              |
    | ----------------- | ------------------ |
    | `input`, `result` | `[D...]`           |
    | `indices`         | `[I..., K]`        |
    | `updates`         | `[I..., D[K:]...]` |

    Negative indices count from the back.

    Constraints:
    - (C1) `input` and `updates` have one element type, `indices` integers.
    - (C2) `reduction` is `none`, `add`, `mul`, `min` or `max`.
    - (C3) K is static, at least 1 and at most the rank of `input`.
    - (C4) `updates` has the shape above.

    Example:
    ```mlir
    %y = ge.scatter_nd %x, %i, %u reduction "none"
        : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
    ```
    """

    name = "ge.scatter_nd"
    GE_TYPE: ClassVar = "TensorScatterUpdate"

    assembly_format = (
        "$input `,` $indices `,` $updates `reduction` $reduction attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        indices: SSAValue | Operation,
        updates: SSAValue | Operation,
        reduction: str = "none",
    ):
        super().__init__([input, indices, updates], {"reduction": StringAttr(reduction)})

    def ge_op_type(self) -> str:
        reduction = self.reduction.data
        return self.GE_TYPE if reduction == "none" else f"TensorScatter{reduction.capitalize()}"

    def infer_types(self) -> Sequence[Attribute]:
        self.check_values()  # (C1) (C2)
        shape, index_shape = value_shape(self.input), expect_min_rank(self.indices, 1, "indices")
        depth = row_length(index_shape, len(shape))  # (C3)
        expect_shape(self.updates, (*index_shape[:-1], *shape[depth:]), "updates")  # (C4)
        return (self.input.type,)


@irdl_op_definition
class ScatterElementsOp(ScatterOp):
    """`input` with the element at each index along `axis`, else in place, changed by `updates`.

    Negative indices count from the back.

    Constraints:
    - (C1) `input` and `updates` have one element type, `indices` integers.
    - (C2) `reduction` is `none`, `add`, `mul`, `min` or `max`.
    - (C3) `input` and `indices` have one rank, 1 or more, and `axis` is in `[-rank, rank)`.
    - (C4) Dimensions of `indices` but `axis` are at most those of `input`.
    - (C5) `updates` has the shape of `indices`.

    Example:
    ```mlir
    %y = ge.scatter_elements %x, %i, %u axis 1 reduction "add"
        : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>
    ```
    """

    name = "ge.scatter_elements"
    GE_TYPE: ClassVar = "ScatterElements"
    GE_INPUTS: ClassVar = ("data", "indices", "updates")

    axis = prop_def(I64Attr)

    assembly_format = (
        "$input `,` $indices `,` $updates `axis` $axis `reduction` $reduction attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        indices: SSAValue | Operation,
        updates: SSAValue | Operation,
        axis: int = 0,
        reduction: str = "none",
    ):
        super().__init__(
            [input, indices, updates],
            {"axis": int_attr(axis), "reduction": StringAttr(reduction)},
        )

    def infer_types(self) -> Sequence[Attribute]:
        self.check_values()  # (C1) (C2)
        expect_elements(self.input, self.indices, self.axis.value.data)  # (C3) (C4)
        expect_shape(self.updates, value_shape(self.indices), "updates")  # (C5)
        return (self.input.type,)
