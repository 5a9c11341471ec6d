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

Limits: every shape is a number; one function. Example: tests/filecheck/lowering/bufferize.mlir.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import NamedWeight, StringsAttr, WeightAttr
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp, array_of
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge_exec import (
    BufferOp,
    CopyOp,
    InputOp,
    LaunchOp,
    OutputOp,
    PlanOp,
    StreamOp,
    ViewOp,
    WeightOp,
)
from ge_dialect.ge_exec.memory import PlacedOp, base_of, buffer_bytes, buffer_type
from ge_dialect.locations import location_name, op_name
from ge_dialect.lowering.kernels import KernelTable, external_values
from ge_dialect.lowering.static_sizes import check_static


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
            check_static(function)
            plan = Bufferizer(function, kernels, self.in_place, self.in_place_shared).run()
            op.body.block.insert_op_before(plan, function)
            function.detach()
            function.erase(safe_erase=False)


def symbols_of(module: ModuleOp) -> set[str]:
    """Returns the names that ops of a module have already."""
    names = (op.get_attr_or_prop("sym_name") for op in module.body.block.ops)
    return {name.data for name in names if isinstance(name, StringAttr)}


def io_names(function: FuncOp) -> tuple[list[str], list[str]]:
    """Returns the names of a function's inputs and outputs, from `ge.name` or by position."""
    return (
        _names(function.arg_attrs, len(function.function_type.inputs), "arg"),
        _names(function.res_attrs, len(function.function_type.outputs), "result"),
    )


def _names(attrs: ArrayAttr[DictionaryAttr] | None, count: int, default: str) -> list[str]:
    names = [f"{default}{i}" for i in range(count)]
    for i, attr in enumerate(attrs or ()):
        if isinstance(name := attr.data.get("ge.name"), StringAttr):
            names[i] = name.data
    return names


@dataclass
class Bufferizer:
    """One function on its way to a plan."""

    function: FuncOp
    kernels: KernelTable
    in_place: bool
    in_place_shared: bool
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    remaining: dict[PlacedOp, int] = field(default_factory=dict[PlacedOp, int])
    placed: list[Operation] = field(default_factory=list[Operation])
    weights: list[Operation] = field(default_factory=list[Operation])
    inputs: list[Operation] = field(default_factory=list[Operation])
    tasks: list[Operation] = field(default_factory=list[Operation])
    outputs: list[Operation] = field(default_factory=list[Operation])

    def run(self) -> PlanOp:
        """Returns the plan of the function."""
        input_names, output_names = io_names(self.function)
        for arg, name in zip(self.function.body.block.args, input_names, strict=True):
            op = InputOp(name, buffer_type(tensor_of(arg)))
            op.result.name_hint = arg.name_hint
            self.inputs.append(op)
            self._bind(arg, op.result)
        for op in self.function.body.block.ops:
            if isinstance(op, ReturnOp):
                self._return(op, output_names)
            elif isinstance(op, ConstantOp):
                continue  # materialised where a launch or an output reads it
            elif isinstance(op, GEOp):
                self._lower(op)
            else:
                raise GEError(
                    "GE0521",
                    f"'{op_name(op)}' at {location_name(op) or 'unknown'} has no kernel:"
                    " only ops of ge can be lowered",
                )
        stream = StreamOp(0, self.tasks)
        body = [*self.inputs, *self.weights, *self.placed, stream, *self.outputs]
        return PlanOp(self.function.sym_name.data, body)

    def _lower(self, op: GEOp) -> None:
        if (viewed := op.view_of()) is not None:
            source = self._buffer(op.operands[viewed])
            view = ViewOp(source, buffer_type(tensor_of(op.results[0])))
            view.location = op.location
            view.result.name_hint = op.results[0].name_hint
            self.placed.append(view)
            self._consume(op)
            self._bind(op.results[0], view.result)
            return
        kernel, operands = self.kernels.kernel_of(op)
        sources = [self._buffer(operand) for operand in operands]
        targets = [self._target(op, index) for index in range(len(op.results))]
        launch = LaunchOp(len(self.tasks), kernel, sources, targets)
        launch.location = op.location
        self.tasks.append(launch)
        self._consume(op)
        for result, target in zip(op.results, targets, strict=True):
            self._bind(result, target)

    def _bind(self, value: SSAValue, buffer: SSAValue) -> None:
        self.buffers[value] = buffer
        base, _ = base_of(buffer)
        self.remaining[base] = self.remaining.get(base, 0) + value.uses.get_length()

    def _consume(self, op: Operation) -> None:
        """Counts the reads of an op off, so that in-place sees which bytes are still wanted."""
        for value in external_values(op, with_repeats=True):
            if (buffer := self.buffers.get(value)) is not None:
                self.remaining[base_of(buffer)[0]] -= 1

    def _target(self, op: GEOp, index: int) -> SSAValue:
        result = op.results[index]
        type_ = buffer_type(tensor_of(result))
        for operand, target in op.in_place_pairs() if self.in_place else ():
            if target == index and self._is_last_read(op, op.operands[operand]):
                return self.buffers[op.operands[operand]]
        buffer = BufferOp(type_)
        buffer.location = op.location
        buffer.result.name_hint = result.name_hint
        self.placed.append(buffer)
        return buffer.result

    def _is_last_read(self, op: GEOp, value: SSAValue) -> bool:
        """Whether nobody but `op` reads the bytes of `value`, now or later."""
        if (buffer := self.buffers.get(value)) is None or isinstance(buffer.owner, ViewOp):
            return False
        if not self.in_place_shared and value.uses.get_length() > 1:
            return False
        base, _ = base_of(buffer)
        reads_here = sum(operand is value for operand in op.operands)
        return isinstance(base, BufferOp) and self.remaining[base] == reads_here == 1

    def _buffer(self, value: SSAValue) -> SSAValue:
        """Returns the buffer of a value, made now if it is a constant."""
        if (buffer := self.buffers.get(value)) is not None:
            return buffer
        constant = value.owner
        assert isinstance(constant, ConstantOp)
        weight = WeightOp(weight_attr(constant), buffer_type(tensor_of(value)))
        weight.result.name_hint = value.name_hint
        weight.location = constant.location
        self.weights.append(weight)
        self._bind(value, weight.result)
        return weight.result

    def _return(self, op: ReturnOp, names: list[str]) -> None:
        taken: set[PlacedOp] = set()
        for value, name in zip(op.arguments, names, strict=True):
            buffer = self._buffer(value)
            base, _ = base_of(buffer)
            whole = base.size == buffer_bytes(buffer.type)
            if not isinstance(base, BufferOp) or base in taken or not whole:
                buffer = self._copy(value, buffer)
                base, _ = base_of(buffer)
            taken.add(base)
            self.outputs.append(OutputOp(name, buffer))

    def _copy(self, value: SSAValue, source: SSAValue) -> SSAValue:
        """Gives an output bytes of its own: inputs, weights and shared bytes cannot be outputs."""
        buffer = BufferOp(buffer_type(tensor_of(value)))
        copy = CopyOp(len(self.tasks), source, buffer.result)
        if isinstance(value.owner, Operation):
            copy.location = value.owner.location
        self.placed.append(buffer)
        self.tasks.append(copy)
        return buffer.result


def weight_attr(constant: ConstantOp) -> WeightAttr:
    """Returns the weight of a constant; a dense attribute becomes one in memory."""
    from ge_dialect.weights import MemoryWeight

    if isinstance(constant.value, WeightAttr):
        return constant.value
    if isinstance(constant.value, StringsAttr):
        where = location_name(constant) or "without a name"
        raise GEError("GE0522", f"the constant of strings at {where} would need a place in memory")
    data = array_of(constant.value, tensor_of(constant.result)).tobytes()
    name = location_name(constant) or f"constant_{MemoryWeight(data).digest[:12]}"
    return WeightAttr(NamedWeight(name, MemoryWeight(data)))
