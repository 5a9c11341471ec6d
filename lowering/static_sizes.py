"""Whether tensors have a known size, and if not, where that begins."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.copied import find_ops
from ge_dialect.ge.ports import io_names, shapes_to_paste
from ge_dialect.ge.symbolic import symbol_ranges
from ge_dialect.ge.types import byte_size, is_tensor, shape_of
from ge_dialect.lowering.symbolic_inputs import decided_symbols
from ge_dialect.symbols import symbols_of

_SHOWN = 3


def check_inputs(function: FuncOp) -> None:
    """Checks that every tensor a function takes has a size, or sizes up to a greatest one.

    Raises:
        GEError: Some have none: no size and no range at all (GE0520), or a range without an end
            (GE0522). Names the inputs, and gives shapes to paste.
    """
    ranges = symbol_ranges(function)
    decided = decided_symbols(function)
    unknown: list[str] = []
    endless: list[str] = []
    for name, arg in zip(io_names(function)[0], function.body.block.args, strict=True):
        for axis, dim in enumerate(shape_of(arg.type) if is_tensor(arg.type) else ()):
            where = f"dim {axis} of input '{name}'"
            if dim is None or any(one not in decided for one in symbols_of(dim)):
                unknown.append(f"{where} ({'?' if dim is None else dim})")
            for symbol in () if dim is None else symbols_of(dim):
                known = ranges.get(symbol)
                if known is None or known.hi is None:
                    is_given = known is not None and known.lo > 0
                    (endless if is_given else unknown).append(f"{where} ({symbol})")
    _raise(unknown, endless, function)


def _raise(unknown: Sequence[str], endless: Sequence[str], function: FuncOp) -> None:
    model = function.sym_name.data
    hint = f"give sizes or ranges, such as {shapes_to_paste(function, symbol_ranges(function))}"
    if unknown:
        raise GEError(
            "GE0520",
            f"{len(unknown)} dimensions of the inputs of '{model}' have neither a size nor a"
            f" range: {_shorten(unknown)}",
            hint=hint,
        )
    if endless:
        raise GEError(
            "GE0522",
            f"no upper bound for {_shorten(endless)}: a plan has bytes for the greatest size",
            hint=hint,
        )


def report_objects(pass_name: str, function: FuncOp) -> None:
    """Remarks on the ops where sizes begin to depend on data, so that no plan can know them."""
    if not remarks.listening():
        return
    known: dict[int, tuple[Attribute, bool]] = {}  # by identity: equal types are mostly one object

    def has_no_size(value: SSAValue) -> bool:
        type_ = value.type
        if (found := known.get(id(type_))) is None:
            found = known[id(type_)] = type_, is_tensor(type_) and byte_size(type_) is None
        return found[1]

    def begins(op: Operation) -> bool:
        if type(op) is ConstantOp and type(op.properties["value"]) is WeightAttr:
            return False
        has_none = isinstance(op, GEOp) and any(map(has_no_size, op.results))
        return has_none and not any(map(has_no_size, op.operands))

    for op in find_ops(function.body, begins):
        assert isinstance(op, GEOp)
        what = f"{op.ge_op_type()} gives {op.results[0].type}: its bytes are known in the run"
        remarks.analysis(pass_name, "objects", op, what)


def _shorten(found: Sequence[str]) -> str:
    return "; ".join(found[:_SHOWN]) + ("; ..." if len(found) > _SHOWN else "")
