"""`ge-bufferize`: tensors to buffers, ops to kernels and launches.

Before:
```mlir
func.func @main(%x: tensor<4xf32> {ge.name = "x"}) -> (tensor<4xf32> {ge.name = "y"}) {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
```
After: a `ge_exec.kernel @Relu_0` and a `ge_exec.plan @main` with input, buffer, one stream that
launches the kernel, and output. Nothing has an address yet.

An argument with the attribute `ge.donated` is an input whose bytes tasks may write over: an output
may lie there. `ge.zero_copy` of an op says that its results are views (`ge-zero-copy`).

`ge.if` and `ge.loop` become a branch and a loop of tasks. A value whose bytes are not known before
the run (its sizes depend on data, or it is text or a sequence) becomes an object on the heap.

Symbols of the inputs that have a greatest value become `ge_exec.symbol`; a value whose sizes they
decide gets bytes for the greatest. Example: tests/filecheck/lowering/bufferize.mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.ports import check_port_names, io_names
from ge_dialect.ge_exec import kernels_by_name
from ge_dialect.lowering.bufferizer import Bufferizer
from ge_dialect.lowering.data_sizes import DataSizes
from ge_dialect.lowering.kernels import KernelTable
from ge_dialect.lowering.static_sizes import check_inputs, report_objects
from ge_dialect.lowering.symbolic_inputs import add_guards, bounded_symbols, count_flops
from ge_dialect.passes.schedule.model import donated_arguments


@dataclass(frozen=True)
class BufferizePass(ModulePass):
    """Turns every function on tensors into kernels and an unplanned `ge_exec.plan`.

    Options:
    - `in-place`: whether an op may write over an operand that nobody reads later. Default true.
    - `in-place-shared`: whether it may do so where others read the operand before it; that orders
      the readers, so it is for plans on one stream. Default true.
    """

    name = "ge-bufferize"

    in_place: bool = True
    in_place_shared: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in op.body.block.ops if isinstance(f, FuncOp) and not f.is_declaration]
        if not functions:
            return
        kernels = KernelTable(functions[0], symbols_of(op))
        for function in functions:
            kernels.anchor = function
            check_inputs(function)
            check_port_names(function)
            report_objects(self.name, function)
            ranges = bounded_symbols(function)
            sizes = DataSizes.of(function)
            bufferizer = Bufferizer(
                kernels, self.in_place, self.in_place_shared, ranges | dict(sizes.ranges), sizes
            )
            inputs, outputs = io_names(function)
            donated = [inputs[index] for index in donated_arguments(function)]
            plan = bufferizer.plan(function, inputs, outputs, donated)
            add_guards(plan, function, ranges)
            if "ge.gear" in function.attributes:
                plan.attributes["ge.gear"] = function.attributes["ge.gear"]
            op.body.block.insert_op_before(plan, function)
            count_flops(kernels_by_name(plan).values(), plan)
            function.detach()  # nobody else reads what is in it, so it need not be taken apart


def symbols_of(module: ModuleOp) -> set[str]:
    """Returns the names that ops of a module have already."""
    names = (op.get_attr_or_prop("sym_name") for op in module.body.block.ops)
    return {name.data for name in names if isinstance(name, StringAttr)}


def donate(module: ModuleOp, names: Sequence[str]) -> None:
    """Gives inputs of these names the attribute `ge.donated`.

    Raises:
        GEError: No function has an input of a name (GE0217).
    """
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    known = [name for function in functions for name in io_names(function)[0]]
    if unknown := [name for name in names if name not in known]:
        raise GEError(
            "GE0217",
            f"no input is named {', '.join(map(repr, unknown))}",
            hint=f"the model's inputs are {', '.join(known)}",
        )
    for function in functions:
        inputs = io_names(function)[0]
        attrs = [dict(attr.data) for attr in function.arg_attrs or ()] or [{} for _ in inputs]
        for name, attr in zip(inputs, attrs, strict=True):
            if name in names:
                attr["ge.donated"] = UnitAttr()
        function.arg_attrs = ArrayAttr(map(DictionaryAttr, attrs))
