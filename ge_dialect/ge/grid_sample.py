"""Sampling at places that a grid gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
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

from ge_dialect.ge.base import GEOp, expect_float, flag_attr
from ge_dialect.ge.dims import expect_dim, merge_dims
from ge_dialect.ge.types import (
    RankedTensor,
    num_elements,
    show_shape,
    tensor_of,
    tensor_type,
    value_shape,
)

MODES = ("nearest", "linear", "cubic")
PADDING_MODES = ("zeros", "border", "reflection")


@irdl_op_definition
class GridSampleOp(GEOp):
    """Elements of `input` at the places that `grid` gives, as ONNX `GridSample`.

    | operand or result | shape               | type   |
    | ----------------- | ------------------- | ------ |
    | `input`           | `[N, C, D1...Dr]`   | any `T` |
    | `grid`            | `[N, E1...Er, r]`   | floats |
    | `result`          | `[N, C, E1...Er]`   | `T`    |

    The last dimension of `grid` is a place in reversed order of dimensions, between -1 and 1: these
    are the centres of the first and last element with `align_corners`, else their outer edges. A
    place takes the element `nearest` to it (halves go to the even one), or the `linear`
    interpolation of its neighbours, or the `cubic` one of the coefficient -0.75. Outside of `input`
    there are `zeros`, the elements at the `border`, or it is mirrored (`reflection`), at the
    centres of the outermost elements with `align_corners`, else at their edges.

    Constraints:
    - (C1) `grid` holds floats, and `input` too where the mode is not `nearest`.
    - (C2) `input` and `grid` have one rank of 3 or more, and agree in N; the last dimension of
      `grid` is that rank less 2.
    - (C3) Modes are those above; `cubic` is for two dimensions.

    Source: ONNX `GridSample`, version 20; Jaderberg et al., "Spatial Transformer Networks" (2015),
    equations 3 to 5; Keys, "Cubic Convolution Interpolation for Digital Image Processing" (1981).

    Example:
    ```mlir
    %y = ge.grid_sample %x, %g mode "linear" padding "zeros"
      : (tensor<1x3x8x8xf32>, tensor<1x4x4x2xf32>) -> tensor<1x3x4x4xf32>
    ```
    """

    name = "ge.grid_sample"
    GE_TYPE: ClassVar = "GridSampler2D"
    GE_INPUTS: ClassVar = ("x", "grid")

    input = operand_def(RankedTensor)
    grid = operand_def(RankedTensor)
    mode = prop_def(StringAttr)
    padding_mode = prop_def(StringAttr)
    align_corners = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $grid `mode` $mode `padding` $padding_mode (`align_corners` $align_corners^)?"
        " attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        grid: SSAValue | Operation,
        *,
        mode: str = "linear",
        padding_mode: str = "zeros",
        align_corners: bool = False,
    ):
        super().__init__(
            [input, grid],
            {
                "mode": StringAttr(mode),
                "padding_mode": StringAttr(padding_mode),
                "align_corners": flag_attr(align_corners),
            },
        )

    def ge_op_type(self) -> str:
        return "GridSampler3D" if len(value_shape(self.input)) == 5 else self.GE_TYPE

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.grid, "grid")
        if self.mode.data != "nearest":
            expect_float(self.input, "input")  # (C1)
        shape, grid = value_shape(self.input), value_shape(self.grid)
        rank = len(shape)
        if rank < 3 or len(grid) != rank:  # (C2)
            raise VerifyException(
                "expected 'grid' [N, E..., r] for 'input' [N, C, D...] of r dimensions D,"
                f" got {show_shape(grid)} for {show_shape(shape)}"
            )
        expect_dim(grid[-1], rank - 2, "the last dimension of 'grid'")
        for name, attr, known in (  # (C3)
            ("mode", self.mode, MODES),
            ("padding_mode", self.padding_mode, PADDING_MODES),
        ):
            if attr.data not in known:
                text = f"expected '{name}' to be one of {', '.join(known)}, got {attr.data}"
                raise VerifyException(text)
        if self.mode.data == "cubic" and rank != 4:
            raise VerifyException(f"expected two dimensions for 'cubic', got {rank - 2}")
        batch = merge_dims(shape[0], grid[0], "N of 'input' and 'grid'")
        result = (batch, shape[1], *grid[1:-1])
        return (tensor_type(tensor_of(self.input).element_type, result),)

    def flops(self) -> int:
        """Multiplies and adds of each neighbour; that of places is left out."""
        taps = {"nearest": 0, "linear": 2, "cubic": 4}[self.mode.data]
        neighbours = taps ** (len(value_shape(self.input)) - 2)
        return 2 * neighbours * (num_elements(self.result.type) or 0)
