"""Dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import GEOp, I64Attr, expect_float, int_attr
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.dtypes import is_bool
from ge_dialect.ge.types import (
    RankedTensor,
    num_elements,
    show_shape,
    tensor_of,
    tensor_type,
    value_shape,
)


class DropoutEffects(MemoryEffect):
    """Dropout in training draws random numbers: such an op may be neither merged nor dropped."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        assert isinstance(op, DropoutOp)
        return set() if op.is_identity() else {EffectInstance(MemoryEffectKind.WRITE)}


@irdl_op_definition
class DropoutOp(GEOp):
    """Drops elements at random in training; passes its input on in inference.

    Where `training_mode` is absent or false, or `ratio` is 0: `result = input`, and all of `mask`
    is true. Else an element is kept with probability 1 - `ratio` and divided by that, others
    become 0, and `mask` says which were kept. `ratio` is 0.5 where absent.

    | operand or result | shape      | type       |
    | ----------------- | ---------- | ---------- |
    | `input`, `result` | any        | floats `T` |
    | `ratio`           | one number | floats     |
    | `training_mode`   | one number | i1         |
    | `mask`            | of `input` | i1         |

    The reference semantics draw from a generator started with `seed`, 0 where absent, so that two
    runs agree.

    Constraints:
    - (C1) `input` and `ratio` hold floats, `training_mode` i1.
    - (C2) `ratio` and `training_mode` have one element.

    Source: Srivastava et al., "Dropout" (2014), section 4; scaled in training, as ONNX `Dropout`.

    Example:
    ```mlir
    %y, %m = ge.dropout %x ratio %r : tensor<f32> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
    ```
    """

    name = "ge.dropout"
    GE_TYPE: ClassVar = "Dropout"
    GE_INPUTS: ClassVar = ("x", "ratio", "training_mode")
    GE_OUTPUTS: ClassVar = ("y", "mask")

    input = operand_def(RankedTensor)
    ratio = opt_operand_def(RankedTensor)
    training_mode = opt_operand_def(RankedTensor)
    seed = opt_prop_def(I64Attr)
    result = result_def(RankedTensor)
    mask = result_def(RankedTensor)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(DropoutEffects())

    assembly_format = (
        "$input (`ratio` $ratio^ `:` type($ratio))?"
        " (`training_mode` $training_mode^ `:` type($training_mode))? (`seed` $seed^)? attr-dict"
        " `:` type($input) `->` type($result) `,` type($mask)"
    )

    def __init__(
        self,
        input: SSAValue | Operation,
        ratio: SSAValue | Operation | None = None,
        training_mode: SSAValue | Operation | None = None,
        *,
        seed: int | None = None,
    ):
        super().__init__(
            [input, ratio, training_mode],
            {"seed": None if seed is None else int_attr(seed)},
            num_results=2,
        )

    def is_identity(self) -> bool:
        """Whether the op is known to pass its input on: inference, or nothing is dropped."""
        if self.training_mode is None or constant_scalar(self.training_mode) is False:
            return True
        return self.ratio is not None and constant_scalar(self.ratio) == 0

    def infer_types(self) -> Sequence[Attribute]:
        expect_float(self.input, "input")
        if self.ratio is not None:
            expect_float(self.ratio, "ratio")  # (C1)
        if self.training_mode is not None:
            found = tensor_of(self.training_mode).element_type
            if not is_bool(found):
                raise VerifyException(f"expected 'training_mode' of i1, got {found}")
        for name, value in (("ratio", self.ratio), ("training_mode", self.training_mode)):
            if value is not None and num_elements(value.type) not in (1, None):  # (C2)
                raise VerifyException(
                    f"expected '{name}' of one element, got {show_shape(value_shape(value))}"
                )
        return self.input.type, tensor_type(i1, value_shape(self.input))

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        return ((0, 0),)
