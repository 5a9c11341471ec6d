"""Kernels: what a task computes, as `ge` ops on tensors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import Engine, FormattedOp, I64Attr, int_attr
from ge_dialect.ge.structure import yield_of
from ge_dialect.ge.types import static_shape
from ge_dialect.ge_exec.tiling import SCORES, WEIGHTS, Tiling, TilingAttr, cut_text, value_names


@irdl_op_definition
class KernelOp(FormattedOp):
    """A kernel: a function of tensors, launched on buffers.

    `op_type` is GE's name of it, `engine` the unit that runs it, `flops` its arithmetic. The body
    is all its meaning; the constants it needs immediately are inside. `tiles` says how it is
    computed tile by tile, and where its values lie on the chip.

    Constraints:
    - (C1) `engine` is cube, vector, dma or host.
    - (C2) The body ends with `ge.yield`.
    - (C3) `tiles` has a buffer for each value of the body, in order, and for the scores and weights
      of attentions; each cuts all dimensions of its value along loops of `tiles`.

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
    tiles = opt_prop_def(TilingAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    assembly_format = (
        "$sym_name $op_type `engine` $engine `flops` $flops (`tiles` $tiles^)?"
        " attr-dict-with-keyword $body"
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

    @property
    def tiling(self) -> Tiling | None:
        """How the kernel is computed tile by tile; None where nothing says."""
        return None if self.tiles is None else self.tiles.data

    @property
    def reread_bytes(self) -> int:
        """Bytes that the tiles of one launch read from HBM more than once."""
        return 0 if self.tiles is None else self.tiles.data.reread

    def verify_(self) -> None:
        if self.engine.data not in list(Engine):  # (C1)
            raise VerifyException(
                f"expected 'engine' to be one of {', '.join(Engine)}, got {self.engine.data}"
            )
        yield_of(self.body)  # (C2)
        if self.tiles is not None:
            self._verify_tiles(self.tiles.data)  # (C3)

    def _verify_tiles(self, tiling: Tiling) -> None:
        values = value_names(self.body.block)
        ranks: dict[str, int] = {}
        for name, value in values.items():
            shape = static_shape(value.type)
            if shape is None:
                raise VerifyException(
                    f"expected 'tiles' of values of static shape, got {value.type}"
                )
            ranks[name] = len(shape)
        for name in list(values):
            if name.startswith("flash_attention"):
                ranks |= {f"{name}.{inner}": 4 for inner in (SCORES, WEIGHTS)}
        names = [buffer.name for buffer in tiling.buffers]
        if names != list(ranks):
            raise VerifyException(
                f"expected 'tiles' of {', '.join(ranks)}, got {', '.join(names) or 'none'}"
            )
        for buffer in tiling.buffers:
            loops = [loop for cut in buffer.cuts for loop, _ in cut]
            if len(buffer.cuts) != ranks[buffer.name] or any(i >= len(tiling.loops) for i in loops):
                raise VerifyException(
                    f"expected '{buffer.name}' of rank {ranks[buffer.name]} cut along"
                    f" {len(tiling.loops)} loops, got ({', '.join(map(cut_text, buffer.cuts))})"
                )


def kernels_by_name(op: Operation) -> dict[str, KernelOp]:
    """Returns the kernels beside an op of a module, by symbol.

    A look-up of one symbol walks the module; who asks for every task asks this once.
    """
    block = op.parent
    found = () if block is None else block.ops
    return {kernel.sym_name.data: kernel for kernel in found if isinstance(kernel, KernelOp)}
