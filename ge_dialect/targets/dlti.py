"""The machine in the IR: a module says by DLTI what it is compiled for.

The device `NPU` of the system specification has an entry for each figure of the machine, in the
units of `Target`, so that the module needs no file. It lies in `ge.target` of the module, or in
`dlti.target_system_spec`, where other tools of MLIR 20 and later look for it:

```mlir
#dlti.target_system_spec<"NPU" = #dlti.target_device_spec<
  "name" = "Mine", "cube_cores" = 24, "split_cores" = true, ...
  "tiers" = #dlti.map<"hbm" = #dlti.map<"size" = 68719476736, "bandwidth" = 1.6e12 : f64, ...>>>>
```

A device with no entry but `name` is one of the targets that come with the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, StringAttr, f64, i1, i64
from xdsl.dialects.dlti import DLTIEntryMap, MapAttr, TargetDeviceSpecAttr, TargetSystemSpecAttr
from xdsl.ir import Attribute

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import TargetAttr
from ge_dialect.targets.reader import TIERS, builtin_target, load_target, machine
from ge_dialect.targets.table import Table
from ge_dialect.targets.target import ASSUMED, Target, Tier

DEFAULT_TARGET = "Ascend910B1"
"""What is compiled for where nobody says anything."""

DEVICE = "NPU"
"""Id of the device in the system specification."""

TARGET_ATTR = "ge.target"
DLTI_ATTR = "dlti.target_system_spec"

_MAX_DEPTH = 4


def attach_target(module: ModuleOp, target: Target, *, standard: bool = False) -> None:
    """Makes a module say that it is compiled for `target`; what it said before is gone.

    Args:
        module: Other devices in its `dlti.target_system_spec` are kept.
        target: Of the confidences of its figures those that are assumed are kept, of the sources
            none.
        standard: Whether to write `dlti.target_system_spec`, not `ge.target`.
    """
    system = module.attributes.get(DLTI_ATTR)
    kept: dict[Any, Any] = {}
    if isinstance(system, TargetSystemSpecAttr):
        kept = {e.key: e.value for e in system.entries if e.key != StringAttr(DEVICE)}
    module.attributes.pop(TARGET_ATTR, None)
    module.attributes.pop(DLTI_ATTR, None)
    entry = {DEVICE: device_spec(target)}
    if not standard:
        module.attributes[TARGET_ATTR] = TargetAttr(TargetSystemSpecAttr(entry))
    if kept or standard:
        module.attributes[DLTI_ATTR] = TargetSystemSpecAttr(kept | entry if standard else kept)


def target_of(module: ModuleOp, override: str | None = None) -> Target:
    """Returns the machine that a module is compiled for.

    Args:
        module: What it says counts; where it says nothing, `DEFAULT_TARGET` does.
        override: Name or path of another machine, which counts before the module.

    Raises:
        GEError: A name or path is no target (GE0701 to GE0703), or the module says something that
            is none (GE0704).
    """
    if override is not None:
        return load_target(override)
    return attached_target(module) or load_target(DEFAULT_TARGET)


def attached_target(module: ModuleOp) -> Target | None:
    """Returns the machine that a module says it is compiled for, or None where it says nothing.

    Raises:
        GEError: What it says is no machine (GE0701, GE0704).
    """
    for name in (TARGET_ATTR, DLTI_ATTR):
        attr = module.attributes.get(name)
        system = attr.system if isinstance(attr, TargetAttr) else attr
        if system is None:
            continue
        if not isinstance(system, TargetSystemSpecAttr):
            raise _malformed(f"'{name}'", "a '#dlti.target_system_spec'")
        for entry in system.entries:
            if entry.key == StringAttr(DEVICE):
                return _read(entry.value, f"device '{DEVICE}' of '{name}'")
    return None


_specs: dict[int, tuple[Target, TargetDeviceSpecAttr]] = {}
"""The figures of machines, by identity: each module gets the same, and what is read back of them is
kept with them."""
_MOST_SPECS = 16


def device_spec(target: Target) -> TargetDeviceSpecAttr:
    """Returns the figures of a machine as DLTI entries."""
    if (known := _specs.get(id(target))) is None:
        if len(_specs) >= _MOST_SPECS:
            _specs.clear()
        known = _specs[id(target)] = (target, _device_spec(target))
    return known[1]


def _device_spec(target: Target) -> TargetDeviceSpecAttr:
    figures: dict[str, object] = {
        name: getattr(target, name)
        for name in ("name", "arch", "short_soc", "split_cores", "cube_cores", "vector_cores")
    }
    overhead, limits = target.overhead, target.limits
    figures |= {
        "clock_hz": target.clock_hz,
        "vector_bytes_per_cycle": target.vector_bytes_per_cycle,
        "cube_macs": target.cube_macs,
        "tiers": {tier.name: _tier_entries(tier) for tier in target.tiers.values()},
        "limits": {"streams": limits.streams, "events": limits.events}
        | ({} if limits.tasks is None else {"tasks": limits.tasks}),
        "overhead_us": {
            "kernel_floor": overhead.kernel_floor_us,
            "launch": overhead.launch_us,
            "launch_eager": overhead.launch_eager_us,
            "event": overhead.event_us,
            "attention_fill": overhead.attention_fill_us,
        },
        "efficiency": target.efficiency,
        "vector_cycles": target.vector_cycles,
    }
    if target.assumed:
        figures["confidence"] = dict.fromkeys(target.assumed, ASSUMED)
    return TargetDeviceSpecAttr({key: _attribute(value) for key, value in figures.items()})


def _tier_entries(tier: Tier) -> dict[str, object]:
    names = ("size", "per_core", "bandwidth", "write_bandwidth", "alignment")
    return {name: getattr(tier, name) for name in names}


def _attribute(value: object) -> Attribute:
    match value:
        case str():
            return StringAttr(value)
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case _:
            inner = cast("Mapping[str, object]", value)
            return MapAttr({key: _attribute(item) for key, item in inner.items()})


def _read(device: Attribute, where: str) -> Target:
    if not isinstance(device, TargetDeviceSpecAttr):
        raise _malformed(where, "a '#dlti.target_device_spec'")
    # Kept with the attribute, which never changes: the conditions of fusion rules ask each time.
    if (known := vars(device).get("_ge_target")) is None:
        known = vars(device)["_ge_target"] = _read_spec(device, where)
    return known


def _read_spec(device: TargetDeviceSpecAttr, where: str) -> Target:
    data = _values(device, where)
    table = Table(where, data, "GE0704")
    name = table.text("name")
    if len(data) == 1:
        return builtin_target(name)  # never a path: the text of a model must not name files
    macs = table.each("cube_macs", Table.count)
    if not macs:
        raise table.wrong("cube_macs", "an element type or more", "none")
    target = machine(table, _tiers(table.table("tiers")), macs)
    table.finish()
    return target


def _tiers(parent: Table) -> Mapping[str, Tier]:
    tiers: dict[str, Tier] = {}
    for name in TIERS:
        tier = parent.table(name)
        tiers[name] = Tier(
            name,
            tier.count("size"),
            tier.flag("per_core"),
            tier.rate("bandwidth"),
            tier.rate("write_bandwidth"),
            tier.power_of_two("alignment"),
        )
        tier.finish()
    parent.finish()
    return MappingProxyType(tiers)


def _values(entries: DLTIEntryMap, where: str, depth: int = 0) -> dict[str, object]:
    """Returns entries as plain values; what is of another kind stays an attribute."""
    if depth == _MAX_DEPTH:
        raise _malformed(where, f"maps in at most {_MAX_DEPTH} levels")
    found: dict[str, object] = {}
    for entry in entries.entries:
        if not isinstance(key := entry.key, StringAttr):
            raise _malformed(where, f"keys that are strings, got {key}")
        value: object = entry.value
        match entry.value:
            case StringAttr(data=text):
                value = text
            case IntegerAttr() as number:
                value = bool(number.value.data) if number.type == i1 else number.value.data
            case FloatAttr() as number:
                value = number.value.data
            case MapAttr() as inner:
                value = _values(inner, where, depth + 1)
            case _:
                pass
        found[key.data] = value
    return found


def _malformed(where: str, expected: str) -> GEError:
    return GEError(
        "GE0704",
        f"{where}: expected {expected}",
        hint="run ge-set-target{target=NAME} first, which writes it",
    )
