"""`ge-bound-sizes`: a symbol for each size that only a run finds out, with what it is at most.

Before: `NonZero(x)` of `[4, 8]` is `tensor<2x?xi64>`, and of what follows nothing is known. After:
it is `tensor<2x?xi64, #ge.dims<"u0">>` with `u0` in 0..32, and everything behind it has sizes in
terms of `u0`: bytes can be planned for the greatest. The task that computes such a value tells its
size in each run.

What the sizes of one op are together (a `Reshape` to what a run computes keeps the number of
elements), and what later ops ask of them, become guards of the function, checked once all symbols
in them are known.

Limits: sizes that nothing bounds stay unknown; a remark names the op. Example:
tests/filecheck/passes/bound_sizes.mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnrankedTensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.frontends.onnx.convert.dims import SymbolicDims
from ge_dialect.ge.base import GEOp, set_type
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.structure import FusionOp, HostCallOp, IfOp, LoopOp, yield_of
from ge_dialect.ge.symbolic import (
    DATA_SYMBOLS,
    add_guard,
    data_ranges,
    set_symbol_ranges,
    symbol_ranges,
    symbols_in,
)
from ge_dialect.ge.types import (
    MaybeDim,
    Shape,
    element_type_of,
    is_tensor,
    shape_of,
    tensor_type,
)
from ge_dialect.locations import location_name
from ge_dialect.passes import statistics
from ge_dialect.passes.compute_dims import ComputeDimsPass
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.passes.symbols.data_sizes import (
    DataSizes,
    Dims,
    Size,
    Sizes,
    product_of,
    sizes_of,
)
from ge_dialect.passes.symbols.resolve_symbols import Open
from ge_dialect.symbols import (
    Dim,
    Guard,
    Relation,
    SymbolRange,
    bounds,
    maximum,
    symbol,
    symbols_of,
)
from ge_dialect.symbols.feasible import guard_symbols
from ge_dialect.symbols.ranges import INT64_MAX

NAME = "ge-bound-sizes"

MAX_ROUNDS = 8
"""Most times that a graph is looked at again because a size that got a name told others."""


@dataclass(frozen=True)
class BoundSizesPass(ModulePass):
    """Gives sizes that depend on data a symbol and a range."""

    name = NAME
    exact = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and len(function.body.blocks) == 1:
                _bound(ctx, op, function)


def _bound(ctx: Context, module: ModuleOp, function: FuncOp) -> None:
    if not any(is_open(op) for op in function.walk()):
        return
    namer = Namer(function)
    for _ in range(MAX_ROUNDS):
        before = namer.named
        namer.block(function.body.block)
        if namer.named == before:
            break
        set_symbol_ranges(function, namer.data, DATA_SYMBOLS)
        InferTypesPass().apply(ctx, module)
        ComputeDimsPass().apply(ctx, module)
    namer.declare()


def is_open(op: Operation) -> bool:
    """Whether the sizes of what an op computes are its own: unknown, or a symbol it has named."""
    return isinstance(op, HostCallOp | IfOp | LoopOp) and any(
        is_tensor(result.type) and not all(isinstance(dim, int) for dim in shape_of(result.type))
        for result in op.results
    )


def size_limits(function: FuncOp) -> dict[str, Dim]:
    """Returns what the sizes of a function that depend on data are at most, in terms of others; of
    those that have a symbol by now."""
    found: dict[str, Dim] = {}
    Namer(function).limits(function.body.block, found)
    return found


@dataclass
class Namer:
    """Names the sizes of one function.

    Attributes:
        function: With its symbols.
        ranges: Of all its symbols.
        data: Of those that are named here, now or earlier.
        products: What sizes of one value are together.
        named: How many sizes have got a name.
    """

    function: FuncOp
    ranges: dict[str, SymbolRange] = field(init=False)
    data: dict[str, SymbolRange] = field(init=False)
    products: list[Guard] = field(default_factory=list[Guard])
    named: int = 0

    def __post_init__(self) -> None:
        self.data = data_ranges(self.function)
        self.ranges = symbol_ranges(self.function) | self.data
        self.dims = SymbolicDims()
        self._free = (name for name in (f"u{n}" for n in count()) if name not in self._taken)
        self._taken = {*self.ranges, *symbols_in(self.function)}

    def block(self, block: Block) -> None:
        """Names the sizes in a block, in order, so that what follows is known of later ones."""
        for op in block.ops:
            if not isinstance(op, GEOp) or isinstance(op, FusionOp):
                continue
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner)
            if is_open(op):
                self._name(op)
            else:
                op.refine_types()
            self.dims.after(op)

    def limits(self, block: Block, found: dict[str, Dim]) -> None:
        """Adds what the symbols of the sizes in a block are at most."""
        for op in block.ops:
            if not isinstance(op, GEOp) or isinstance(op, FusionOp):
                continue
            for region in op.regions:
                for inner in region.blocks:
                    self.limits(inner, found)
            for result, dims in zip(op.results, self._sizes_of(op), strict=False):
                known = shape_of(result.type) if is_tensor(result.type) else ()
                for have, dim in zip(known, dims or (), strict=False):
                    name = self._named(have)
                    if name is not None and isinstance(dim, Size) and dim.most is not None:
                        found.setdefault(name, dim.most)
            self.dims.after(op)

    def _sizes_of(self, op: GEOp) -> Sizes:
        return self._sizes(op).results if is_open(op) else ()

    def _named(self, dim: MaybeDim) -> str | None:
        """Returns the symbol that a dimension is, where it depends on data."""
        names = () if dim is None else symbols_of(dim)
        return (
            names[0]
            if len(names) == 1 and names[0] in self.data and dim == symbol(names[0])
            else None
        )

    def declare(self) -> None:
        """Declares the symbols, and what has to hold of them, for what the function still holds."""
        used = symbols_in(self.function)
        kept = {name: known for name, known in self.data.items() if name in used}
        set_symbol_ranges(self.function, kept, DATA_SYMBOLS)
        asked = Open(self.ranges, solve=False)
        asked.collect(self.function.body.block)
        for guard in (*self.products, *(guard for guard, _ in asked.guards)):
            names = guard_symbols(guard)
            mine = any(name in kept for name in names)
            if mine and all(name in kept or name in self.ranges for name in names):
                add_guard(self.function, guard)
        self.function.update_function_type()

    def _name(self, op: GEOp) -> None:
        found = self._sizes(op)
        mine: dict[str, MaybeDim] = {}
        for result, dims in zip(op.results, found.results, strict=False):
            if dims is None:
                continue
            if is_tensor(result.type) and len(shape_of(result.type)) == len(dims):
                old = shape_of(result.type)
                new = tuple(
                    self._dim(op, have, dim, mine) for have, dim in zip(old, dims, strict=True)
                )
                if new != old:
                    set_type(result, tensor_type(result.type.element_type, new))
            elif isinstance(result.type, UnrankedTensorType):
                shape = tuple(self._dim(op, None, dim, mine) for dim in dims)
                set_type(result, tensor_type(element_type_of(result), shape))
        self._note_product(op, found)

    def _dim(
        self, op: GEOp, have: MaybeDim, dim: MaybeDim | Size, mine: dict[str, MaybeDim]
    ) -> MaybeDim:
        """Returns a dimension of a result: what is known of it, or a symbol."""
        if not isinstance(dim, Size):
            return dim if have is None else have
        if have is not None:
            self._sharpen(have, dim)
            mine.setdefault(dim.key, have)
            return have
        if dim.key not in mine:
            mine[dim.key] = self._new(op, dim)
        return mine[dim.key]

    def _sizes(self, op: GEOp) -> DataSizes:
        if isinstance(op, LoopOp):
            return _loop_sizes(op)
        if isinstance(op, IfOp):
            return _if_sizes(op)
        assert isinstance(op, HostCallOp)
        return sizes_of(op, self.dims)

    def _new(self, op: GEOp, size: Size) -> MaybeDim:
        most = self._most(size)
        if most == size.least:
            return most
        name = next(self._free)
        where = location_name(op) or "an op without a name"
        known = SymbolRange(size.least, most, 1, f"what '{op.ge_op_type()}' at '{where}' finds")
        self.data[name] = self.ranges[name] = known
        self.named += 1
        statistics.count(NAME, "size")
        if most is None:
            what = f"nothing bounds {name}, a size of {op.results[0].type}"
            remarks.analysis(NAME, "unbounded", op, what)
        else:
            what = f"{name} is {known.lo}..{most}, and known in the run"
            remarks.analysis(NAME, "size", op, what)
        return symbol(name)

    def _most(self, size: Size) -> int | None:
        most = None if size.most is None else bounds(size.most, self.ranges)[1]
        return None if most is None or most >= INT64_MAX else max(most, size.least)

    def _sharpen(self, have: Dim, size: Size) -> None:
        """Lowers the end of a symbol's range where operands are known better by now."""
        names = symbols_of(have)
        most = self._most(size)
        if most is None or len(names) != 1 or have != symbol(names[0]):
            return
        known = self.data.get(names[0])
        if known is not None and known.lo <= most and (known.hi is None or most < known.hi):
            narrowed = SymbolRange(known.lo, most, known.multiple_of, known.origin)
            self.data[names[0]] = self.ranges[names[0]] = narrowed
            self.named += 1

    def _note_product(self, op: GEOp, found: DataSizes) -> None:
        dims = [dim for dim in shape_of_first(op) if dim is not None]
        if found.product is None or len(dims) != len(shape_of_first(op)):
            return
        whole = product_of(dims)
        if whole is not None and not isinstance(whole, int):
            where = location_name(op) or "an op without a name"
            why = f"'{op.ge_op_type()}' at '{where}' (the elements of its operand)"
            self.products.append(Guard(whole, Relation.EQUAL, found.product, why))


def shape_of_first(op: Operation) -> Shape:
    """Returns the shape of the first result, empty where it has none."""
    type_ = op.results[0].type if op.results else None
    return shape_of(type_) if type_ is not None and is_tensor(type_) else ()


def _inner_symbols(op: Operation) -> set[str]:
    """Returns the symbols that ops inside an op give their values: nothing outside knows them."""
    return set(symbols_in(op)) - {
        name
        for value in _outer_values(op)
        if is_tensor(value.type)
        for dim in shape_of(value.type)
        if dim is not None
        for name in symbols_of(dim)
    }


def _outer_values(op: Operation) -> Sequence[SSAValue]:
    inside = {result for inner in op.walk() for result in inner.results}
    return [operand for inner in op.walk() for operand in inner.operands if operand not in inside]


def _seen_outside(type: Attribute, hidden: set[str]) -> Shape | None:
    """Returns the shape of a type, without the dimensions that only the inside of an op knows."""
    if not is_tensor(type):
        return None
    return tuple(
        None if dim is None or any(name in hidden for name in symbols_of(dim)) else dim
        for dim in shape_of(type)
    )


def _loop_sizes(op: LoopOp) -> DataSizes:
    """A scan result has a slice for each iteration: at most as many as the trip count."""
    hidden = _inner_symbols(op)
    trips = constant_scalar(op.trip_count)
    most = max(trips, 0) if isinstance(trips, int) else None
    carried = len(op.carried)
    found: list[Dims | None] = []
    for index, result in enumerate(op.results):
        known = shape_of(result.type) if is_tensor(result.type) else None
        if index < carried:
            found.append(known)
            continue
        inner = _seen_outside(yield_of(op.body).arguments[1 + index].type, hidden)
        if inner is None and known is not None:
            inner = known[1:]
        found.append(None if inner is None else [Size("trips", most), *inner])
    return DataSizes(found)


def _if_sizes(op: IfOp) -> DataSizes:
    """A result is as large as one of the two that the regions yield."""
    hidden = _inner_symbols(op)
    regions = [yield_of(region).arguments for region in (op.then_region, op.else_region)]
    found: list[Dims | None] = []
    for index, (result, *values) in enumerate(zip(op.results, *regions, strict=True)):
        one, other = (shape_of(value.type) if is_tensor(value.type) else None for value in values)
        known = shape_of(result.type) if is_tensor(result.type) else one
        if known is None:
            found.append(None)
        elif one is not None and other is not None and len(one) == len(other) == len(known):
            pairs = enumerate(zip(one, other, strict=True))
            found.append([_either(f"{index} {axis}", *pair, hidden) for axis, pair in pairs])
        elif is_tensor(result.type):
            found.append([Size(f"{index} {axis}", None) for axis in range(len(known))])
        else:
            found.append(None)
    return DataSizes(found)


def _either(key: str, first: MaybeDim, second: MaybeDim, hidden: set[str]) -> MaybeDim | Size:
    """Returns the size that is the one or the other."""
    if first is None or second is None:
        return Size(key, None)
    if first == second and not any(name in hidden for name in symbols_of(first)):
        return first
    return Size(key, maximum(first, second))
