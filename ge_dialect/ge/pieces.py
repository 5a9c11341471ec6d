"""Parts of tensors: put together, taken apart, cut out and padded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    I64ArrayAttr,
    I64Attr,
    int_attr,
    ints_attr,
    same_element_types,
)
from ge_dialect.ge.dims import expect_dim, merge_dims
from ge_dialect.ge.extents import slice_size, sum_dims
from ge_dialect.ge.movement import MovementOp
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    normalize_axes,
    normalize_axis,
    show_shape,
    tensor_of,
    tensor_type,
    value_shape,
)


@irdl_op_definition
class ConcatOp(MovementOp):
    """The operands one after the other along `axis`.

    Constraints:
    - (C1) There is one operand or more, all of one element type and one rank.
    - (C2) `axis` is in `[-rank, rank)`.
    - (C3) The other dimensions are equal.

    Example:
    ```mlir
    %z = ge.concat %x, %y axis 0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    ```
    """

    name = "ge.concat"
    GE_TYPE: ClassVar = "ConcatD"

    inputs = var_operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$inputs `axis` $axis attr-dict `:` functional-type(operands, results)"

    def __init__(self, inputs: Sequence[SSAValue | Operation], axis: int):
        super().__init__([list(inputs)], {"axis": int_attr(axis)})

    @property
    def dimension(self) -> int:
        """`axis` counted from the front."""
        return normalize_axis(self.axis.value.data, len(value_shape(self.inputs[0])))

    def infer_types(self) -> Sequence[Attribute]:
        if not self.inputs:  # (C1)
            raise VerifyException("expected 'inputs' of one operand or more, got none")
        element_type = same_element_types(*self.inputs)
        shapes = [value_shape(value) for value in self.inputs]
        if any(len(shape) != len(shapes[0]) for shape in shapes):
            shown = ", ".join(show_shape(shape) for shape in shapes)
            raise VerifyException(f"expected 'inputs' of one rank, got {shown}")
        axis = self.dimension  # (C2)
        joined = list(shapes[0])
        for shape in shapes[1:]:
            joined = [
                merge_dims(a, b, f"dimension {i} of 'inputs'") if i != axis else None  # (C3)
                for i, (a, b) in enumerate(zip(joined, shape, strict=True))
            ]
        joined[axis] = sum_dims([shape[axis] for shape in shapes])
        return (tensor_type(element_type, tuple(joined)),)


@irdl_op_definition
class SplitOp(MovementOp):
    """Pieces of `input` of the given sizes along `axis`.

    Constraints:
    - (C1) `axis` is in `[-rank, rank)`.
    - (C2) There is a size, not negative, for each result.
    - (C3) The sizes add up to the dimension.

    Example:
    ```mlir
    %a, %b = ge.split %x axis 1 sizes [1, 3] : (tensor<2x4xf32>)
        -> (tensor<2x1xf32>, tensor<2x3xf32>)
    ```
    """

    name = "ge.split"
    GE_TYPE: ClassVar = "SplitVD"

    input = operand_def(RankedTensor)
    axis = prop_def(I64Attr)
    sizes = prop_def(I64ArrayAttr)
    pieces = var_result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `axis` $axis `sizes` $sizes attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue | Operation, axis: int, sizes: Sequence[int]):
        super().__init__(
            [input],
            {"axis": int_attr(axis), "sizes": ints_attr(sizes)},
            num_results=len(sizes),
        )

    @property
    def dimension(self) -> int:
        """`axis` counted from the front."""
        return normalize_axis(self.axis.value.data, len(value_shape(self.input)))

    def infer_types(self) -> Sequence[Attribute]:
        shape, sizes = value_shape(self.input), self.sizes.get_values()
        axis = self.dimension  # (C1)
        if len(sizes) != len(self.pieces) or min(sizes, default=0) < 0:  # (C2)
            raise VerifyException(
                f"expected 'sizes' of {len(self.pieces)} numbers, none negative, got {list(sizes)}"
            )
        expect_dim(shape[axis], sum(sizes), f"dimension {axis} of 'input'")  # (C3)
        element_type = tensor_of(self.input).element_type
        return [
            tensor_type(element_type, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes
        ]


@irdl_op_definition
class SliceOp(MovementOp):
    """`input[start:end:step]` along each of `axes`, as ONNX `Slice`.

    Starts and ends that are negative count from the back; both are then clamped: for positive
    steps to `[0, size]`, for negative ones starts to `[0, size - 1]` and ends to `[-1, size - 1]`.

    Constraints:
    - (C1) `starts`, `ends`, `axes` and `steps` have one length.
    - (C2) `axes` are in `[-rank, rank)`, none twice.
    - (C3) No step is 0.

    Example:
    ```mlir
    %y = ge.slice %x starts [1] ends [9] axes [0] steps [2] : (tensor<8x4xf32>) -> tensor<4x4xf32>
    ```
    """

    name = "ge.slice"
    GE_TYPE: ClassVar = "StridedSliceD"

    input = operand_def(RankedTensor)
    starts = prop_def(I64ArrayAttr)
    ends = prop_def(I64ArrayAttr)
    axes = prop_def(I64ArrayAttr)
    steps = prop_def(I64ArrayAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `starts` $starts `ends` $ends `axes` $axes `steps` $steps attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        starts: Sequence[int],
        ends: Sequence[int],
        axes: Sequence[int] | None = None,
        steps: Sequence[int] | None = None,
    ):
        super().__init__(
            [input],
            {
                "starts": ints_attr(starts),
                "ends": ints_attr(ends),
                "axes": ints_attr(range(len(starts)) if axes is None else axes),
                "steps": ints_attr([1] * len(starts) if steps is None else steps),
            },
        )

    def spans(self) -> list[tuple[int, int, int, int]]:
        """Returns (axis, start, end, step) of each sliced axis, the axis counted from the front.

        Raises:
            VerifyException: The properties contradict each other or the operand.
        """
        lists = [self.starts, self.axes, self.ends, self.steps]
        starts, axes, ends, steps = (list(values.get_values()) for values in lists)
        lengths = [len(starts), len(ends), len(axes), len(steps)]
        if len(set(lengths)) != 1:  # (C1)
            raise VerifyException(
                f"expected 'starts', 'ends', 'axes' and 'steps' of one length, got {lengths}"
            )
        if 0 in steps:  # (C3)
            raise VerifyException("expected 'steps' other than 0, got 0")
        normal = normalize_axes(axes, len(value_shape(self.input)))  # (C2)
        return list(zip(normal, starts, ends, steps, strict=True))

    def infer_types(self) -> Sequence[Attribute]:
        shape: list[MaybeDim] = list(value_shape(self.input))
        for axis, start, end, step in self.spans():
            shape[axis] = slice_size(shape[axis], start, end, step)
        return (tensor_type(tensor_of(self.input).element_type, tuple(shape)),)

    def view_of(self) -> int | None:
        # Every step is +1 and nothing is cut off: bytes stay. A reversal has the same shape.
        unit = all(step == 1 for step in self.steps.get_values())
        shape = value_shape(self.input)
        return 0 if unit and None not in shape and shape == value_shape(self.result) else None


@irdl_op_definition
class PadOp(MovementOp):
    """`input` with elements added at both ends of dimensions, or cut off by negative pads.

    `pads` holds the begins of all dimensions, then all ends. `mode`: `constant` adds `value` (zero
    without one), `reflect` mirrors without the edge, `edge` repeats the edge, `wrap` goes around.

    Constraints:
    - (C1) There are two pads for each dimension.
    - (C2) `mode` is one of the four.
    - (C3) `value` is a scalar of the element type of `input`, and only for `constant`.
    - (C4) No result dimension is negative; an empty one grows by `constant` only.

    Example:
    ```mlir
    %y = ge.pad %x pads [0, 1, 0, 1] mode "edge" : (tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
    """

    name = "ge.pad"
    GE_TYPE: ClassVar = "PadV3D"
    GE_INPUTS: ClassVar = ("x", "constant_values")

    input = operand_def(RankedTensor)
    value = opt_operand_def(RankedTensor)
    pads = prop_def(I64ArrayAttr)
    mode = prop_def(StringAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input (`value` $value^)? `pads` $pads `mode` $mode attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        pads: Sequence[int],
        mode: str = "constant",
        value: SSAValue | Operation | None = None,
    ):
        super().__init__([input, value], {"pads": ints_attr(pads), "mode": StringAttr(mode)})

    def widths(self) -> list[tuple[int, int]]:
        """Returns (begin, end) of each dimension.

        Raises:
            VerifyException: There are not two pads for each dimension.
        """
        pads, rank = list(self.pads.get_values()), len(value_shape(self.input))
        if len(pads) != 2 * rank:  # (C1)
            raise VerifyException(f"expected 'pads' of {2 * rank} numbers, got {len(pads)}")
        return list(zip(pads[:rank], pads[rank:], strict=True))

    def infer_types(self) -> Sequence[Attribute]:
        widths, mode = self.widths(), self.mode.data
        if mode not in _PAD_MODES:  # (C2)
            raise VerifyException(
                f"expected 'mode' to be one of {', '.join(_PAD_MODES)}, got {mode}"
            )
        if self.value is not None:  # (C3)
            same_element_types(self.input, self.value)
            if mode != "constant" or value_shape(self.value) not in ((), (1,)):
                raise VerifyException(
                    f"expected 'value' to be a scalar for mode constant, got {self.value.type}"
                    f" for mode {mode}"
                )
        padded: list[MaybeDim] = []
        for i, (dim, ends) in enumerate(zip(value_shape(self.input), widths, strict=True)):
            size = sum_dims([dim, *ends])
            negative = isinstance(size, int) and size < 0
            if negative or (dim == 0 and size != 0 and mode != "constant"):  # (C4)
                raise VerifyException(
                    f"expected 'pads' that dimension {i} of {dim} can take, got {list(ends)}"
                )
            padded.append(size)
        return (tensor_type(tensor_of(self.input).element_type, tuple(padded)),)


_PAD_MODES = ("constant", "reflect", "edge", "wrap")
