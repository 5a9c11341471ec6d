"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
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
    GEOp,
    I64Attr,
    expect_float,
    expect_rank,
    flag_attr,
    int_attr,
    same_element_types,
)
from ge_dialect.ge.dims import expect_dim, window_size
from ge_dialect.ge.types import RankedTensor, num_elements, tensor_type, value_shape


@irdl_op_definition
class StftOp(GEOp):
    """Short-time Fourier transform: of each frame, times the window, its discrete transform.

    `result[b, f, k] = sum_n signal[b, f * frame_step + n] * window[n] * exp(-2i pi k n / N)` with
    N = `frame_length`, real and imaginary part in the last dimension. The window is 1 where absent.

    | operand or result | shape                                 | type       |
    | ----------------- | ------------------------------------- | ---------- |
    | `signal`          | `[B, L]`, `[B, L, 1]` or, complex, `[B, L, 2]` | floats `T` |
    | `window`          | `[N]`                                 | `T`        |
    | `result`          | `[B, (L - N) / frame_step + 1, K, 2]` | `T`        |

    K is N, or with `onesided` N / 2 + 1, rounded down.

    Constraints:
    - (C1) All operands hold floats of one element type.
    - (C2) `signal` has rank 2, or rank 3 and 1 or 2 as its last dimension.
    - (C3) `frame_step` and `frame_length` are 1 or more, and a frame is no longer than the signal.
    - (C4) `window` has rank 1 and `frame_length` elements.
    - (C5) `onesided` comes with a real signal.

    Source: Allen, Rabiner, "A Unified Approach to Short-Time Fourier Analysis" (1977), equation 1;
    ONNX `STFT`, version 17.

    Example:
    ```mlir
    %y = ge.stft %x window %w frame_step 4 frame_length 16 onesided
      : (tensor<1x128xf32>, tensor<16xf32>) -> tensor<1x29x9x2xf32>
    ```
    """

    name = "ge.stft"
    GE_TYPE: ClassVar = "STFT"
    GE_INPUTS: ClassVar = ("x", "window")

    signal = operand_def(RankedTensor)
    window = opt_operand_def(RankedTensor)
    frame_step = prop_def(I64Attr)
    frame_length = prop_def(I64Attr)
    onesided = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$signal (`window` $window^)? `frame_step` $frame_step `frame_length` $frame_length"
        " (`onesided` $onesided^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        signal: SSAValue | Operation,
        window: SSAValue | Operation | None = None,
        *,
        frame_step: int,
        frame_length: int,
        onesided: bool = True,
    ):
        super().__init__(
            [signal, window],
            {
                "frame_step": int_attr(frame_step),
                "frame_length": int_attr(frame_length),
                "onesided": flag_attr(onesided),
            },
        )

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.signal, "signal")
        given = [value for value in (self.signal, self.window) if value is not None]
        element_type = same_element_types(*given)  # (C1)
        shape = value_shape(self.signal)
        if len(shape) != 2:
            last = expect_rank(self.signal, 3, "signal")[2]
            if isinstance(last, int) and last not in (1, 2):  # (C2)
                raise VerifyException(f"expected 'signal' of 1 or 2 parts, got {last}")
            if self.onesided is not None and last == 2:  # (C5)
                raise VerifyException("expected a real 'signal' with 'onesided', got a complex one")
        step, length = self.frame_step.value.data, self.frame_length.value.data
        if step < 1 or length < 1:  # (C3)
            raise VerifyException(
                f"expected a step and a length of 1 or more, got {step}, {length}"
            )
        frames = window_size(shape[1], length, stride=step)
        if self.window is not None:  # (C4)
            expect_dim(expect_rank(self.window, 1, "window")[0], length, "'window'")
        bins = length // 2 + 1 if self.onesided is not None else length
        return (tensor_type(element_type, (shape[0], frames, bins, 2)),)

    def flops(self) -> int:
        """The window, and 5 N log2 N for each frame, as fast transforms are counted."""
        shape = value_shape(self.result)
        length = self.frame_length.value.data
        if num_elements(self.result.type) is None:
            return 0
        frames = [dim for dim in shape[:2] if isinstance(dim, int)]
        return frames[0] * frames[1] * (length + int(5 * length * log2(length)))
