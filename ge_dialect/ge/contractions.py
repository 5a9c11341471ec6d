"""Contractions: sums of products. Convolutions are in `convolution`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    Engine,
    F32Attr,
    FusionKind,
    GEOp,
    expect_rank,
    flag_attr,
    float_attr,
    same_element_types,
)
from ge_dialect.ge.dims import expect_broadcasts_to, merge_dims
from ge_dialect.ge.einsum_equation import (
    ELLIPSIS,
    Equation,
    expand_labels,
    parse_equation,
    replace_ellipsis,
)
from ge_dialect.ge.types import (
    MaybeDim,
    RankedTensor,
    Shape,
    broadcast_shapes,
    num_elements,
    show_shape,
    static_shape,
    tensor_type,
    value_shape,
)


def matmul_shape(lhs: Shape, rhs: Shape) -> Shape:
    """Returns the shape of a matrix product by numpy's rule.

    `[..., M, K] x [..., K, N] -> [..., M, N]`, leading dimensions broadcast; a vector on the left
    is a row, on the right a column, and that dimension does not appear in the result.

    Raises:
        VerifyException: A shape has rank 0, K differs, or leading dimensions do not broadcast.
    """
    if not lhs or not rhs:
        raise VerifyException(
            f"expected operands of rank 1 or more, got {show_shape(lhs)} and {show_shape(rhs)}"
        )
    left, right = lhs if len(lhs) > 1 else (1, *lhs), rhs if len(rhs) > 1 else (*rhs, 1)
    if left[-1] != right[-2]:
        shown = f"'lhs' {show_shape(lhs)} and 'rhs' {show_shape(rhs)}"
        merge_dims(left[-1], right[-2], f"{shown} in K")
    batch = broadcast_shapes([left[:-2], right[:-2]])
    rows = left[-2:-1] if len(lhs) > 1 else ()
    columns = right[-1:] if len(rhs) > 1 else ()
    return (*batch, *rows, *columns)


def matmul_flops(lhs: Attribute, result: Attribute) -> int:
    """Returns the operations of a matrix product: two for each product of elements."""
    left, elements = static_shape(lhs), num_elements(result)
    return 2 * left[-1] * elements if left and elements is not None else 0


class ContractionOp(GEOp):
    """An op of the cube unit; floats narrower than f32 are summed in f32 and rounded once."""

    GE_INPUTS: ClassVar = ("x1", "x2")
    FUSION_KIND: ClassVar = FusionKind.CONTRACTION
    ENGINE: ClassVar = Engine.CUBE

    traits = traits_def(Pure())


@irdl_op_definition
class MatmulOp(ContractionOp):
    """`lhs @ rhs`, the matrix product with numpy's rule for leading dimensions and vectors.

    | operand or result | shape         | type        |
    | ----------------- | ------------- | ----------- |
    | `lhs`             | `[..., M, K]` | numbers `T` |
    | `rhs`             | `[..., K, N]` | `T`         |
    | `result`          | `[..., M, N]` | `T`         |

    Constraints:
    - (C1) The element types are one.
    - (C2) Both operands have rank 1 or more and agree in K.
    - (C3) The leading dimensions broadcast.

    Example:
    ```mlir
    %c = ge.matmul %a, %b : (tensor<2x3x4xf16>, tensor<4x5xf16>) -> tensor<2x3x5xf16>
    ```
    """

    name = "ge.matmul"
    GE_TYPE: ClassVar = "BatchMatMulV2"

    lhs = operand_def(RankedTensor)
    rhs = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        super().__init__([lhs, rhs])

    def ge_op_type(self) -> str:
        return matmul_ge_type(self.operands)

    def infer_types(self) -> Sequence[Attribute]:
        element_type = same_element_types(self.lhs, self.rhs)  # (C1)
        shape = matmul_shape(value_shape(self.lhs), value_shape(self.rhs))  # (C2), (C3)
        return (tensor_type(element_type, shape),)

    def flops(self) -> int:
        return matmul_flops(self.lhs.type, self.result.type)


def matmul_ge_type(operands: Sequence[SSAValue]) -> str:
    """Returns GE's name of a matrix product, which depends on the ranks of its two factors."""
    return "BatchMatMulV2" if any(len(value_shape(x)) > 2 for x in operands[:2]) else "MatMulV2"


@irdl_op_definition
class GemmOp(ContractionOp):
    """`alpha * op(a) @ op(b) + beta * c`, where `op` transposes with `trans_a`, `trans_b`.

    | operand or result | shape                             | type        |
    | ----------------- | --------------------------------- | ----------- |
    | `a`               | `[M, K]`, with `trans_a` `[K, M]` | numbers `T` |
    | `b`               | `[K, N]`, with `trans_b` `[N, K]` | `T`         |
    | `c`               | broadcasts to `[M, N]`            | `T`         |
    | `result`          | `[M, N]`                          | `T`         |

    Constraints:
    - (C1) The element types are one.
    - (C2) `a` and `b` are matrices that agree in K.
    - (C3) `c` broadcasts to `[M, N]` without making it larger.

    Source: Dongarra et al., "A set of level 3 basic linear algebra subprograms" (1990), section 3.

    Example:
    ```mlir
    %y = ge.gemm %a, %b bias %c alpha 1.000000e+00 beta 1.000000e+00 trans_b
      : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "ge.gemm"
    GE_TYPE: ClassVar = "GEMM"
    GE_INPUTS: ClassVar = ("a", "b", "c")

    a = operand_def(RankedTensor)
    b = operand_def(RankedTensor)
    c = opt_operand_def(RankedTensor)
    alpha = prop_def(F32Attr)
    beta = prop_def(F32Attr)
    trans_a = opt_prop_def(UnitAttr)
    trans_b = opt_prop_def(UnitAttr)
    result = result_def(RankedTensor)

    assembly_format = (
        "$a `,` $b (`bias` $c^)? `alpha` $alpha `beta` $beta (`trans_a` $trans_a^)?"
        " (`trans_b` $trans_b^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        a: SSAValue | Operation,
        b: SSAValue | Operation,
        c: SSAValue | Operation | None = None,
        alpha: float = 1.0,
        beta: float = 1.0,
        trans_a: bool = False,
        trans_b: bool = False,
    ):
        super().__init__(
            [a, b, c],
            {
                "alpha": float_attr(alpha),
                "beta": float_attr(beta),
                "trans_a": flag_attr(trans_a),
                "trans_b": flag_attr(trans_b),
            },
        )

    def infer_types(self) -> Sequence[Attribute]:
        element_type = same_element_types(*self.operands)  # (C1)
        left, right = expect_rank(self.a, 2, "a"), expect_rank(self.b, 2, "b")
        rows, depth = reversed(left) if self.trans_a else left
        other, columns = reversed(right) if self.trans_b else right
        merge_dims(depth, other, "'a' and 'b' in K")  # (C2)
        expect_broadcasts_to(self.c, (rows, columns), "c")  # (C3)
        return (tensor_type(element_type, (rows, columns)),)

    def flops(self) -> int:
        left, elements = static_shape(self.a.type), num_elements(self.result.type)
        if left is None or elements is None:
            return 0
        return elements * (2 * left[0 if self.trans_a else 1] + (self.c is not None))


@irdl_op_definition
class EinsumOp(ContractionOp):
    """The sum of products that `equation` spells: every letter is a dimension, those that the
    output lacks are summed, a letter twice in one input takes the diagonal, `...` broadcasts.

    Constraints:
    - (C1) The element types are one.
    - (C2) `equation` has a term for each operand, as many letters as the operand has dimensions,
      and an output of letters that occur.
    - (C3) A letter has one size.

    Example:
    ```mlir
    %y = ge.einsum "bij,bjk->bik"(%a, %b)
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    ```
    """

    name = "ge.einsum"
    GE_TYPE: ClassVar = "Einsum"
    GE_INPUTS: ClassVar = ("x",)

    equation = prop_def(StringAttr)
    arguments = var_operand_def(RankedTensor)
    result = result_def(RankedTensor)

    assembly_format = (
        "$equation `(` $arguments `)` attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, equation: str, arguments: Sequence[SSAValue | Operation]):
        super().__init__([list(arguments)], {"equation": StringAttr(equation)})

    def infer_types(self) -> Sequence[Attribute]:
        if not self.arguments:
            raise VerifyException("expected one operand or more, got 0")  # (C2)
        element_type = same_element_types(*self.arguments)  # (C1)
        equation, sizes = self._sizes()
        hidden = sum(label.startswith(ELLIPSIS) for label in sizes)
        if hidden and ELLIPSIS not in equation.output:
            raise VerifyException("expected '...' in the output as in the inputs")  # (C2)
        output = replace_ellipsis(equation.output, hidden)
        return (tensor_type(element_type, tuple(sizes[label] for label in output)),)

    def flops(self) -> int:
        sizes = self._sizes()[1].values()
        static = [size for size in sizes if isinstance(size, int)]
        return max(1, len(self.arguments)) * prod(static) if len(static) == len(sizes) else 0

    def _sizes(self) -> tuple[Equation, dict[str, MaybeDim]]:
        sizes: dict[str, MaybeDim] = {}
        try:
            equation = parse_equation(self.equation.data)
            if len(equation.inputs) != len(self.arguments):
                raise ValueError(
                    f"expected {len(equation.inputs)} operands, got {len(self.arguments)}"
                )
            for labels, value in zip(equation.inputs, self.arguments, strict=True):
                shape = value_shape(value)
                own: dict[str, MaybeDim] = {}
                for label, dim in zip(expand_labels(labels, len(shape)), shape, strict=True):
                    # A diagonal is of equal sizes: nothing broadcasts within one operand.
                    own[label] = merge_dims(own.get(label, dim), dim, f"sizes of '{label}'")
                for label, dim in own.items():
                    sizes[label] = _join(label, sizes.get(label, 1), dim)
        except ValueError as error:
            raise VerifyException(str(error)) from error  # (C2)
        return equation, sizes


def _join(label: str, known: MaybeDim, found: MaybeDim) -> MaybeDim:
    # numpy lets a dimension of 1 broadcast under a letter as well.
    try:
        return broadcast_shapes([(known,), (found,)])[0]
    except VerifyException as error:
        raise VerifyException(
            f"expected one size of '{label}', got {known} and {found}"
        ) from error  # (C3)
