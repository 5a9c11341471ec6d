"""`ge-merge-parallel-matmul`: products of one tensor with several weights as one product.

Before: `matmul(x, a)`, `matmul(x, b)`. After: `split(matmul(x, concat(a, b)))`, where `concat` is
done at compile time. Biases that follow are joined as well. Sums have the same terms; a kernel may
add them in another order.

Limits: weights are constant matrices that nobody else reads, sizes are numbers. Lit:
`tests/filecheck/passes/merge_parallel_matmul.mlir`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.constants import constant_array
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.greatest import at_greatest, byte_size
from ge_dialect.ge.pieces import SplitOp
from ge_dialect.ge.structure import FusionOp
from ge_dialect.ge.types import value_shape
from ge_dialect.locations import fuse
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.weights.budget import Budget, is_constant
from ge_dialect.remarks import ReasonClass
from ge_dialect.targets.dlti import target_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.targets.target import Target

NAME = "ge-merge-parallel-matmul"
RULE = "MergeParallelMatmul"
_US = 1e6


@dataclass(frozen=True)
class Sibling:
    """One of several products of the same tensor.

    Attributes:
        op: The product.
        add: The op that adds a constant to it, or None.
        weight: The right operand.
        bias: What is added for each column: the constant of `add`, or that of a gemm.
    """

    op: MatmulOp | GemmOp
    add: AddOp | None
    weight: SSAValue
    bias: SSAValue | None

    @property
    def result(self) -> SSAValue:
        """What the users of the product read."""
        return self.op.result if self.add is None else self.add.result

    @property
    def columns(self) -> int | None:
        """How many columns the product has; None where that is not a number."""
        size = value_shape(self.op.result)[-1]
        return size if isinstance(size, int) else None

    def key(self) -> tuple[object, ...]:
        """What siblings have in common."""
        properties = tuple(sorted(self.op.properties.items(), key=lambda item: item[0]))
        return (self.op.operands[0], type(self.op), properties, self.add is None, self.bias is None)


def _sibling(op: Operation) -> Sibling | None:
    """Returns a product with a constant matrix, and the constant that is added to it."""
    if isinstance(op, GemmOp):
        if not is_constant(op.b) or not is_constant(op.c):
            return None
        return Sibling(op, None, op.b, op.c)
    if not isinstance(op, MatmulOp) or not is_constant(op.rhs) or len(value_shape(op.rhs)) != 2:
        return None
    if len(value_shape(op.lhs)) < 2:
        return None
    add = op.result.get_user_of_unique_use()
    if isinstance(add, AddOp) and add.result.type == op.result.type and add.parent is op.parent:
        bias = add.rhs if add.lhs is op.result else add.lhs
        if is_constant(bias) and _is_row(bias):
            return Sibling(op, add, op.rhs, bias)
    return Sibling(op, None, op.rhs, None)


def _is_row(bias: SSAValue) -> bool:
    return all(dim == 1 for dim in value_shape(bias)[:-1])


def _groups(block: Block) -> Iterator[list[Sibling]]:
    """Yields two or more siblings at a time, in order."""
    found: dict[tuple[object, ...], list[Sibling]] = {}
    for op in block.ops:
        if (sibling := _sibling(op)) is not None:
            found.setdefault(sibling.key(), []).append(sibling)
    yield from (group for group in found.values() if len(group) > 1)


@dataclass(frozen=True)
class _Refusal:
    reason: ReasonClass
    message: str
    found: str
    wanted: str


def saved_us(group: Sequence[Sibling], target: Target) -> float | None:
    """Returns how much faster one product and a split are than all products, predicted, in us.

    All but one launch and one reading of the shared operand go; the split is one launch more and
    moves all results once more. None where a size is not a number.
    """
    shared = byte_size(group[0].op.operands[0].type)
    results = [byte_size(sibling.op.result.type) for sibling in group]
    if shared is None or None in results:
        return None
    moved = 2 * sum(size for size in results if size is not None)
    bandwidth = target.hbm.bandwidth * target.efficiency["hbm"]
    launches = len(group) - 2  # one for the product, one for the split
    launch = target.overhead.launch_us + target.overhead.kernel_floor_us
    return launches * launch + ((len(group) - 1) * shared - moved) / bandwidth * _US


def _refusal(group: Sequence[Sibling], budget: Budget, target: Target) -> _Refusal | None:
    """Says why siblings stay apart, or None where they may be joined."""
    for sibling in group:
        if (uses := sibling.weight.uses.get_length()) > 1:
            text = "a weight has other users, so that it would be stored twice"
            return _Refusal(ReasonClass.USE, text, f"{uses} uses", "1 use")
        if sibling.bias is not None and not _is_row(sibling.bias):
            text = "a bias differs between rows"
            found = str(sibling.bias.type)
            return _Refusal(ReasonClass.SHAPE, text, found, "one number a column")
    saved = saved_us(group, target)
    if saved is None or any(sibling.columns is None for sibling in group):
        return _Refusal(ReasonClass.SYMBOL, "a size is not known", "a symbol", "numbers")
    if saved <= 0:
        text = f"it would not be faster on {target.name}"
        return _Refusal(ReasonClass.COST, text, f"{-saved:.1f} us slower", "faster")
    if not budget.allows(*(sibling.weight for sibling in group)):
        text = "no bytes are left for new weights (option 'max-bytes')"
        return _Refusal(ReasonClass.COST, text, "more", f"at most {budget.left} bytes")
    return None


def _joined(arrays: Sequence[npt.NDArray[Any]], axis: int, budget: Budget) -> GEOp:
    import numpy as np

    return budget.spend(np.concatenate(arrays, axis=axis))


def _array(value: SSAValue | None) -> npt.NDArray[Any]:
    array = None if value is None else constant_array(value)
    assert array is not None
    return array


def _row(sibling: Sibling) -> npt.NDArray[Any]:
    """Returns the bias of a sibling, one number a column."""
    import numpy as np

    return np.broadcast_to(_array(sibling.bias).reshape(-1), (sibling.columns or 0,))


def _merge(group: Sequence[Sibling], budget: Budget) -> None:
    """Replaces siblings by one product and a split, where the first of them stands."""
    first = group[0].op
    rows_are_outputs = isinstance(first, GemmOp) and first.trans_b is not None
    weight = _joined([_array(s.weight) for s in group], 0 if rows_are_outputs else 1, budget)
    ops: list[GEOp] = [weight]
    bias = None
    if group[0].bias is not None:
        bias = _joined([_row(sibling) for sibling in group], 0, budget)
        ops.append(bias)
    ops.append(_product(first, weight, bias))
    if group[0].add is not None and bias is not None:
        ops.append(AddOp(ops[-1], bias))
    axis = len(value_shape(ops[-1].results[0])) - 1
    split = SplitOp(ops[-1], axis, [sibling.columns or 0 for sibling in group])
    ops.append(split)
    location = fuse(sibling.op.location for sibling in group)
    block = first.parent
    assert block is not None
    for op in ops:
        op.location = location
    block.insert_ops_before(ops, first)
    for sibling, piece in zip(group, split.results, strict=True):
        sibling.result.replace_all_uses_with(piece)
        for old in (sibling.add, sibling.op):
            if old is not None:
                old.detach()
                old.erase()


def _product(first: MatmulOp | GemmOp, weight: GEOp, bias: GEOp | None) -> GEOp:
    if isinstance(first, MatmulOp):
        return MatmulOp(first.lhs, weight)
    flags = first.trans_a is not None, first.trans_b is not None
    return GemmOp(first.a, weight, bias, first.alpha.value.data, first.beta.value.data, *flags)


@dataclass(frozen=True)
class MergeParallelMatmulPass(ModulePass):
    """Joins products of one tensor with constant weights, where the target gains by it.

    Options:
    - `target`: name of a chip, or path of a TOML file. Default that of the module.
    - `max-bytes`: weights that may be computed anew, in all. Default 268435456.
    """

    name = NAME

    target: str | None = None
    max_bytes: int = 268435456

    @at_greatest
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target, budget = target_of(op, self.target), Budget(self.max_bytes)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                for block in list(_blocks(function)):
                    for group in list(_groups(block)):
                        self._merge_or_remark(group, budget, target)

    def _merge_or_remark(self, group: list[Sibling], budget: Budget, target: Target) -> None:
        op, count = group[0].op, len(group)
        if (why := _refusal(group, budget, target)) is not None:
            compared = {"found": why.found, "wanted": why.wanted}
            remarks.missed(NAME, RULE, op, why.message, reason=why.reason, **compared)
            return
        if not rewrites.permit(NAME, RULE, op):
            return
        remarks.passed(NAME, RULE, op, lambda: f"{count} products are one and a split")
        _merge(group, budget)
        statistics.count(NAME, RULE)


def _blocks(op: Operation) -> Iterator[Block]:
    """Yields the blocks inside an op, those of fused kernels left out."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.ops:
                if not isinstance(inner, FusionOp):
                    yield from _blocks(inner)
