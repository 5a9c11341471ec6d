"""Recurrent layers: RNN, GRU and LSTM over whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    StringAttr,
    UnitAttr,
    f32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    eq,
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
    PROPERTIES_IN_DICT,
    Engine,
    F32Attr,
    GEOp,
    expect_float,
    expect_integer,
    expect_rank,
    flag_attr,
    float_attr,
    same_element_types,
)
from ge_dialect.ge.dims import expect_dim
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    static_shape,
    tensor_type,
    value_shape,
)

DIRECTIONS = ("forward", "reverse", "bidirectional")

ACTIVATIONS = (
    "Relu",
    "Tanh",
    "Sigmoid",
    "Affine",
    "LeakyRelu",
    "ThresholdedRelu",
    "ScaledTanh",
    "HardSigmoid",
    "Elu",
    "Softsign",
    "Softplus",
)
"""Functions that a gate may apply, as ONNX names them; some take `alpha`, some also `beta`."""

F32ArrayAttr = DenseArrayBase.constr(eq(f32))


def activation_properties(
    activations: Sequence[str] = (), alphas: Sequence[float] = (), betas: Sequence[float] = ()
) -> dict[str, Attribute | None]:
    """Returns the properties of gate functions; without names those of the op stand."""
    if not activations:
        return {}
    return {
        "activations": ArrayAttr([StringAttr(name) for name in activations]),
        "alphas": DenseArrayBase.from_list(f32, list(alphas) or [0.0] * len(activations)),
        "betas": DenseArrayBase.from_list(f32, list(betas) or [0.0] * len(activations)),
    }


def recurrent_properties(
    direction: str, clip: float | None, gates: dict[str, Attribute | None]
) -> dict[str, Attribute | None]:
    """Returns the properties that all recurrent layers have."""
    bound = None if clip is None else float_attr(clip)
    return {"direction": StringAttr(direction), "clip": bound, **gates}


def times(dim: MaybeDim, count: int) -> MaybeDim:
    """Returns `count * dim` of a dimension that is a number, else None."""
    return dim * count if isinstance(dim, int) else None


def expect_shape(value: SSAValue | None, name: str, shape: tuple[MaybeDim, ...]) -> None:
    """Checks that an operand, where there is one, may have a shape.

    Raises:
        VerifyException: It has another rank, or another number as a dimension.
    """
    if value is None:
        return
    for axis, (mine, wanted) in enumerate(
        zip(expect_rank(value, len(shape), name), shape, strict=True)
    ):
        expect_dim(mine, wanted, f"dimension {axis} of '{name}'")


class RecurrentOp(GEOp):
    """A layer that carries a hidden state from one step of a sequence to the next.

    Ops with more operands define all of them again, since xDSL orders those of a base class last.
    """

    GE_INPUTS: ClassVar = ("x", "w", "r", "b", "sequence_lens", "initial_h")
    GE_OUTPUTS: ClassVar = ("y", "y_h")
    ENGINE: ClassVar = Engine.CUBE
    GATES: ClassVar[int] = 1
    DEFAULT_ACTIVATIONS: ClassVar[tuple[str, ...]] = ("Tanh",)

    input = operand_def(RankedTensor)
    weights = operand_def(RankedTensor)
    recurrent_weights = operand_def(RankedTensor)
    bias = opt_operand_def(RankedTensor)
    sequence_lens = opt_operand_def(RankedTensor)
    initial_h = opt_operand_def(RankedTensor)
    direction = prop_def(StringAttr)
    activations = opt_prop_def(ArrayAttr[StringAttr])
    alphas = opt_prop_def(F32ArrayAttr)
    betas = opt_prop_def(F32ArrayAttr)
    clip = opt_prop_def(F32Attr)
    result = result_def(RankedTensor)
    last_h = result_def(RankedTensor)

    irdl_options = (AttrSizedOperandSegments(as_property=True), PROPERTIES_IN_DICT)
    traits = traits_def(Pure())

    @property
    def directions(self) -> int:
        """How many sweeps over the sequence there are."""
        return 2 if self.direction.data == "bidirectional" else 1

    def gate_functions(self) -> list[tuple[str, float, float]]:
        """Returns name, alpha and beta of each function, those of the first sweep first."""
        if self.activations is None or self.alphas is None or self.betas is None:
            return [(name, 0.0, 0.0) for name in self.DEFAULT_ACTIVATIONS * self.directions]
        names = [name.data for name in self.activations]
        values = (self.alphas.get_values(), self.betas.get_values())
        return [(n, float(a), float(b)) for n, a, b in zip(names, *values, strict=True)]

    def infer_types(self) -> Sequence[Attribute]:
        element_type = expect_float(self.input, "input")  # (C1)
        self._check_properties()
        steps, batch, features = expect_rank(self.input, 3, "input")
        hidden = expect_rank(self.recurrent_weights, 3, "recurrent_weights")[2]
        rows = times(hidden, self.GATES)
        expect_shape(self.weights, "weights", (self.directions, rows, features))  # (C2)
        expect_shape(self.recurrent_weights, "recurrent_weights", (self.directions, rows, hidden))
        expect_shape(self.bias, "bias", (self.directions, times(rows, 2)))
        if self.sequence_lens is not None:  # (C3)
            expect_integer(self.sequence_lens, "sequence_lens")
        expect_shape(self.sequence_lens, "sequence_lens", (batch,))
        state = (self.directions, batch, hidden)
        expect_shape(self.initial_h, "initial_h", state)
        self.check_operands(element_type, batch, hidden)
        last = tensor_type(element_type, state)
        results = tensor_type(element_type, (steps, *state))
        return (results, *(last for _ in self.results[1:]))

    def check_operands(self, element_type: Attribute, batch: MaybeDim, hidden: MaybeDim) -> None:
        """Checks the element types, and the operands that not every recurrent layer has.

        Raises:
            VerifyException: They do not fit the op.
        """
        values = [self.input, self.weights, self.recurrent_weights, self.bias, self.initial_h]
        same_element_types(*(value for value in values if value is not None))

    def _check_properties(self) -> None:
        if self.direction.data not in DIRECTIONS:  # (C4)
            expected = ", ".join(DIRECTIONS)
            raise VerifyException(
                f"expected 'direction' to be one of {expected}, got {self.direction.data}"
            )
        given = (self.activations, self.alphas, self.betas)
        if all(property is None for property in given):
            return
        wanted = len(self.DEFAULT_ACTIVATIONS) * self.directions
        if any(property is None or len(property) != wanted for property in given):  # (C5)
            raise VerifyException(
                f"expected {wanted} of each of 'activations', 'alphas' and 'betas'"
            )
        for name, alpha, beta in self.gate_functions():
            if name not in ACTIVATIONS:
                expected = ", ".join(ACTIVATIONS)
                raise VerifyException(f"expected activations of {expected}, got {name}")
            if not isfinite(alpha) or not isfinite(beta):
                raise VerifyException(f"expected finite alpha and beta, got {alpha} and {beta}")

    def flops(self) -> int:
        """The two products of every step, and some 10 operations a gate."""
        shape, hidden = static_shape(self.input.type), value_shape(self.recurrent_weights)[2]
        if shape is None or not isinstance(hidden, int):
            return 0
        gates = shape[0] * shape[1] * self.directions * self.GATES * hidden
        return gates * (2 * (shape[2] + hidden) + 10)


@irdl_op_definition
class RNNOp(RecurrentOp):
    """`h = f(x @ w^T + h @ r^T + biases)`, one step after the other.

    | operand or result   | shape            | type       |
    | ------------------- | ---------------- | ---------- |
    | `input`             | `[S, B, I]`      | floats `T` |
    | `weights`           | `[D, G * H, I]`  | `T`        |
    | `recurrent_weights` | `[D, G * H, H]`  | `T`        |
    | `bias`              | `[D, 2 * G * H]` | `T`        |
    | `sequence_lens`     | `[B]`            | integers   |
    | `initial_h`         | `[D, B, H]`      | `T`        |
    | `result`            | `[S, D, B, H]`   | `T`        |
    | `last_h`            | `[D, B, H]`      | `T`        |

    G is 1 here. D is 2 where `direction` is `bidirectional`, else 1; the second sweep, like the one
    of `reverse`, starts at the end of each sequence. `bias` holds those of `weights`, then those of
    `recurrent_weights`. What comes after the length of a sequence is 0 in `result`. Functions are
    `Tanh` unless `activations` says others, with `alphas` and `betas`; with `clip` the
    arguments of gates are kept in `[-clip, clip]`. Everything is computed in f32 (f64 of f64) and
    rounded once.

    Constraints:
    - (C1) All operands but `sequence_lens` hold floats of one element type.
    - (C2) Shapes agree.
    - (C3) `sequence_lens` holds integers.
    - (C4) `direction` is `forward`, `reverse` or `bidirectional`.
    - (C5) `activations`, `alphas` and `betas` are all absent, or hold one value a function and
      sweep, every function is one that ONNX names, and every number is finite.

    Source: ONNX `RNN`, version 22.

    Example:
    ```mlir
    %y, %h = ge.rnn %x, %w, %r direction "forward"
      : tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>
      -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
    ```
    """

    name = "ge.rnn"
    GE_TYPE: ClassVar = "CommonRNN"

    assembly_format = (
        "$input `,` $weights `,` $recurrent_weights (`bias` $bias^ `:` type($bias))?"
        " (`sequence_lens` $sequence_lens^ `:` type($sequence_lens))?"
        " (`initial_h` $initial_h^ `:` type($initial_h))? `direction` $direction attr-dict"
        " `:` type($input) `,` type($weights) `,` type($recurrent_weights)"
        " `->` type($result) `,` type($last_h)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        weights: SSAValue | Operation,
        recurrent_weights: SSAValue | Operation,
        bias: SSAValue | None = None,
        sequence_lens: SSAValue | None = None,
        initial_h: SSAValue | None = None,
        *,
        direction: str = "forward",
        clip: float | None = None,
        gates: dict[str, Attribute | None] | None = None,
    ):
        """Builds the op; `gates` is what `activation_properties` returns."""
        super().__init__(
            [input, weights, recurrent_weights, bias, sequence_lens, initial_h],
            recurrent_properties(direction, clip, gates or {}),
            num_results=2,
        )


@irdl_op_definition
class GRUOp(RecurrentOp):
    """Gated recurrent unit: gates z (update) and r (reset), and h (hidden), in this order.

    `z = f(x @ wz^T + h @ rz^T + biases)`, `r = f(x @ wr^T + h @ rr^T + biases)`,
    `n = g(x @ wh^T + (r * h) @ rh^T + biases)`, or with `linear_before_reset`
    `n = g(x @ wh^T + bias + r * (h @ rh^T + bias))`; `h = (1 - z) * n + z * h`.

    Operands, results and properties are those of `ge.rnn` with G = 3; f is `Sigmoid` and g `Tanh`
    unless `activations` says others.

    Constraints:
    - (C1) to (C5) as of `ge.rnn`.

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder" (2014),
    equations 5 to 8; ONNX `GRU`, version 22.

    Example:
    ```mlir
    %y, %h = ge.gru %x, %w, %r bias %b : tensor<1x24xf32> direction "forward"
      : tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>
      -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
    ```
    """

    name = "ge.gru"
    GE_TYPE: ClassVar = "CommonGRU"
    GATES: ClassVar = 3
    DEFAULT_ACTIVATIONS: ClassVar = ("Sigmoid", "Tanh")

    linear_before_reset = opt_prop_def(UnitAttr)

    assembly_format = (
        "$input `,` $weights `,` $recurrent_weights (`bias` $bias^ `:` type($bias))?"
        " (`sequence_lens` $sequence_lens^ `:` type($sequence_lens))?"
        " (`initial_h` $initial_h^ `:` type($initial_h))? `direction` $direction"
        " (`linear_before_reset` $linear_before_reset^)? attr-dict"
        " `:` type($input) `,` type($weights) `,` type($recurrent_weights)"
        " `->` type($result) `,` type($last_h)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        weights: SSAValue | Operation,
        recurrent_weights: SSAValue | Operation,
        bias: SSAValue | None = None,
        sequence_lens: SSAValue | None = None,
        initial_h: SSAValue | None = None,
        *,
        direction: str = "forward",
        linear_before_reset: bool = False,
        clip: float | None = None,
        gates: dict[str, Attribute | None] | None = None,
    ):
        """Builds the op; `gates` is what `activation_properties` returns."""
        properties = recurrent_properties(direction, clip, gates or {})
        properties["linear_before_reset"] = flag_attr(linear_before_reset)
        super().__init__(
            [input, weights, recurrent_weights, bias, sequence_lens, initial_h],
            properties,
            num_results=2,
        )
