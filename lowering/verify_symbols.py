"""The part of the check of plans that is about symbols: bytes are enough at every size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from xdsl.ir import SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import ops_of
from ge_dialect.ge.symbolic import bound_type, symbols_in
from ge_dialect.ge.types import byte_size, is_tensor, shape_of
from ge_dialect.ge_exec import (
    BoundedType,
    LaunchOp,
    ObjectType,
    PlanOp,
    SymbolOp,
    ViewOp,
    kernels_by_name,
)
from ge_dialect.ge_exec.control import TaskOp, flatten, own_reads, own_writes
from ge_dialect.ge_exec.memory import Storage, base_of
from ge_dialect.ge_exec.storage import byte_count, exact_bytes, most_bytes
from ge_dialect.lowering.at_sizes import greatest_sizes, least_sizes
from ge_dialect.lowering.plan_clocks import CODE, Place
from ge_dialect.lowering.plan_names import describe_task
from ge_dialect.symbols import (
    SymbolRange,
    bounds,
    linear_in,
    simplify,
    symbols_of,
    with_known_products,
)


def check_symbols(plan: PlanOp) -> None:
    """Checks that the symbols of a plan are known before they are used, and bytes are enough.

    By intervals, which covers all sizes at once; and again with numbers at both ends of the ranges.

    Raises:
        GEError: They are not; names the value, or the symbol.
    """
    ranges: dict[str, SymbolRange] = {}
    symbols, guards = plan.symbols, plan.guards
    for op in symbols:
        _check_symbol(op, ranges)
        ranges[op.symbol.data] = op.known
    for op in guards:
        for name in (*symbols_of(op.guard.left), *symbols_of(op.guard.right)):
            if name not in ranges:
                raise GEError(CODE, f"a guard asks for {op.guard}, but '{name}' has no value")
    check_views(plan, ranges, {op.symbol.data for op in symbols if op.is_early})
    if not (bounded := list(_bounded(plan))):
        return
    facts = [op.guard for op in guards]
    ends = (least_sizes(plan), greatest_sizes(plan))
    for value, type_ in bounded:
        count, most = byte_count(type_.tensor), most_bytes(type_.tensor, ranges, facts)
        unknown = [name for name in symbols_of(count or 0) if name not in ranges]
        if count is None or unknown:
            what = f"a symbol without a value, '{unknown[0]}'" if unknown else "unknown sizes"
            raise GEError(CODE, f"{_name(value)} has {what}", hint="compile the model again")
        # Sizes of which the product is known are not all at their ends at once.
        apart = with_known_products(count, facts) == count
        at_ends = [byte_size(bound_type(type_.value, sizes)) for sizes in ends if apart]
        needed = max([most or 0, *[size or 0 for size in at_ends]])
        if most is None or needed > type_.most:
            shown = "unbounded" if most is None else f"up to {needed}"
            raise GEError(
                CODE,
                f"{_name(value)} takes {count} bytes, {shown}, but has {type_.most}",
                hint="compile the model again",
            )


def check_views(plan: PlanOp, ranges: Mapping[str, SymbolRange], early: Collection[str]) -> None:
    """Checks that views lie inside their source at every size of the ranges.

    Args:
        plan: With symbols, or none.
        ranges: Of the symbols.
        early: Symbols that inputs tell.

    Raises:
        GEError: One does not, or nothing proves it.
    """
    for op in plan.of_kind(ViewOp):
        start, size, whole = op.start, exact_bytes(op.result.type), exact_bytes(op.source.type)
        if all(isinstance(one, int) for one in (start, size, whole)):
            continue  # the op itself is verified
        left = simplify(whole, ranges) - start - simplify(size, ranges)
        plus = start - op.offset.value.data
        if unknown := [name for name in symbols_of(plus) if name not in early]:
            what = f"{_name(op.result)} begins where '{unknown[0]}' says, which no input tells"
            raise GEError(CODE, what, hint="compile the model again")
        if bounds(plus, ranges)[0] < 0 or bounds(left, ranges)[0] < 0:
            what = f"{_name(op.result)} may leave the {whole} bytes it is a view of"
            raise GEError(CODE, what, hint="compile the model again")


def check_order(plan: PlanOp, order: Sequence[tuple[TaskOp, Place]]) -> None:
    """Checks that sizes that tasks find out are known to each task before it needs them.

    Raises:
        GEError: A task may run before the one that tells a size.
    """
    late = {op.symbol.data: base_of(op.input)[0] for op in plan.symbols if not op.is_early}
    if not late:
        return
    kernels = {name: symbols_in(kernel) for name, kernel in kernels_by_name(plan).items()}
    told: dict[Storage, list[Place]] = defaultdict(list)
    for task, place in order:
        for inner in flatten(task):
            for value in own_writes(inner):
                told[base_of(value)[0]].append(place)
            for name in _symbols_of_task(inner, kernels):
                if name in late and not any(
                    one is place or place.after(one) for one in told[late[name]]
                ):
                    what = f"{describe_task(inner)} needs '{name}', which no task before it tells"
                    raise GEError(CODE, what, hint="compile the model again")


def _symbols_of_task(task: TaskOp, kernels: Mapping[str, Sequence[str]]) -> Sequence[str]:
    found: dict[str, None] = {}
    if isinstance(task, LaunchOp):
        found |= dict.fromkeys(kernels.get(task.kernel.string_value(), ()))
    for value in (*own_reads(task), *own_writes(task)):
        held = value.type.value if isinstance(value.type, BoundedType | ObjectType) else None
        for dim in shape_of(held) if held is not None and is_tensor(held) else ():
            found |= dict.fromkeys(() if dim is None else symbols_of(dim))
    return list(found)


def _check_symbol(op: SymbolOp, known: dict[str, SymbolRange]) -> None:
    name, dim = op.symbol.data, op.expression
    if name in known or (op.known.last is None and op.is_early):
        raise GEError(CODE, f"symbol '{name}' has two values, or no greatest one")
    others = [other for other in symbols_of(dim) if other != name and other not in known]
    if others or linear_in(dim, name) is None:
        raise GEError(CODE, f"symbol '{name}' does not follow from a dimension of {dim}")


def _bounded(plan: PlanOp) -> Iterator[tuple[SSAValue, BoundedType]]:
    for op in ops_of(plan.body.block):
        for value in op.results:
            if isinstance(type_ := value.type, BoundedType):
                yield value, type_


def _name(value: SSAValue) -> str:
    return f"'{value.name_hint or 'a value'}' of the plan"
