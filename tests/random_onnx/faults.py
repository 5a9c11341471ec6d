"""Where `onnx.reference` or `onnx.checker` cannot be the judge, and what is generated instead."""

from __future__ import annotations

FAULTS: dict[str, str] = {
    "AveragePool, LpPool, MaxPool": "with `auto_pad`, dilations are not counted, `ceil_mode` is"
    " refused and a stride beyond the window fails: neither is combined with `auto_pad`;"
    " `ceil_mode` shifts the image where a window reaches more than 1 beyond it, and what a window"
    " that starts in the padding is differs between opsets: neither happens",
    "BatchNormalization": "trains before opset 14, which says the same for inference: evaluated"
    " there",
    "ConvTranspose": "of groups, only depthwise ones without bias come out in order; `output_shape`"
    " has to be accompanied by an `auto_pad`, for which no stride is"
    " beyond the window; the checker loses the shape where `output_shape` is less than the image:"
    " it never is",
    "DequantizeLinear": "has no implementation before opset 19, which says the same: evaluated"
    " there",
    "Erf, HardSwish, all with attributes of floats": "compute in f32 what comes of them,"
    " whatever the type: f64 is compared as f32",
    "Gelu": "of f64 has but an error function of f32, which is all of a tail: there is none",
    "Flatten": "fails for an empty tensor: there is none",
    "GatherElements": "takes indices that are shorter in other dimensions for an error: they are"
    " not; the last axis may not be called -1",
    "GlobalLpPool": "has no implementation: evaluated as `LpPool`",
    "GlobalMaxPool": "takes dimensions 2 and 3 for the spatial ones of two, and others where there"
    " are one or three: always two",
    "Loop": "takes an absent condition for false, concatenates scanned values and fails where there"
    " are none: there is a condition, a trip at least, and only vectors are scanned",
    "LpNormalization": "forgets absolute values in the L1 norm: of positive numbers only",
    "LpPool": "multiplies a mean by the size of a whole window, also where it is less: no"
    " `ceil_mode`",
    "LRN": "counts images where it means channels: always as many of the ones as of the others",
    "MatMulInteger": "takes zero points of rows for those of columns: of the right side only",
    "MaxPool": "positions start again with every channel, and are wrong for a stride of 1: only"
    " asked for where there is one channel and a longer stride; pads of a stride of 1 go to other"
    " sides, and SAME_LOWER is SAME_UPPER of another size: neither happens",
    "OneHot": "fails for truth values, and computes instead of choosing: numbers, not bit by bit",
    "Pad": "fails for negative pads: there are none",
    "ReduceL1, ReduceL2, ReduceMean": "squares and sums of integers overflow: they are small",
    "ReduceLogSum, ReduceLogSumExp": "refuse integers, which opset 28 takes out of the schema,"
    " fail for scalars and lose infinities: always finite floats of rank 1 or more",
    "Shape": "does not clamp its limits: they are inside",
    "Slice": "backwards from before the front it takes nothing, where ONNX clamps the start to the"
    " first element: it starts inside",
    "STFT": "the checker takes the default of `onesided` for 0: it is written down",
    "Softsign": "fails for a scalar: there is none",
}
"""By operator; what else is left out ONNX itself leaves open, and builders say so."""
