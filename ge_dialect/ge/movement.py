"""Data movement: elements keep their values and go to other places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import (
    Engine,
    FusionKind,
    GEOp,
    I64ArrayAttr,
    ints_attr,
)
from ge_dialect.ge.dims import map_dim, merge_dims
from ge_dialect.ge.extents import known_product, solve_dim
from ge_dialect.ge.requirements import require
from ge_dialect.ge.types import (
    RankedTensor,
    Shape,
    num_elements,
    show_shape,
    tensor_of,
    tensor_type,
    value_shape,
)
from ge_dialect.symbols import Relation


class MovementOp(GEOp):
    """An op that computes nothing: every element of a result is one of an operand, or a fill."""

    FUSION_KIND: ClassVar = FusionKind.MOVEMENT
    ENGINE: ClassVar = Engine.DMA

    def flops(self) -> int:
        return 0


@irdl_op_definition
class ReshapeOp(MovementOp):
    """The elements in another shape, in row-major order. The result type says the shape.

    One dimension of the result that nothing is known of follows from the others.

    Constraints:
    - (C1) Element types are equal.
    - (C2) The element counts are equal, where both are known.

    Example:
    ```mlir
    %y = ge.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
    ```
    """

    name = "ge.reshape"
    GE_TYPE: ClassVar = "Reshape"

    input = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation, shape: Shape):
        value = SSAValue.get(input)
        known = solve_dim(value_shape(value), shape)
        element_type = tensor_of(value).element_type
        super().__init__([value], result_types=[tensor_type(element_type, known)])
        self.refine_types()

    def infer_types(self) -> Sequence[Attribute]:
        have, want = tensor_of(self.input), tensor_of(self.result)
        if have.element_type != want.element_type:  # (C1)
            raise VerifyException(f"expected 'result' of {have.element_type}, got {want}")
        shape = solve_dim(value_shape(self.input), value_shape(self.result))
        type_ = tensor_type(have.element_type, shape)
        counts = num_elements(have), num_elements(type_)
        if None not in counts and counts[0] != counts[1]:  # (C2)
            raise VerifyException(f"expected 'result' of {counts[0]} elements, got {counts[1]}")
        if None in counts:
            given = value_shape(self.input)
            what = f"the elements of {show_shape(given)} and {show_shape(shape)}"
            require(known_product(given), Relation.EQUAL, known_product(shape), what)
        return (type_,)

    def view_of(self) -> int | None:
        return 0


@irdl_op_definition
class TransposeOp(MovementOp):
    """Dimension `i` of the result is dimension `perm[i]` of `input`.

    Constraints:
    - (C1) `perm` is a permutation of the dimensions.

    Example:
    ```mlir
    %y = ge.transpose %x perm [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
    """

    name = "ge.transpose"
    GE_TYPE: ClassVar = "TransposeD"

    input = operand_def(RankedTensor)
    perm = prop_def(I64ArrayAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input `perm` $perm attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation, perm: Sequence[int]):
        super().__init__([input], {"perm": ints_attr(perm)})

    @property
    def permutation(self) -> tuple[int, ...]:
        """`perm` as a tuple."""
        return tuple(self.perm.get_values())

    def infer_types(self) -> Sequence[Attribute]:
        shape, perm = value_shape(self.input), self.permutation
        if sorted(perm) != list(range(len(shape))):  # (C1)
            raise VerifyException(
                f"expected 'perm' to be a permutation of {len(shape)} dimensions, got {list(perm)}"
            )
        return (
            tensor_type(tensor_of(self.input).element_type, tuple(shape[axis] for axis in perm)),
        )

    def view_of(self) -> int | None:
        shape = value_shape(self.input)
        moved = [axis for axis in self.permutation if shape[axis] != 1]
        # Where only dimensions of one element change places, no byte does.
        return 0 if moved == sorted(moved) else None


@irdl_op_definition
class BroadcastToOp(MovementOp):
    """`input` repeated along dimensions of size 1 and along new ones in front, as ONNX `Expand`.

    The result type says the shape.

    Constraints:
    - (C1) Element types are equal.
    - (C2) The result has the rank of `input` or more.
    - (C3) Each dimension of `input` is 1 or that of the result.

    Example:
    ```mlir
    %y = ge.broadcast_to %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
    ```
    """

    name = "ge.broadcast_to"
    GE_TYPE: ClassVar = "BroadcastToD"

    input = operand_def(RankedTensor)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation, shape: Shape):
        value = SSAValue.get(input)
        known = _broadcast(value_shape(value), shape)
        element_type = tensor_of(value).element_type
        super().__init__([value], result_types=[tensor_type(element_type, known)])
        self.refine_types()

    def infer_types(self) -> Sequence[Attribute]:
        have, want = tensor_of(self.input), tensor_of(self.result)
        if have.element_type != want.element_type:  # (C1)
            raise VerifyException(f"expected 'result' of {have.element_type}, got {want}")
        shape = _broadcast(value_shape(self.input), value_shape(self.result))
        return (tensor_type(have.element_type, shape),)

    def view_of(self) -> int | None:
        return 0 if self.input.type == self.result.type else None


def _broadcast(shape: Shape, target: Shape) -> Shape:
    """Returns what is known of `target`, to which `shape` is broadcast."""
    added = len(target) - len(shape)
    if added < 0:  # (C2)
        raise VerifyException(
            f"expected 'result' of rank {len(shape)} or more, got {show_shape(target)}"
        )
    dims = [
        # A symbol may be 1: only a number greater than that says what the result is.
        merge_dims(dim, have, f"dimension {added + i} of 'result'")
        if isinstance(have, int) and have != 1
        else dim
        for i, (have, dim) in enumerate(zip(shape, target[added:], strict=True))  # (C3)
    ]
    return (*target[:added], *dims)


@irdl_op_definition
class TileOp(MovementOp):
    """`input` laid `repeats[i]` times along dimension `i`.

    Constraints:
    - (C1) There is one count, not negative, for each dimension.

    Example:
    ```mlir
    %y = ge.tile %x repeats [1, 3] : (tensor<2x2xf32>) -> tensor<2x6xf32>
    ```
    """

    name = "ge.tile"
    GE_TYPE: ClassVar = "TileD"

    input = operand_def(RankedTensor)
    repeats = prop_def(I64ArrayAttr)
    result = result_def(RankedTensor)

    traits = traits_def(Pure())

    assembly_format = "$input `repeats` $repeats attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue | Operation, repeats: Sequence[int]):
        super().__init__([input], {"repeats": ints_attr(repeats)})

    def infer_types(self) -> Sequence[Attribute]:
        shape, repeats = value_shape(self.input), self.repeats.get_values()
        if len(repeats) != len(shape) or min(repeats, default=0) < 0:  # (C1)
            raise VerifyException(
                f"expected 'repeats' of {len(shape)} numbers, none negative, got {list(repeats)}"
            )
        tiled = [
            # Bound now, not when called: the default argument is the count of this dimension.
            map_dim(dim, lambda known, count=count: known * count)
            for dim, count in zip(shape, repeats, strict=True)
        ]
        return (tensor_type(tensor_of(self.input).element_type, tuple(tiled)),)
