"""The sizes of one run: symbols read off the inputs, checked, and put into kernels."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.symbolic import bind_values, bound_dim, symbols_in
from ge_dialect.ge.types import is_tensor, shape_of, show_shape
from ge_dialect.ge_exec import BoundedType, InputOp, KernelOp, PlanOp
from ge_dialect.ge_exec.storage import buffer_shape
from ge_dialect.interpreters.compiled import Run
from ge_dialect.lowering.size_texts import show_range
from ge_dialect.symbols import SymbolRange, solve_for
from ge_dialect.tools.runtime.data_sizes import check_guards
from ge_dialect.tools.runtime.ports import Port, check_feeds
from ge_dialect.tools.runtime.tiles import TiledKernel

MAX_BOUND = 64
"""Kernels are kept for this many sets of sizes each."""

Sizes = Mapping[str, int]


def read_sizes(plan: PlanOp, arrays: Mapping[str, Any]) -> dict[str, int]:
    """Returns the value of each symbol that inputs tell, checked against its range and the guards.

    Args:
        plan: What is run.
        arrays: The inputs by name.

    Raises:
        GEError: A size leaves its range (GE0820), or a guard does not hold (GE0821).
    """
    sizes: dict[str, int] = {}
    for op in plan.symbols:
        if not isinstance(op.input.owner, InputOp):
            continue
        name, axis = op.input.owner.io_name.data, op.dim.value.data
        size = int(np.shape(arrays[name])[axis])
        symbol, known = op.symbol.data, op.known
        value = solve_for(op.expression, symbol, size, sizes)
        if value is None:
            raise GEError(
                "GE0820",
                f"dim {axis} of input '{name}' is {size}, expected a value of {op.expression}",
                hint=_declared(symbol, known),
            )
        if not known.contains(value):
            raise outside(symbol, value, known, f"input '{name}' dim {axis}")
        sizes[symbol] = value
    check_guards([op.guard for op in plan.guards], sizes)
    return sizes


def outside(symbol: str, value: int, known: SymbolRange, where: str) -> GEError:
    """Returns the error of a size that leaves the range it was declared with."""
    return GEError(
        "GE0820",
        f"{symbol} = {value} leaves {show_range(known)} declared for {where}",
        hint="compile the model for a range that holds this size, with --input_shape",
    )


def _declared(symbol: str, known: SymbolRange) -> str:
    return f"{symbol} is {show_range(known)} by {known.origin or 'the model'}"


def ports_at(ports: Sequence[Port], plan: PlanOp, sizes: Sizes) -> list[Port]:
    """Returns ports with the sizes of one run."""
    types = {op.io_name.data: op.result.type for op in plan.inputs}
    found: list[Port] = []
    for port in ports:
        value = getattr(types[port.name], "value", None)
        if value is None or not is_tensor(value):
            found.append(port)
            continue
        dims = tuple(bound_dim(dim, sizes) for dim in shape_of(value))
        shape = tuple(dim if isinstance(dim, int) else None for dim in dims)
        found.append(Port(port.name, shape, port.dtype, port.container))
    return found


def check_sizes(
    ports: Sequence[Port], plan: PlanOp, sizes: Sizes, feeds: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the arrays of all inputs, checked against the sizes that the symbols give them.

    Raises:
        GEError: One has another shape (GE0803); says which sizes decide it.
    """
    try:
        return check_feeds(ports_at(ports, plan, sizes), feeds)
    except GEError as error:
        shown = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        expected = "; ".join(
            f"'{op.io_name.data}' is {show_shape(buffer_shape(op.result.type))}"
            for op in plan.inputs
            if isinstance(op.result.type, BoundedType)
            and f"input '{op.io_name.data}'" in error.message
        )
        error.hint = f"with {shown}: {expected}" if expected else error.hint
        raise


@dataclass
class BoundKernels:
    """What runs the kernels of a plan, with numbers for their symbols, made when first needed.

    A kernel is a function of its operands and of the symbols in its types; what a device would get
    as parameters of its tiling is put into the types here.

    Attributes:
        make: Returns what runs a kernel without symbols.
    """

    make: Callable[[KernelOp], Run | TiledKernel]
    _names: dict[KernelOp, tuple[str, ...]] = field(default_factory=dict[KernelOp, tuple[str, ...]])
    _runs: dict[KernelOp, OrderedDict[tuple[int, ...], Run | TiledKernel]] = field(
        default_factory=dict[KernelOp, OrderedDict[tuple[int, ...], Run | TiledKernel]]
    )
    _lock: Lock = field(default_factory=Lock)

    def at(self, kernel: KernelOp, sizes: Sizes) -> Run | TiledKernel:
        """Returns what runs a kernel at the sizes of a run."""
        with self._lock:
            if (names := self._names.get(kernel)) is None:
                names = self._names[kernel] = symbols_in(kernel)
            key = tuple(sizes[name] for name in names if name in sizes)
            known = self._runs.setdefault(kernel, OrderedDict())
            if (found := known.get(key)) is None:
                bound = kernel
                if key:
                    bound = kernel.clone()
                    bind_values(bound, sizes)
                found = known[key] = self.make(bound)
                while len(known) > MAX_BOUND:
                    known.popitem(last=False)
            return found
