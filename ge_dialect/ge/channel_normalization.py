"""Normalisations of images `[N, C, ...]` with a scale and a shift for each channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    F32Attr,
    FusionKind,
    GEOp,
    I64Attr,
    expect_min_rank,
    expect_rank,
    float_attr,
    int_attr,
)
from ge_dialect.ge.dims import expect_dim
from ge_dialect.ge.normalization import NormalizationOp, expect_epsilon
from ge_dialect.ge.types import RankedTensor, value_shape


def _expect_per_channel(value: SSAValue, input: SSAValue, name: str) -> None:
    shape = value_shape(input)
    expect_dim(expect_rank(value, 1, name)[0], shape[1] if len(shape) > 1 else 1, f"'{name}'")


@irdl_op_definition
class GroupNormOp(NormalizationOp):
    """Normalises each of `num_groups` parts of the channels, then scales and shifts each channel.

    | operand or result | shape         | type       |
    | ----------------- | ------------- | ---------- |
    | `input`, `result` | `[N, C, ...]` | floats `T` |
    | `scale`, `bias`   | `[C]`         | `T`        |

    Constraints:
    - (C1) `input` holds floats, and all operands one element type.
    - (C2) `input` has rank 2 or more, `scale` and `bias` an element a channel.
    - (C3) C is a multiple of `num_groups`, which is 1 or more.
    - (C4) `epsilon` is 0 or more. In squared units of `input`.

    Source: Wu, He, "Group Normalization" (2018), equations 1 to 6.

    Example:
    ```mlir
    %y = ge.group_norm %x, %s, %b num_groups 2 epsilon 1.000000e-05
      : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
    ```
    """

    name = "ge.group_norm"
    GE_TYPE: ClassVar = "GroupNorm"
    GE_INPUTS: ClassVar = ("x", "gamma", "beta")

    input = operand_def(RankedTensor)
    scale = operand_def(RankedTensor)
    bias = operand_def(RankedTensor)
    num_groups = prop_def(I64Attr)
    epsilon = prop_def(F32Attr)

    assembly_format = (
        "$input `,` $scale `,` $bias `num_groups` $num_groups `epsilon` $epsilon attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        scale: SSAValue | Operation,
        bias: SSAValue | Operation,
        *,
        num_groups: int,
        epsilon: float = 1e-5,
    ):
        GEOp.__init__(
            self,
            [input, scale, bias],
            {"num_groups": int_attr(num_groups), "epsilon": float_attr(epsilon)},
        )

    def check_shapes(self) -> None:
        channels = expect_min_rank(self.input, 2, "input")[1]  # (C2)
        _expect_per_channel(self.scale, self.input, "scale")
        _expect_per_channel(self.bias, self.input, "bias")
        groups = self.num_groups.value.data
        if groups < 1 or (isinstance(channels, int) and channels % groups):  # (C3)
            raise VerifyException(f"expected 'num_groups' to divide {channels}, got {groups}")
        expect_epsilon(self.epsilon.value.data)  # (C4)


@irdl_op_definition
class InstanceNormOp(NormalizationOp):
    """Normalises each channel of each image, then scales and shifts it.

    Shapes and types as of `ge.group_norm`.

    Constraints:
    - (C1) `input` holds floats, and all operands one element type.
    - (C2) `input` has rank 3 or more, `scale` and `bias` an element a channel.
    - (C3) `epsilon` is 0 or more. In squared units of `input`.

    Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization" (2016), equation 1.

    Example:
    ```mlir
    %y = ge.instance_norm %x, %s, %b epsilon 1.000000e-05
      : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
    ```
    """

    name = "ge.instance_norm"
    GE_TYPE: ClassVar = "InstanceNorm"
    GE_INPUTS: ClassVar = ("x", "gamma", "beta")

    input = operand_def(RankedTensor)
    scale = operand_def(RankedTensor)
    bias = operand_def(RankedTensor)
    epsilon = prop_def(F32Attr)

    assembly_format = (
        "$input `,` $scale `,` $bias `epsilon` $epsilon attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        scale: SSAValue | Operation,
        bias: SSAValue | Operation,
        *,
        epsilon: float = 1e-5,
    ):
        GEOp.__init__(self, [input, scale, bias], {"epsilon": float_attr(epsilon)})

    def check_shapes(self) -> None:
        expect_min_rank(self.input, 3, "input")  # (C2)
        _expect_per_channel(self.scale, self.input, "scale")
        _expect_per_channel(self.bias, self.input, "bias")
        expect_epsilon(self.epsilon.value.data)  # (C3)


@irdl_op_definition
class BatchNormOp(NormalizationOp):
    """`(input - mean) / sqrt(variance + epsilon) * scale + bias`, with given statistics: inference.

    | operand or result                     | shape                | type       |
    | ------------------------------------- | -------------------- | ---------- |
    | `input`, `result`                     | `[N, C, ...]`, `[N]` | floats `T` |
    | `scale`, `bias`, `mean`, `variance`   | `[C]`, C of `[N]` is 1 | `T`      |

    Constraints:
    - (C1) `input` holds floats, and all operands one element type.
    - (C2) `input` has rank 1 or more, the others an element a channel.
    - (C3) `epsilon` is 0 or more. In squared units of `input`.

    Source: Ioffe, Szegedy, "Batch Normalization" (2015), algorithm 2.

    Example:
    ```mlir
    %y = ge.batch_norm %x, %s, %b, %m, %v epsilon 1.000000e-05
      : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> tensor<1x4x8xf32>
    ```
    """

    name = "ge.batch_norm"
    GE_TYPE: ClassVar = "BatchNorm"
    GE_INPUTS: ClassVar = ("x", "scale", "offset", "mean", "variance")
    FUSION_KIND: ClassVar = FusionKind.ELEMENTWISE
    FLOPS_PER_ELEMENT: ClassVar = 4

    input = operand_def(RankedTensor)
    scale = operand_def(RankedTensor)
    bias = operand_def(RankedTensor)
    mean = operand_def(RankedTensor)
    variance = operand_def(RankedTensor)
    epsilon = prop_def(F32Attr)

    assembly_format = (
        "$input `,` $scale `,` $bias `,` $mean `,` $variance `epsilon` $epsilon attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        scale: SSAValue | Operation,
        bias: SSAValue | Operation,
        mean: SSAValue | Operation,
        variance: SSAValue | Operation,
        *,
        epsilon: float = 1e-5,
    ):
        GEOp.__init__(self, [input, scale, bias, mean, variance], {"epsilon": float_attr(epsilon)})

    def check_shapes(self) -> None:
        expect_min_rank(self.input, 1, "input")  # (C2)
        for name in ("scale", "bias", "mean", "variance"):
            _expect_per_channel(getattr(self, name), self.input, name)
        expect_epsilon(self.epsilon.value.data)  # (C3)

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        return ((0, 0),)
