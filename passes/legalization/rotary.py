"""`ge-legalize-rotary`: rotary position embedding by slices, products and concatenation."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.ge.attention import RotaryEmbeddingOp
from ge_dialect.ge.binary import AddOp, MulOp, SubOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.types import element_type_of, show_shape, value_shape
from ge_dialect.passes.driver import Driver
from ge_dialect.passes.legalization.common import Legalize, Steps, compute_type
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.remarks import ReasonClass

NAME = "ge-legalize-rotary"


class LegalizeRotary(Legalize):
    """`rotary_embedding(x, cos, sin)` -> `concat(a * cos - b * sin, a * sin + b * cos, rest)`.

    With `a` and `b` the halves of the rotated features, or with `interleaved` the first and the
    second of each pair. Agrees to the bit.
    """

    roots = (RotaryEmbeddingOp,)
    pass_name = NAME

    def expand(self, op: Operation, steps: Steps) -> SSAValue:
        assert isinstance(op, RotaryEmbeddingOp)
        shape, heads = value_shape(op.input), op.num_heads.value.data
        size = shape[-1]
        if not isinstance(size, int):
            text = "the number of features is not known"
            raise NearMissError(ReasonClass.SYMBOL, text, show_shape(shape), "a number")
        x, cos, sin = op.input, *_angles(op, steps)
        if len(shape) == 3:  # [B, S, H, D]: angles are those of dimension 1
            x = steps.reshape(x, (*shape[:2], heads, size // heads))
        cos, sin = (_along_heads(table, len(shape) == 4, steps) for table in (cos, sin))
        features = value_shape(x)[3]
        assert isinstance(features, int)
        rotated = op.rotary_dim.value.data or features
        turned = _turned(op, _piece(x, 0, rotated, steps), cos, sin, steps)
        if rotated != features:
            rest = _piece(x, rotated, features, steps)
            turned = steps.add(ConcatOp([turned, rest], 3))
        return steps.reshape(turned, shape) if len(shape) == 3 else turned


def _angles(op: RotaryEmbeddingOp, steps: Steps) -> tuple[SSAValue, SSAValue]:
    """Returns cos and sin as `[B, S, R / 2]`."""
    if op.position_ids is None:
        return op.cos, op.sin
    return (
        steps.add(GatherOp(op.cos, op.position_ids, 0)),
        steps.add(GatherOp(op.sin, op.position_ids, 0)),
    )


def _along_heads(table: SSAValue, heads_first: bool, steps: Steps) -> SSAValue:
    """Returns angles with a dimension of 1 for the heads, in the type they are multiplied in."""
    batch, rows, half = value_shape(table)
    wide = steps.cast(table, compute_type(element_type_of(table)))
    return steps.reshape(wide, (batch, 1, rows, half) if heads_first else (batch, rows, 1, half))


def _piece(x: SSAValue, start: int, end: int, steps: Steps) -> SSAValue:
    """Returns features from `start` to `end`."""
    if (start, end) == (0, value_shape(x)[3]):
        return x
    return steps.add(SliceOp(x, [start], [end], [3]))


def _turned(
    op: RotaryEmbeddingOp, x: SSAValue, cos: SSAValue, sin: SSAValue, steps: Steps
) -> SSAValue:
    """Returns all of `x`, `[., ., ., R]`, rotated, in the type of the op."""
    shape, element_type = value_shape(x), element_type_of(x)
    half = value_shape(cos)[3]
    assert isinstance(half, int)
    x = steps.cast(x, compute_type(element_type))
    if op.interleaved is None:
        first, second = _piece(x, 0, half, steps), _piece(x, half, 2 * half, steps)
    else:
        pairs = steps.reshape(x, (*shape[:3], half, 2))
        first, second = (
            steps.reshape(steps.add(SliceOp(pairs, [i], [i + 1], [4])), (*shape[:3], half))
            for i in (0, 1)
        )
    real = steps.add(SubOp(steps.add(MulOp(cos, first)), steps.add(MulOp(sin, second))))
    imaginary = steps.add(AddOp(steps.add(MulOp(sin, first)), steps.add(MulOp(cos, second))))
    if op.interleaved is None:
        turned = steps.add(ConcatOp([real, imaginary], 3))
    else:
        column = (*shape[:3], half, 1)
        parts = [steps.reshape(part, column) for part in (real, imaginary)]
        turned = steps.reshape(steps.add(ConcatOp(parts, 4)), shape)
    return steps.cast(turned, element_type)


@dataclass(frozen=True)
class LegalizeRotaryPass(ModulePass):
    """Spells rotary position embedding out in slices, products, sums and concatenation."""

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Driver(NAME, [LegalizeRotary()]).run(op)
