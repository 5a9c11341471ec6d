"""Whether rules about constants would make something else of a graph whose values become constants.

Asked of what a graph computes of its sizes, before it is taken out: the ops that read it, alone and
at the sizes of one gear, are given to the rules that look into constants.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextvars import Context as Variables
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.symbolic import bind_values
from ge_dialect.passes import statistics
from ge_dialect.passes.algebra.simplify_algebra import SimplifyAlgebraPass
from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
from ge_dialect.passes.raising.raise_composites import RaisePass

_PLACING = frozenset(("PutConstantRight",))
"""Rules that only say where a constant stands."""


@dataclass
class Readers:
    """The ops that read some values, as a function of these and of what else they read.

    Attributes:
        function: With copies of the ops; its first arguments are the values.
        count: Of the values.
        whole: Whether all ops are there: none has regions, whose ops may read them.
    """

    function: FuncOp
    count: int
    whole: bool

    @staticmethod
    def of(values: Sequence[SSAValue], without: Collection[Operation] = ()) -> Readers:
        """Returns copies of the ops that read values, but for some."""
        block = Block(arg_types=[value.type for value in values])
        known: dict[SSAValue, SSAValue] = dict(zip(values, block.args, strict=True))
        readers = dict.fromkeys(use.operation for value in values for use in value.uses)
        whole = True
        for op in readers:
            if op in without:
                continue
            if op.regions or not op.results:
                whole = False
                continue
            for operand in operands_of(op):
                if operand not in known:
                    known[operand] = block.insert_arg(operand.type, len(block.args))
            copied = op.clone(known)
            block.add_op(copied)
            known |= dict(zip(op.results, copied.results, strict=True))
        returned = [result for op in block.ops for result in op.results]
        block.add_op(ReturnOp(*returned))
        types = [argument.type for argument in block.args]
        function = FuncOp("readers", (types, [value.type for value in returned]), Region(block))
        return Readers(function, len(values), whole)

    def differ(self, arrays: Sequence[Any], sizes: Mapping[str, int], fast_math: Any) -> bool:
        """Whether some rule applies where the values are arrays.

        Args:
            arrays: One a value.
            sizes: Of the gear.
            fast_math: What results may differ in, as in `ge-simplify-algebra`.
        """
        if not self.whole:
            return True
        bound = self.function.clone()
        bind_values(bound, sizes)
        block = bound.body.block
        first = block.first_op
        assert first is not None
        for argument, array in zip(list(block.args), arrays, strict=False):
            constant = array_constant(array)
            block.insert_op_before(constant, first)
            argument.replace_all_uses_with(constant.result)
        bound.update_function_type()
        passes: list[ModulePass] = [
            CanonicalizePass(),
            SimplifyAlgebraPass(fast_math),
            RaisePass(fast_math=fast_math),
        ]
        return Variables().run(_changes, passes, ModuleOp([bound]))


def _changes(passes: Sequence[ModulePass], module: ModuleOp) -> bool:
    with statistics.collect() as counts:
        for one in passes:
            one.apply(Context(), module)
    return any(rule not in _PLACING for _, rule in counts)
