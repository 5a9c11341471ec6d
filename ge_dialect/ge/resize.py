"""Resampling."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, UnitAttr, f32
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

from ge_dialect.ge.base import F32Attr, GEOp, I64ArrayAttr, flag_attr, float_attr, ints_attr
from ge_dialect.ge.extents import scaled_size
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    num_elements,
    tensor_of,
    tensor_type,
    value_shape,
)

MODES = ("nearest", "linear", "cubic")
COORDINATE_MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
)
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")

F32ArrayAttr = DenseArrayBase.constr(equal_to(f32))


@irdl_op_definition
class ResizeOp(GEOp):
    """`input` sampled at another resolution, as ONNX `Resize` without antialiasing.

    Each axis in turn: element y of the result lies at place x of `input`, by
    `coordinate_transformation_mode` (`half_pixel`: `x = (y + 0.5) / scale - 0.5`), and is the
    element nearest to it (rounded by `nearest_mode`), the linear interpolation of two neighbours,
    or the cubic one of four with the coefficient `cubic_coeff_a`.

    `sizes` are the dimensions of the result; or else `scales`, of which the dimensions are
    `floor(input * scale)`. With `exclude_outside` neighbours outside `input` have no weight;
    otherwise the edge is repeated. `roi` (all begins, then all ends, as fractions of `input`) and
    `extrapolation_value` are those of `tf_crop_and_resize`.

    Constraints:
    - (C1) Either `sizes` or `scales` are given, one a dimension.
    - (C2) Sizes are positive where the dimension is not 0, scales positive and finite.
    - (C3) Modes are those of ONNX.
    - (C4) `roi` has two finite numbers a dimension, and comes with `tf_crop_and_resize`.

    Source: ONNX `Resize`, version 19; Keys, "Cubic Convolution Interpolation for Digital Image
    Processing" (1981).

    Example:
    ```mlir
    %y = ge.resize %x sizes [1, 3, 8, 8] mode "nearest" coordinates "asymmetric" nearest "floor"
        cubic_coeff_a -7.500000e-01 : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
    ```
    """

    name = "ge.resize"
    GE_TYPE: ClassVar = "ResizeD"

    input = operand_def(RankedTensor)
    sizes = opt_prop_def(I64ArrayAttr)
    scales = opt_prop_def(F32ArrayAttr)
    mode = prop_def(StringAttr)
    coordinate_transformation_mode = prop_def(StringAttr)
    nearest_mode = prop_def(StringAttr)
    cubic_coeff_a = prop_def(F32Attr)
    exclude_outside = opt_prop_def(UnitAttr)
    extrapolation_value = opt_prop_def(F32Attr)
    roi = opt_prop_def(F32ArrayAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input (`sizes` $sizes^)? (`scales` $scales^)? `mode` $mode"
        " `coordinates` $coordinate_transformation_mode `nearest` $nearest_mode"
        " `cubic_coeff_a` $cubic_coeff_a (`exclude_outside` $exclude_outside^)?"
        " (`extrapolation_value` $extrapolation_value^)? (`roi` $roi^)? attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        *,
        sizes: Sequence[int] | None = None,
        scales: Sequence[float] | None = None,
        mode: str = "nearest",
        coordinate_transformation_mode: str = "half_pixel",
        nearest_mode: str = "round_prefer_floor",
        cubic_coeff_a: float = -0.75,
        exclude_outside: bool = False,
        extrapolation_value: float = 0.0,
        roi: Sequence[float] | None = None,
    ):
        super().__init__(
            [input],
            {
                "sizes": None if sizes is None else ints_attr(sizes),
                "scales": None if scales is None else floats_attr(scales),
                "mode": StringAttr(mode),
                "coordinate_transformation_mode": StringAttr(coordinate_transformation_mode),
                "nearest_mode": StringAttr(nearest_mode),
                "cubic_coeff_a": float_attr(cubic_coeff_a),
                "exclude_outside": flag_attr(exclude_outside),
                "extrapolation_value": float_attr(extrapolation_value)
                if extrapolation_value
                else None,
                "roi": floats_attr(roi) if roi else None,
            },
        )

    def infer_types(self) -> Sequence[Attribute]:
        for name, attr, known in (  # (C3)
            ("mode", self.mode, MODES),
            (
                "coordinate_transformation_mode",
                self.coordinate_transformation_mode,
                COORDINATE_MODES,
            ),
            ("nearest_mode", self.nearest_mode, NEAREST_MODES),
        ):
            if attr.data not in known:
                raise VerifyException(
                    f"expected '{name}' to be one of {', '.join(known)}, got {attr.data}"
                )
        shape = self._resized()
        self._check_roi(len(shape))
        return (tensor_type(tensor_of(self.input).element_type, shape),)

    def _resized(self) -> tuple[MaybeDim, ...]:
        shape = value_shape(self.input)
        given = self.scales if self.sizes is None else self.sizes
        both = self.sizes is not None and self.scales is not None
        if given is None or both or len(given.get_values()) != len(shape):  # (C1)
            raise VerifyException(f"expected 'sizes' or 'scales', one of {len(shape)} numbers")
        if self.sizes is not None:
            sizes: tuple[int, ...] = self.sizes.get_values()
            pairs = list(zip(shape, sizes, strict=True))
            if any(size < 0 or (size == 0) != (dim == 0) for dim, size in pairs if dim is not None):
                raise VerifyException(f"expected 'sizes' > 0, got {list(sizes)}")  # (C2)
            return sizes
        scales: tuple[float, ...] = given.get_values()
        if not all(0 < scale < inf for scale in scales):  # (C2)
            raise VerifyException(f"expected finite 'scales' > 0, got {list(scales)}")
        return tuple(scaled_size(dim, scale) for dim, scale in zip(shape, scales, strict=True))

    def _check_roi(self, rank: int) -> None:
        if self.roi is None:
            return
        numbers: tuple[float, ...] = self.roi.get_values()
        crop = self.coordinate_transformation_mode.data == "tf_crop_and_resize"
        if not crop or len(numbers) != 2 * rank or not all(map(isfinite, numbers)):  # (C4)
            raise VerifyException(
                f"expected 'roi' of {2 * rank} finite numbers with tf_crop_and_resize,"
                f" got {list(numbers)}"
            )

    def flops(self) -> int:
        taps = {"nearest": 0, "linear": 2, "cubic": 4}[self.mode.data]
        shape = zip(value_shape(self.input), value_shape(self.result), strict=True)
        resized = sum(before != after for before, after in shape)
        # Each resized axis is a pass of its own: multiply and add for each neighbour.
        return 2 * taps * resized * (num_elements(self.result.type) or 0)


def floats_attr(values: Sequence[float]) -> DenseArrayBase:
    """Returns an `array<f32: ...>` property, each number rounded to f32."""
    return DenseArrayBase.from_list(f32, list(values))
