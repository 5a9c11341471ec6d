"""Long short-term memory, with weights of floats or of 8 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import expect_integer, flag_attr, same_element_types
from ge_dialect.ge.recurrent import RecurrentOp, expect_shape, recurrent_properties, times
from ge_dialect.ge.types import MaybeDim, RankedTensor, num_elements, tensor_of, value_shape


class LSTMBase(RecurrentOp):
    """What the LSTM of floats and that of quantised weights have in common."""

    GE_INPUTS: ClassVar = (*RecurrentOp.GE_INPUTS, "initial_c", "p")
    GE_OUTPUTS: ClassVar = ("y", "y_h", "y_c")
    GATES: ClassVar = 4
    DEFAULT_ACTIVATIONS: ClassVar = ("Sigmoid", "Tanh", "Tanh")

    input = operand_def(RankedTensor)
    weights = operand_def(RankedTensor)
    recurrent_weights = operand_def(RankedTensor)
    bias = opt_operand_def(RankedTensor)
    sequence_lens = opt_operand_def(RankedTensor)
    initial_h = opt_operand_def(RankedTensor)
    initial_c = opt_operand_def(RankedTensor)
    peephole = opt_operand_def(RankedTensor)
    input_forget = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)
    last_h = result_def(RankedTensor)
    last_c = result_def(RankedTensor)

    def check_operands(self, element_type: Attribute, batch: MaybeDim, hidden: MaybeDim) -> None:
        values = (self.bias, self.initial_h, self.initial_c, self.peephole)
        same_element_types(self.input, *(value for value in values if value is not None))
        expect_shape(self.initial_c, "initial_c", (self.directions, batch, hidden))
        expect_shape(self.peephole, "peephole", (self.directions, times(hidden, 3)))


@irdl_op_definition
class LSTMOp(LSTMBase):
    """Long short-term memory: gates i (input), o (output), f (forget), c (cell), in this order.

    `i = f(x @ wi^T + h @ ri^T + pi * c + biases)`, the forget gate likewise,
    `n = g(x @ wc^T + h @ rc^T + biases)`, `c = forget * c + i * n`,
    `o = f(x @ wo^T + h @ ro^T + po * c + biases)` with the new c, `h = o * k(c)`.

    | operand or result        | shape        | type |
    | ------------------------ | ------------ | ---- |
    | `initial_c`, `last_c`    | `[D, B, H]`  | `T`  |
    | `peephole`, of i, o, f   | `[D, 3 * H]` | `T`  |

    Other operands, results and properties are those of `ge.rnn` with G = 4; f, g and k are
    `Sigmoid`, `Tanh` and `Tanh` unless `activations` says others. With `input_forget`,
    `forget = 1 - i`.

    Constraints:
    - (C1) to (C5) as of `ge.rnn`.

    Source: Hochreiter, Schmidhuber, "Long Short-Term Memory" (1997); ONNX `LSTM`, version 22.

    Example:
    ```mlir
    %y, %h, %c = ge.lstm %x, %w, %r bias %b : tensor<1x32xf32> direction "forward"
      : tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>
      -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
    ```
    """

    name = "ge.lstm"
    GE_TYPE: ClassVar = "CommonLSTM"

    assembly_format = (
        "$input `,` $weights `,` $recurrent_weights (`bias` $bias^ `:` type($bias))?"
        " (`sequence_lens` $sequence_lens^ `:` type($sequence_lens))?"
        " (`initial_h` $initial_h^ `:` type($initial_h))?"
        " (`initial_c` $initial_c^ `:` type($initial_c))?"
        " (`peephole` $peephole^ `:` type($peephole))? `direction` $direction"
        " (`input_forget` $input_forget^)? attr-dict"
        " `:` type($input) `,` type($weights) `,` type($recurrent_weights)"
        " `->` type($result) `,` type($last_h) `,` type($last_c)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        weights: SSAValue | Operation,
        recurrent_weights: SSAValue | Operation,
        options: Sequence[SSAValue | None] = (),
        *,
        direction: str = "forward",
        input_forget: bool = False,
        clip: float | None = None,
        gates: dict[str, Attribute | None] | None = None,
    ):
        """Builds the op.

        Args:
            input: The sequence.
            weights: Of the input.
            recurrent_weights: Of the state.
            options: Bias, lengths, first hidden and cell state, peepholes; None for absent ones.
            direction: Of the sweep, or `bidirectional`.
            input_forget: Whether the forget gate is what the input gate leaves.
            clip: Bound of the arguments of gates.
            gates: What `activation_properties` returns.
        """
        properties = recurrent_properties(direction, clip, gates or {})
        properties["input_forget"] = flag_attr(input_forget)
        rest = [*options, *[None] * (5 - len(options))]
        super().__init__([input, weights, recurrent_weights, *rest], properties, num_results=3)

    def check_operands(self, element_type: Attribute, batch: MaybeDim, hidden: MaybeDim) -> None:
        same_element_types(self.input, self.weights, self.recurrent_weights)
        super().check_operands(element_type, batch, hidden)


@irdl_op_definition
class DynamicQuantizeLSTMOp(LSTMBase):
    """`ge.lstm` with weights of 8 bits, whose products quantise the other factor as they go.

    A product `a @ w^T` quantises the matrix a as `ge.dynamic_quantize_linear` does (u8, a scale and
    zero point for the whole matrix), multiplies integers exactly, and scales the result by both
    scales in f32. There is one product for the inputs of all steps and one a step for the state.

    | operand                                     | shape                | type          |
    | ------------------------------------------- | -------------------- | ------------- |
    | `weights`, `recurrent_weights`              | of `ge.lstm`         | i8 or ui8 `Q` |
    | `weights_scale`, `recurrent_scale`          | `[D]` or `[D, 4 * H]` | f32          |
    | `weights_zero_point`, `recurrent_zero_point` | of the scale        | `Q`           |

    Other operands, results and properties are those of `ge.lstm`, in f32.

    Constraints:
    - (C1) `input`, `bias`, first states and `peephole` hold f32.
    - (C2) Shapes agree.
    - (C3) `sequence_lens` holds integers.
    - (C4) `direction` is `forward`, `reverse` or `bidirectional`.
    - (C5) Gate functions as of `ge.rnn`.
    - (C6) Weights hold integers, scales f32, and zero points the type of their weights.

    Source: ONNX Runtime, "Contrib operators", `com.microsoft.DynamicQuantizeLSTM`.

    Example:
    ```mlir
    %y, %h, %c = ge.dynamic_quantize_lstm %x, %w, %r scales %ws, %wz, %rs, %rz direction "forward"
      : tensor<5x2x3xf32>, tensor<1x16x3xi8>, tensor<1x16x4xi8>,
        tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>
      -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
    ```
    """

    name = "ge.dynamic_quantize_lstm"
    GE_TYPE: ClassVar = "DynamicQuantizeLSTM"
    GE_INPUTS: ClassVar = (
        *LSTMBase.GE_INPUTS,
        "w_scale",
        "w_zero_point",
        "r_scale",
        "r_zero_point",
    )

    input = operand_def(RankedTensor)
    weights = operand_def(RankedTensor)
    recurrent_weights = operand_def(RankedTensor)
    bias = opt_operand_def(RankedTensor)
    sequence_lens = opt_operand_def(RankedTensor)
    initial_h = opt_operand_def(RankedTensor)
    initial_c = opt_operand_def(RankedTensor)
    peephole = opt_operand_def(RankedTensor)
    weights_scale = operand_def(RankedTensor)
    weights_zero_point = operand_def(RankedTensor)
    recurrent_scale = operand_def(RankedTensor)
    recurrent_zero_point = operand_def(RankedTensor)

    assembly_format = (
        "$input `,` $weights `,` $recurrent_weights (`bias` $bias^ `:` type($bias))?"
        " (`sequence_lens` $sequence_lens^ `:` type($sequence_lens))?"
        " (`initial_h` $initial_h^ `:` type($initial_h))?"
        " (`initial_c` $initial_c^ `:` type($initial_c))?"
        " (`peephole` $peephole^ `:` type($peephole))?"
        " `scales` $weights_scale `,` $weights_zero_point `,`"
        " $recurrent_scale `,` $recurrent_zero_point `direction` $direction"
        " (`input_forget` $input_forget^)? attr-dict"
        " `:` type($input) `,` type($weights) `,` type($recurrent_weights) `,`"
        " type($weights_scale) `,` type($weights_zero_point) `,`"
        " type($recurrent_scale) `,` type($recurrent_zero_point)"
        " `->` type($result) `,` type($last_h) `,` type($last_c)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        weights: Sequence[SSAValue | Operation],
        recurrent_weights: Sequence[SSAValue | Operation],
        options: Sequence[SSAValue | None] = (),
        *,
        direction: str = "forward",
        input_forget: bool = False,
        clip: float | None = None,
        gates: dict[str, Attribute | None] | None = None,
    ):
        """Builds the op as `LSTMOp`; each kind of weights comes with its scale and zero point."""
        properties = recurrent_properties(direction, clip, gates or {})
        properties["input_forget"] = flag_attr(input_forget)
        rest = [*options, *[None] * (5 - len(options))]
        (w, *of_w), (r, *of_r) = weights, recurrent_weights
        super().__init__([input, w, r, *rest, *of_w, *of_r], properties, num_results=3)

    def check_operands(self, element_type: Attribute, batch: MaybeDim, hidden: MaybeDim) -> None:
        super().check_operands(element_type, batch, hidden)
        if element_type != f32:
            raise VerifyException(f"expected 'input' of f32, got {element_type}")
        sides = (
            ("weights", self.weights, self.weights_scale, self.weights_zero_point),
            (
                "recurrent_weights",
                self.recurrent_weights,
                self.recurrent_scale,
                self.recurrent_zero_point,
            ),
        )
        for name, weights, scale, zero_point in sides:  # (C6)
            expect_integer(weights, name)
            same_element_types(weights, zero_point)
            if tensor_of(scale).element_type != f32:
                raise VerifyException(f"expected a scale of f32 for '{name}'")
            columns = times(hidden, 4)
            shape = (self.directions, columns)[: len(value_shape(scale))]
            expect_shape(scale, f"scale of {name}", shape)
            expect_shape(zero_point, f"zero point of {name}", shape)

    def flops(self) -> int:
        """That of `ge.lstm`, and the quantisation of inputs and states."""
        return super().flops() + 4 * (num_elements(self.input.type) or 0)
