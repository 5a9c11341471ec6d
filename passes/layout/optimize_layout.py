"""`ge-optimize-layout`: transposes moved to where they cancel, shrink or are free.

Before: `%t = transpose(%x)`, `%r = relu(%t)`, `%y = transpose(%r)` back, two passes over memory.
After: `%y = relu(%x)`.

From each transpose on, the ops around it that can work in the layout before it are collected one by
one, readers first; those are taken which save most bytes of transposes, those that come for other
operands and results counted. Elementwise ops, reductions, softmax, concatenations, pieces, slices
and norms (along dimensions that stay) can. A transposed matrix in a product becomes a flag of
`ge.gemm`; a broadcast comes after the transpose.

Limits: values whose size is not known stay as they are. Convolutions keep their layout. Example:
tests/filecheck/passes/optimize_layout.mlir.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.ge.constants import constant_attr
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.greatest import at_greatest, byte_size
from ge_dialect.ge.movement import BroadcastToOp, TransposeOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.canonicalization.transpose import TRANSPOSE_PATTERNS
from ge_dialect.passes.driver import Driver, Rewrite
from ge_dialect.passes.fusion.fuse_rules import blocks_of
from ge_dialect.passes.layout.agnostic import moves_data
from ge_dialect.passes.layout.regions import UnknownSizeError, grown
from ge_dialect.passes.layout.rewrite import move_layout
from ge_dialect.passes.values import in_kernel, owner
from ge_dialect.remarks import ReasonClass

NAME = "ge-optimize-layout"
_RULE = "MoveTranspose"
_SWEEPS = 16
"""A region is found again only after what it met in the same sweep: few are ever needed."""


class TransposeBeforeBroadcast(Rewrite):
    """`transpose(broadcast_to(x))` -> `broadcast_to(transpose(x))`, x of the same rank."""

    roots = (TransposeOp,)
    reads = (BroadcastToOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, TransposeOp)
        if in_kernel(op) or (broadcast := owner(op.input, BroadcastToOp)) is None:
            return
        shape, target = value_shape(broadcast.input), value_shape(op.result)
        if len(shape) != len(target) or not is_known(target) or not op.input.has_one_use():
            return
        inner = TransposeOp(broadcast.input, op.permutation)
        rewriter.replace(op, [inner, BroadcastToOp(inner.result, target)])


class TransposeInGemm(Rewrite):
    """`matmul(a, transpose(b))` -> `gemm(a, b) trans_b`, and so for `a`, of matrices.

    Where nothing but such products reads the transpose, so that it goes.
    """

    roots = (MatmulOp,)
    reads = (TransposeOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, MatmulOp)
        if in_kernel(op) or any(len(value_shape(x)) != 2 for x in op.operands):
            return
        left, right = _matrix_of(op.lhs), _matrix_of(op.rhs)
        if left is None and right is None:
            return
        new = GemmOp(
            op.lhs if left is None else left,
            op.rhs if right is None else right,
            trans_a=left is not None,
            trans_b=right is not None,
        )
        remarks.passed(NAME, type(self).__name__, op, "a transpose is a flag now")
        rewriter.replace(op, new)


def _matrix_of(value: SSAValue) -> SSAValue | None:
    """Returns what a transpose reads that only products of matrices read."""
    transpose = owner(value, TransposeOp)
    if transpose is None or constant_attr(transpose.input) is not None:
        return None
    if not moves_data(value_shape(value), transpose.permutation):
        return None
    users = [use.operation for use in value.uses]
    products = all(isinstance(user, MatmulOp) for user in users)
    flat = all(len(value_shape(x)) == 2 for user in users for x in user.operands)
    return transpose.input if products and flat else None


_PATTERNS: tuple[type[Rewrite], ...] = (
    *TRANSPOSE_PATTERNS,
    TransposeBeforeBroadcast,
    TransposeInGemm,
)


@dataclass(frozen=True)
class OptimizeLayoutPass(ModulePass):
    """Moves transposes where that saves bytes that they read and write; never adds any.

    Symbols count as their greatest values.

    Options:
    - `max-ops`: ops that change their layout together, at most. Default 48.
    """

    name = NAME

    max_ops: int = 48

    @at_greatest
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for _ in range(_SWEEPS):
            moved = [
                self._sweep(block)
                for function in op.body.block.ops
                if isinstance(function, FuncOp) and not function.is_declaration
                for block in blocks_of(function)
            ]
            cleaned = Driver(NAME, [pattern() for pattern in _PATTERNS]).run(op)
            if not any(moved) and not cleaned:
                return

    def _sweep(self, block: Block) -> bool:
        """Moves each transpose of a block once; returns whether any was."""
        transposes = [op for op in block.ops if isinstance(op, TransposeOp)]
        if not transposes:
            return False
        order: dict[Operation, int] = {op: place for place, op in enumerate(block.ops)}
        moved = False
        for transpose in transposes:
            if transpose.parent is block and moves_data(
                value_shape(transpose.result), transpose.permutation
            ):
                moved |= self._move(transpose, order)
        return moved

    def _move(self, transpose: TransposeOp, order: dict[Operation, int]) -> bool:
        try:
            region, saved = grown(transpose, self.max_ops, order)
        except UnknownSizeError:
            _tell_missed(transpose, ReasonClass.SYMBOL, "sizes around it are not known")
            return False
        count = len(region.members)
        if not count:
            _tell_missed(transpose, ReasonClass.COST, "no bytes would be saved")
            return False
        if not rewrites.permit(NAME, _RULE, transpose):
            return False
        text = f"{count} ops before it save {saved} bytes of transposes"
        remarks.passed(NAME, _RULE, transpose, text)
        members = list(region.members)
        move_layout(region, order)
        for op in members:
            del order[op]
        statistics.count(NAME, _RULE)
        return True


def _tell_missed(transpose: TransposeOp, reason: ReasonClass, text: str) -> None:
    size = byte_size(transpose.result.type)
    remarks.missed(NAME, _RULE, transpose, text, reason=reason, found=size)
