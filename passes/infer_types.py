"""`ge-infer-types`: result types from operand types, in order, and what follows from constants.

One walk, producers first: refines the result types of every op; evaluates small integer ops on
constants (they carry shapes); and gives a host call whose operands turned out constant the op of
`ge` that it really is. What was a dynamic shape computed by ops becomes a number in a type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.structure import FusionOp, HostCallOp
from ge_dialect.ge.symbolic import assuming_ranges
from ge_dialect.interpreters.folding import (
    evaluate_constant,
    is_shape_computation,
    replace_by_constants,
)
from ge_dialect.locations import location_name
from ge_dialect.passes import rewrites, statistics

NAME = "ge-infer-types"


@dataclass(frozen=True)
class InferTypesPass(ModulePass):
    """Refines result types from operands, producers first.

    Options:
    - `fold-shapes`: whether to evaluate small ops on constants on the way. Default true.
    """

    name = NAME
    exact = True

    fold_shapes: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with assuming_ranges(op):
            for inner in op.body.block.ops:
                # Several blocks are another dialect's control flow: their types belong to it.
                if isinstance(inner, FuncOp) and len(inner.body.blocks) == 1:
                    self._infer_block(inner.body.block)
                    _update_signature(inner)

    def _infer_block(self, block: Block) -> None:
        for op in list(block.ops):
            if not isinstance(op, GEOp):
                continue
            if not isinstance(op, FusionOp):
                for region in op.regions:
                    for inner in region.blocks:
                        self._infer_block(inner)
            for known in _promoted(op):
                self._infer(known)

    def _infer(self, op: GEOp) -> None:
        try:
            changed = op.refine_types()
        except VerifyException as error:
            where = location_name(op) or "an op without a name"
            raise GEError("GE0301", f"'{op.name}' at {where}: {error}") from error
        if changed:
            statistics.count(NAME, "refined")
        if self.fold_shapes and is_shape_computation(op):
            constants = evaluate_constant(op)
            if not isinstance(constants, str) and rewrites.permit(NAME, "evaluate", op):
                replace_by_constants(op, constants)
                statistics.count(NAME, "evaluated")


def _promoted(op: GEOp) -> Sequence[GEOp]:
    """Replaces a host call by what it is in `ge`, where its operands are constant by now.

    Returns the ops whose types are to be inferred: those that give the results, or `op` itself.
    """
    if not isinstance(op, HostCallOp):
        return (op,)
    from ge_dialect.frontends.onnx.promote import promote

    counted = rewrites.active()
    if counted is not None and counted.spent:
        return (op,)
    where = "" if counted is None else counted.where(op)
    if (values := promote(op)) is None:
        return (op,)
    if counted is not None:
        counted.note(NAME, "promote", where)
    statistics.count(NAME, "promoted")
    owners = dict.fromkeys(value.owner for value in values)
    return [owner for owner in owners if isinstance(owner, GEOp)]


def _update_signature(function: FuncOp) -> None:
    """Gives a function the result types that its return now has."""
    last = function.body.block.last_op
    if isinstance(last, ReturnOp):
        function.update_function_type()
