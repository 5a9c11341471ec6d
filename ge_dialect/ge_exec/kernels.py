"""Kernels: what a task computes, as `ge` ops on tensors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import Engine, I64Attr, int_attr
from ge_dialect.ge.structure import yield_of


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel: a function of tensors, launched on buffers.

    `op_type` is GE's name of it, `engine` the unit that runs it, `flops` its arithmetic. The body
    is all its meaning; the constants it needs immediately are inside.

    Constraints:
    - (C1) `engine` is cube, vector, dma or host.
    - (C2) The body ends with `ge.yield`.

    Example:
    ```mlir
    ge_exec.kernel @Add_0 "Add" engine "vector" flops 4 {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %s = ge.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      ge.yield %s : tensor<4xf32>
    }
    ```
    """

    name = "ge_exec.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    op_type = prop_def(StringAttr)
    engine = prop_def(StringAttr)
    flops = prop_def(I64Attr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    assembly_format = (
        "$sym_name $op_type `engine` $engine `flops` $flops attr-dict-with-keyword $body"
    )

    def __init__(self, sym_name: str, op_type: str, engine: Engine, flops: int, body: Region):
        super().__init__(
            properties={
                "sym_name": StringAttr(sym_name),
                "op_type": StringAttr(op_type),
                "engine": StringAttr(engine.value),
                "flops": int_attr(flops),
            },
            regions=[body],
        )

    @property
    def input_types(self) -> Sequence[Attribute]:
        """Types of the tensors the kernel reads."""
        return [arg.type for arg in self.body.block.args]

    @property
    def output_types(self) -> Sequence[Attribute]:
        """Types of the tensors the kernel writes."""
        return [value.type for value in yield_of(self.body).arguments]

    @property
    def unit(self) -> Engine:
        """The engine that runs the kernel."""
        return Engine(self.engine.data)

    def verify_(self) -> None:
        if self.engine.data not in list(Engine):  # (C1)
            raise VerifyException(
                f"expected 'engine' to be one of {', '.join(Engine)}, got {self.engine.data}"
            )
        yield_of(self.body)  # (C2)


def kernels_by_name(op: Operation) -> dict[str, KernelOp]:
    """Returns the kernels beside an op of a module, by symbol.

    A look-up of one symbol walks the module; who asks for every task asks this once.
    """
    block = op.parent
    found = () if block is None else block.ops
    return {kernel.sym_name.data: kernel for kernel in found if isinstance(kernel, KernelOp)}
