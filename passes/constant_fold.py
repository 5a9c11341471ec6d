"""`ge-constant-fold`: evaluates ops on constants, unless the result would be much larger.

Best effort: what has no semantics, fails, or grows stays, with a remark that says so. What is made
of values that grow is evaluated with them where it does not grow itself (`constant_cones.py`). A
result without elements is a constant whatever it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp, empty_constant
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.convolution import ConvOp
from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.quantization import DequantizeLinearOp
from ge_dialect.ge.structure import FusionOp
from ge_dialect.ge.types import is_tensor, shape_of, show_shape, static_shape, tensor_of
from ge_dialect.interpreters.folding import (
    may_evaluate,
    operand_bytes,
    replace_by_constants,
    result_bytes,
)
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.constant_cones import Cone, Cones

NAME = "ge-constant-fold"


@dataclass(frozen=True)
class ConstantFoldPass(ModulePass):
    """Evaluates pure ops whose operands are all constants, by the reference semantics, and those
    whose results have no elements.

    Options:
    - `max-growth`: how many bytes a result may have more than its operands. Default 65536.
    - `max-bytes`: results above this size stay computed at run time. Default 16777216.
    """

    name = NAME
    exact = True

    max_growth: int = 65536
    max_bytes: int = 16777216

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        folded = sum(self._fold_block(block) for region in op.regions for block in region.blocks)
        statistics.count(NAME, "folded", folded)

    def _fold_block(self, block: Block) -> int:
        folded = 0
        cones = Cones(self.max_bytes)
        for op in list(block.ops):
            if isinstance(op, ConstantOp):
                continue
            if not isinstance(op, FusionOp):  # a kernel's body is what the kernel does
                for region in op.regions:
                    folded += sum(self._fold_block(inner) for inner in region.blocks)
            if _is_empty(op):
                folded += _fold_empty(op)
            elif (
                (cone := cones.cone_of(op)) is not None
                and may_evaluate(op)
                and not op.has_trait(IsolatedFromAbove)
            ):
                folded += self._fold(op, cone, cones)
        return folded

    def _fold(self, op: Operation, cone: Cone, cones: Cones) -> int:
        if result_bytes(op) is None:
            _tell_unknown(op)
            return 0
        if (reason := self._refusal(op, cone)) is not None:
            if not cone.ops:  # said of the first one already
                remarks.missed(NAME, "fold", op, reason, reason=remarks.ReasonClass.COST)
            cones.add(op, cone)
            return 0
        constants = cones.evaluate(op, cone)
        if isinstance(constants, str):
            message = f"not folded: {constants}"
            remarks.missed(NAME, "fold", op, message, reason=remarks.ReasonClass.CONST)
            return 0
        if not rewrites.permit(NAME, "fold", op):
            return 0
        replace_by_constants(op, constants)
        return 1

    def _refusal(self, op: Operation, cone: Cone) -> str | None:
        """Says why an op must not be evaluated, or None where it may."""
        if _is_quantized_weight(op):
            return "not folded: a product of bytes reads it"
        size = result_bytes(op) or 0
        growth = size - (cone.leaf_bytes if cone.ops else operand_bytes(op))
        most = 0 if cone.ops else self.max_growth
        if growth > most:
            return f"not folded: {growth} bytes more than its operands, at most {most}"
        if size > self.max_bytes:
            return f"not folded: {size} bytes, at most {self.max_bytes}"
        return None


def _is_quantized_weight(op: Operation) -> bool:
    """Whether an op dequantises what is multiplied with something else that is dequantised.

    Both are bytes, which `ge-raise` and the operator library multiply as such.
    """
    if not isinstance(op, DequantizeLinearOp) or result_bytes(op) is None:
        return False
    if dtype_of(tensor_of(op.input).element_type).bits > 8:
        return False
    return any(
        isinstance(use.operation, ConvOp | MatmulOp | GemmOp)
        and use.index == 1
        and isinstance(use.operation.operands[0].owner, DequantizeLinearOp)
        for use in op.result.uses
    )


def _is_empty(op: Operation) -> bool:
    """Whether nothing but results without elements comes of an op."""
    if not isinstance(op, GEOp) or not op.results:
        return False
    for result in op.results:
        if 0 not in (static_shape(result.type) or ()):
            return False
    return not op.regions and is_side_effect_free(op)


def _fold_empty(op: Operation) -> int:
    if not rewrites.permit(NAME, "fold", op):
        return 0
    constants = [empty_constant(tensor_of(result)) for result in op.results]
    for constant, result in zip(constants, op.results, strict=True):
        constant.location, constant.result.name_hint = op.location, result.name_hint
    replace_by_constants(op, constants)
    return 1


def _tell_unknown(op: Operation) -> None:
    """Says that every run computes what would be a constant at any one size, and of which sizes."""
    shapes = [shape_of(r.type) for r in op.results if is_tensor(r.type)]
    shown = ", ".join(map(show_shape, shapes)) or "of no tensor"
    message = f"not folded: its size {shown} is not known, so every run computes it"
    remarks.missed(
        NAME,
        "fold",
        op,
        message,
        reason=remarks.ReasonClass.SYMBOL,
        found=shown,
        wanted="numbers",
        fix="compile gears, or fixed sizes, where this matters",
    )
