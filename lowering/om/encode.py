"""A planned module as an `.om` file: the graph for viewers, the tasks, the plan itself, weights."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import ElidedWeight, WeightAttr
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge_exec import ArenaOp, PlanOp
from ge_dialect.ge_exec.memory import offset_of
from ge_dialect.lowering.om.checksum import ATTRIBUTE, packed_checksum, wants_checksum
from ge_dialect.lowering.om.file import PackedWeights, write_om
from ge_dialect.lowering.om.graph import om_model
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.printing import exact_text
from ge_dialect.targets.dlti import attached_target, target_of
from ge_dialect.weights import WeightSource


def write_plan(module: ModuleOp, path: str, *, checksum: bool = False) -> None:
    """Verifies a planned module and writes it as an `.om` file, all or nothing.

    Weights go from where they are to the file, in pieces; the module is as before afterwards.

    Args:
        module: Kernels and one plan with addresses and streams.
        path: Of the file.
        checksum: Whether weights of any size get one; see `checksum`.

    The name of the model is the module's `ge.model`, so that it survives being read and written.

    Raises:
        GEError: There is no plan, it is not right, or the file cannot be written.
    """
    plans = plans_of(module)
    with ExitStack() as stack:
        for one in plans:
            stack.enter_context(one.unchanged())
        _write(module, plans, path, checksum)


def _write(module: ModuleOp, plans: Sequence[PlanOp], path: str, checksum: bool) -> None:
    plan = plan_of(module)
    for one in plans:
        verify_plan(one)
    packed = PackedWeights(target_of(module).hbm.alignment)
    holders = weight_holders(module)
    offsets = {id(op): packed.add(stored(attr)) for op, attr in holders}
    for one in plans:
        check_offsets(one, offsets)
    wanted = wants_checksum(module, packed.size, checksum)
    found = packed_checksum(packed) if wanted else None
    with with_checksum(module, found):
        text = plan_text(module, {id(attr): offsets[id(op)] for op, attr in holders})
    target = attached_target(module)
    name = model_name(module)
    model = om_model(plan, name, packed.size, None if target is None else target.name)
    if gears := [gear for one in plans if (gear := gear_of(one))]:
        model = replace(model, attrs={**model.attrs, "gears": gears})
    payload = packed if packed.size else b""
    write_om(path, model, text, payload, dynamic=bool(plan.symbols or gear_of(plan)))


def model_name(module: ModuleOp) -> str:
    """Returns the name of the model that a module holds, `main` where it says none."""
    name = module.attributes.get("ge.model")
    return name.data if isinstance(name, StringAttr) and name.data else "main"


def plan_of(module: ModuleOp) -> PlanOp:
    """Returns the one plan of a module; of plans that are gears the one that needs most bytes.

    Raises:
        GEError: There is none, or more than one that is no gear.
    """
    plans = plans_of(module)
    if len(plans) > 1 and all(gear_of(plan) for plan in plans):
        return max(plans, key=_work_bytes)
    if len(plans) > 1:
        names = ", ".join(plan.sym_name.data for plan in plans)
        raise GEError(
            "GE0620",
            f"expected a module with one plan, got {len(plans)}: {names}",
            hint="compile one function at a time",
        )
    if not plans:
        raise GEError(
            "GE0620",
            "expected a module with one plan, got none",
            hint="lower the module first, with -p ge-lower",
        )
    return plans[0]


def plans_of(module: ModuleOp) -> list[PlanOp]:
    """Returns the plans of a module, in order."""
    return [op for op in module.body.block.ops if isinstance(op, PlanOp)]


def gear_of(plan: PlanOp) -> str:
    """Returns the sizes that a plan is a gear for, `batch=1 seq=128`; "" where it is none."""
    gear = plan.attributes.get("ge.gear")
    return gear.data if isinstance(gear, StringAttr) else ""


def _work_bytes(plan: PlanOp) -> int:
    return sum(op.size.value.data for op in plan.of_kind(ArenaOp))


def weight_holders(module: ModuleOp) -> list[tuple[Operation, WeightAttr]]:
    """Returns the ops that hold a weight, in the order of the module: plan weights first."""
    beside = [op for op in module.body.block.ops if not isinstance(op, PlanOp)]
    inside = [op for outer in beside for op in outer.walk() if isinstance(op, ConstantOp)]
    return [
        *((op, op.value) for plan in plans_of(module) for op in plan.weights),
        *((op, op.value) for op in inside if isinstance(op.value, WeightAttr)),
    ]


def stored(attr: WeightAttr) -> WeightSource:
    """Returns the bytes of a weight, as something that can write itself.

    Raises:
        GEError: They were left out of the text that the module was parsed from.
    """
    weight = attr.data.weight
    if isinstance(weight, ElidedWeight):
        weight.view()
    return weight  # pyright: ignore[reportReturnType]  # the elided kind has raised


def check_offsets(plan: PlanOp, offsets: dict[int, int]) -> None:
    """Checks that the weight arena of the plan is laid out as the file will be.

    Raises:
        GEError: It is not, so that the plan would read other bytes.
    """
    for op in plan.weights:
        if offset_of(op) != offsets[id(op)]:
            raise GEError(
                "GE0621",
                f"weight '{op.value.data.name}' is planned at byte {offset_of(op)},"
                f" but is stored at {offsets[id(op)]}",
                hint="plan the memory again, with -p ge-plan-memory",
            )


@contextmanager
def with_checksum(module: ModuleOp, checksum: str | None) -> Generator[None]:
    """Gives a module the checksum of the weights being written, and takes it away again."""
    before = dict(module.attributes)
    module.attributes.pop(ATTRIBUTE, None)
    if checksum is not None:
        module.attributes[ATTRIBUTE] = StringAttr(checksum)
    try:
        yield
    finally:
        module.attributes = before


def plan_text(module: ModuleOp, stored: Mapping[int, int] | None = None) -> str:
    """Returns the text of a module as a plan holds it: custom form, with locations.

    Args:
        module: With a plan.
        stored: By identity of weights, where they are in the file; those have no path.
    """
    return exact_text(module, locations=True, stored=stored)
