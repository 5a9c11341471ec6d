"""Quantisation: between floats and scaled integers or narrow floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerType,
    Signedness,
    UnitAttr,
    f32,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
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
    I64Attr,
    expect_float,
    expect_rank,
    flag_attr,
    int_attr,
)
from ge_dialect.ge.dims import expect_dim, map_dim
from ge_dialect.ge.dtypes import dtype_of, is_float, is_integer
from ge_dialect.ge.types import (
    RankedTensor,
    Shape,
    normalize_axis,
    show_shape,
    tensor_of,
    tensor_type,
    value_shape,
)
from ge_dialect.symbols import ceil_div

_UI8 = IntegerType(8, Signedness.UNSIGNED)


class ScaledOp(GEOp):
    """An op with a scale and perhaps a zero point: one for all elements (a scalar or one element),
    one for each place along `axis`, or with `block_size` one for that many places.

    In blocks `scale` has the rank of `input` and the dimension of `axis` divided by `block_size`,
    rounded up. `axis` means nothing where there is one scale for all.
    """

    GE_INPUTS: ClassVar = ("x", "scale", "offset")
    FUSION_KIND: ClassVar = FusionKind.ELEMENTWISE

    input = operand_def(RankedTensor)
    scale = operand_def(RankedTensor)
    zero_point = opt_operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    block_size = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $scale (`zero_point` $zero_point^)? `axis` $axis `block_size` $block_size"
        " attr-dict `:` functional-type(operands, results)"
    )

    def check_scale(self) -> None:
        """Checks the shapes of scale and zero point.

        Raises:
            VerifyException: They do not fit the input and the properties.
        """
        expect_float(self.scale, "scale")
        shape, scale = value_shape(self.input), value_shape(self.scale)
        block = self.block_size.value.data
        if block < 0:
            raise VerifyException(f"expected 'block_size' of 0 or more, got {block}")
        if block:
            self._check_blocks(shape, scale, block)
        elif scale and isinstance(size := expect_rank(self.scale, 1, "scale")[0], int) and size > 1:
            axis = normalize_axis(self.axis.value.data, len(shape))
            expect_dim(size, shape[axis], "'scale'")
        if self.zero_point is not None:
            _expect_shape_of_scale(value_shape(self.zero_point), scale)

    def _check_blocks(self, shape: Shape, scale: Shape, block: int) -> None:
        axis = normalize_axis(self.axis.value.data, len(shape))
        expect_rank(self.scale, len(shape), "scale")
        for i, (found, dim) in enumerate(zip(scale, shape, strict=True)):
            wanted = map_dim(dim, lambda size: ceil_div(size, block)) if i == axis else dim
            expect_dim(found, wanted, f"dimension {i} of 'scale'")


def _expect_shape_of_scale(found: Shape, scale: Shape) -> None:
    same = len(found) == len(scale) and all(
        mine == wanted or not isinstance(mine, int) or not isinstance(wanted, int)
        for mine, wanted in zip(found, scale, strict=True)
    )
    if not same:
        raise VerifyException(
            f"expected 'zero_point' of shape {show_shape(scale)}, got {show_shape(found)}"
        )


def _expect_quantized(element_type: Attribute, name: str) -> None:
    if not is_integer(element_type) and not is_float(element_type):
        raise VerifyException(f"expected '{name}' of integers or narrow floats, got {element_type}")


@irdl_op_definition
class QuantizeLinearOp(ScaledOp):
    """`saturate(round(input / scale) + zero_point)`, halves to even; of narrow floats the nearest.

    The quotient is one of `precision`, else of the type of `scale` (of f32 where that is narrower
    than 16 bits), and `input` is rounded to that type first. With `unsaturated`, what is beyond the
    range of an 8-bit float becomes its infinity or NaN instead of its largest value.

    | operand or result | shape                             | type                       |
    | ----------------- | --------------------------------- | -------------------------- |
    | `input`           | any                               | floats, i32                |
    | `scale`           | one, one a place, or one a block  | floats                     |
    | `zero_point`      | of `scale`                        | `Q`, 0 where absent        |
    | `result`          | of `input`                        | `Q`: integers, narrow floats |

    Constraints:
    - (C1) `input` holds floats or i32, `scale` floats, the result integers or narrow floats.
    - (C2) `zero_point` has the element type of the result and the shape of `scale`.
    - (C3) `scale` has one element, or one a place along `axis`, or with `block_size` one a block.
    - (C4) `unsaturated` is for results of 8-bit floats.

    Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient
    Integer-Arithmetic-Only Inference" (2017), equation 1.

    Example:
    ```mlir
    %y = ge.quantize_linear %x, %s zero_point %z axis 1 block_size 0
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xi8>) -> tensor<4x8xi8>
    ```
    """

    name = "ge.quantize_linear"
    GE_TYPE: ClassVar = "AscendQuantV2"

    precision = opt_prop_def(Float16Type | BFloat16Type | Float32Type)
    unsaturated = opt_prop_def(UnitAttr)

    assembly_format = (
        "$input `,` $scale (`zero_point` $zero_point^)? `axis` $axis `block_size` $block_size"
        " (`precision` $precision^)? (`unsaturated` $unsaturated^)?"
        " attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        scale: SSAValue | Operation,
        zero_point: SSAValue | Operation | None = None,
        *,
        axis: int = 1,
        block_size: int = 0,
        element_type: Attribute | None = None,
        precision: Attribute | None = None,
        unsaturated: bool = False,
    ):
        """Builds the op; the result has the type of `zero_point`, else `element_type`, else ui8."""
        if zero_point is not None:
            element_type = tensor_of(SSAValue.get(zero_point)).element_type
        type_ = tensor_type(element_type or _UI8, value_shape(SSAValue.get(input)))
        super().__init__(
            [input, scale, zero_point],
            {
                "axis": int_attr(axis),
                "block_size": int_attr(block_size),
                "precision": precision,
                "unsaturated": flag_attr(unsaturated),
            },
            result_types=[type_],
        )

    def infer_types(self) -> Sequence[Attribute]:
        if tensor_of(self.input).element_type != i32:
            expect_float(self.input, "input")  # (C1)
        element_type = tensor_of(self.result).element_type
        if self.zero_point is not None:
            element_type = tensor_of(self.zero_point).element_type  # (C2)
        _expect_quantized(element_type, "result")
        self.check_scale()  # (C3)
        if self.unsaturated and not _is_byte_float(element_type):  # (C4)
            raise VerifyException(f"expected 'result' of 8-bit floats, got {element_type}")
        return (tensor_type(element_type, value_shape(self.input)),)


def _is_byte_float(element_type: Attribute) -> bool:
    return is_float(element_type) and dtype_of(element_type).bits == 8


@irdl_op_definition
class DequantizeLinearOp(ScaledOp):
    """`(input - zero_point) * scale`, computed in f32 and rounded once.

    | operand or result | shape                            | type                         |
    | ----------------- | -------------------------------- | ---------------------------- |
    | `input`           | any                              | `Q`: integers, narrow floats |
    | `scale`           | one, one a place, or one a block | floats                       |
    | `zero_point`      | of `scale`                       | `Q`, 0 where absent          |
    | `result`          | of `input`                       | floats, those of `scale` by default |

    Constraints:
    - (C1) `input` holds integers or narrow floats, `scale` and the result floats.
    - (C2) `zero_point` has the element type of `input` and the shape of `scale`.
    - (C3) `scale` has one element, or one a place along `axis`, or with `block_size` one a block.

    Source: as `ge.quantize_linear`.

    Example:
    ```mlir
    %y = ge.dequantize_linear %x, %s zero_point %z axis 1 block_size 0
      : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
    ```
    """

    name = "ge.dequantize_linear"
    GE_TYPE: ClassVar = "AscendAntiQuantV2"

    def __init__(
        self,
        input: SSAValue | Operation,
        scale: SSAValue | Operation,
        zero_point: SSAValue | Operation | None = None,
        *,
        axis: int = 1,
        block_size: int = 0,
        element_type: Attribute | None = None,
    ):
        """Builds the op; the result has the type of `scale`, or `element_type`."""
        element_type = element_type or tensor_of(SSAValue.get(scale)).element_type
        super().__init__(
            [input, scale, zero_point],
            {"axis": int_attr(axis), "block_size": int_attr(block_size)},
            result_types=[tensor_type(element_type, value_shape(SSAValue.get(input)))],
        )
        self.refine_types()  # it was given its type, and has checked nothing yet

    def infer_types(self) -> Sequence[Attribute]:
        element_type = tensor_of(self.input).element_type
        _expect_quantized(element_type, "input")  # (C1)
        self.check_scale()  # (C3)
        if self.zero_point is not None:
            found = tensor_of(self.zero_point).element_type
            if found != element_type:  # (C2)
                raise VerifyException(f"expected 'zero_point' of {element_type}, got {found}")
        expect_float(self.result, "result")
        return (tensor_type(tensor_of(self.result).element_type, value_shape(self.input)),)


@irdl_op_definition
class DynamicQuantizeLinearOp(GEOp):
    """Quantises to ui8 by the smallest range that holds all elements and 0.

    `scale = (max - min) / 255`, `zero_point = round(saturate(-min / scale))`,
    `result = saturate(round(input / scale) + zero_point)`, halves to even.

    | operand or result | shape      | type |
    | ----------------- | ---------- | ---- |
    | `input`           | any        | f32  |
    | `result`          | of `input` | ui8  |
    | `scale`           | `[]`       | f32  |
    | `zero_point`      | `[]`       | ui8  |

    Constraints:
    - (C1) `input` holds f32.

    Source: ONNX `DynamicQuantizeLinear`, version 11.

    Example:
    ```mlir
    %y, %s, %z = ge.dynamic_quantize_linear %x
      : (tensor<4x8xf32>) -> (tensor<4x8xui8>, tensor<f32>, tensor<ui8>)
    ```
    """

    name = "ge.dynamic_quantize_linear"
    GE_TYPE: ClassVar = "DynamicQuantV2"
    GE_OUTPUTS: ClassVar = ("y", "scale", "offset")
    FUSION_KIND: ClassVar = FusionKind.REDUCTION

    input = operand_def(RankedTensor)
    result = result_def(RankedTensor)
    scale = result_def(RankedTensor)
    zero_point = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation):
        super().__init__([input], num_results=3)

    def infer_types(self) -> Sequence[Attribute]:
        found = tensor_of(self.input).element_type
        if found != f32:  # (C1)
            raise VerifyException(f"expected 'input' of f32, got {found}")
        shape = value_shape(self.input)
        return tensor_type(_UI8, shape), tensor_type(f32, ()), tensor_type(_UI8, ())
