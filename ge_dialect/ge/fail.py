"""What stands for a computation that cannot run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def, traits_def, var_result_def
from xdsl.traits import MemoryWriteEffect

from ge_dialect.ge.base import Engine, GEOp


@irdl_op_definition
class FailOp(GEOp):
    """Stops the run with a message; its results are never there.

    Stands in a branch whose ops do not fit the shapes at hand, while the other branch does: which
    one is taken is known at run time only. May be neither dropped nor moved out of its branch.

    Example:
    ```mlir
    %y = ge.fail "expected an input of rank 3" : tensor<4xf32>
    ```
    """

    name = "ge.fail"
    GE_TYPE: ClassVar = "Assert"
    GE_INPUTS: ClassVar = ()
    ENGINE: ClassVar = Engine.HOST

    message = prop_def(StringAttr)
    res = var_result_def()

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$message attr-dict `:` type($res)"

    def __init__(self, message: str, result_types: Sequence[Attribute]):
        super().__init__(
            [],
            {"message": StringAttr(message)},
            result_types=result_types,
            num_results=len(result_types),
        )

    def infer_types(self) -> Sequence[Attribute]:
        return [result.type for result in self.results]

    def flops(self) -> int:
        return 0
