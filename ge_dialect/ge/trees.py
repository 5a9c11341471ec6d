"""Ensembles of decision trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import GEOp, I64Attr, expect_integer, expect_rank, int_attr
from ge_dialect.ge.dims import merge_dims
from ge_dialect.ge.types import RankedTensor, static_shape, tensor_of, tensor_type


@irdl_op_definition
class TreeEnsembleOp(GEOp):
    """Walks every tree from its root to a leaf for each row, and sums the weights of the leaves.

    | operand or result       | shape     | type     |
    | ----------------------- | --------- | -------- |
    | `input`                 | `[N, F]`  | f32      |
    | `modes`                 | `[M]`     | integers |
    | `features`              | `[M]`     | integers |
    | `thresholds`            | `[M]`     | f32      |
    | `yes`, `no`             | `[M]`     | integers |
    | `roots`                 | `[T]`     | integers |
    | `targets`               | `[W]`     | integers |
    | `weights`               | `[W]`     | f32      |
    | `result`                | `[N, num_targets]` | f32 |

    A node compares `x = input[row, feature]` with its threshold and goes on at `yes` or `no`. Its
    mode says how: 1 `x <= t`, 2 `x < t`, 3 `x >= t`, 4 `x > t`, 5 `x == t`, 6 `x != t`; with 8
    added NaN goes to `yes`, else NaN compares as floats do. Mode 0 is a leaf: it adds `weights[i]`
    to `targets[i]` for i from `yes` up to, not including, `no`. Sums are in f64, rounded once.

    Constraints:
    - (C1) `input`, `thresholds` and `weights` hold f32, the others integers.
    - (C2) `input` has rank 2, all others rank 1; nodes agree in their number, weights as well.
    - (C3) `num_targets` is 1 or more.

    Source: ONNX `TreeEnsembleClassifier`, version 3 of `ai.onnx.ml`.

    Example:
    ```mlir
    %y = ge.tree_ensemble %x, %m, %f, %t, %a, %b, %r, %i, %w num_targets 3
      : (tensor<2x4xf32>, tensor<5xui8>, tensor<5xi32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>,
         tensor<1xi32>, tensor<3xi32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "ge.tree_ensemble"
    GE_TYPE: ClassVar = "TreeEnsemble"
    GE_INPUTS: ClassVar = ("x", "modes", "features", "thresholds", "yes", "no", "roots")

    input = operand_def(RankedTensor)
    modes = operand_def(RankedTensor)
    features = operand_def(RankedTensor)
    thresholds = operand_def(RankedTensor)
    yes = operand_def(RankedTensor)
    no = operand_def(RankedTensor)
    roots = operand_def(RankedTensor)
    targets = operand_def(RankedTensor)
    weights = operand_def(RankedTensor)
    num_targets = prop_def(I64Attr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `,` $modes `,` $features `,` $thresholds `,` $yes `,` $no `,` $roots `,`"
        " $targets `,` $weights `num_targets` $num_targets attr-dict"
        " `:` functional-type(operands, results)"
    )

    def __init__(
        self, input: SSAValue | Operation, tables: Sequence[SSAValue | Operation], num_targets: int
    ):
        """Builds the op; `tables` are the operands after `input`, in their order."""
        super().__init__([input, *tables], {"num_targets": int_attr(num_targets)})

    def infer_types(self) -> Sequence[Attribute]:
        for name in ("input", "thresholds", "weights"):  # (C1)
            if (found := tensor_of(getattr(self, name)).element_type) != f32:
                raise VerifyException(f"expected '{name}' of f32, got {found}")
        for name in ("modes", "features", "yes", "no", "roots", "targets"):
            expect_integer(getattr(self, name), name)
        rows = expect_rank(self.input, 2, "input")[0]  # (C2)
        expect_rank(self.roots, 1, "roots")
        nodes = expect_rank(self.modes, 1, "modes")[0]
        for name in ("features", "thresholds", "yes", "no"):
            nodes = merge_dims(
                nodes, expect_rank(getattr(self, name), 1, name)[0], f"'modes' and '{name}'"
            )
        count = expect_rank(self.weights, 1, "weights")[0]
        merge_dims(expect_rank(self.targets, 1, "targets")[0], count, "'targets' and 'weights'")
        if (targets := self.num_targets.value.data) < 1:  # (C3)
            raise VerifyException(f"expected 'num_targets' of 1 or more, got {targets}")
        return (tensor_type(f32, (rows, targets)),)

    def flops(self) -> int:
        """Some 20 comparisons a tree and row, as a balanced tree of a million leaves has."""
        rows, roots = static_shape(self.input.type), static_shape(self.roots.type)
        return 0 if rows is None or roots is None else 20 * rows[0] * roots[0]
