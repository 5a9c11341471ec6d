"""The machine in the IR: what a module says comes back, and decides what passes do."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.dlti import TargetDeviceSpecAttr, TargetSystemSpecAttr
from xdsl.ir import Attribute

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import TargetAttr
from ge_dialect.ge_exec import PlanOp
from ge_dialect.ge_exec.memory import offset_of
from ge_dialect.lowering.om.decode import read_plan
from ge_dialect.lowering.om.encode import plan_of, write_plan
from ge_dialect.lowering.om.file import read_om
from ge_dialect.lowering.pipelines import LowerPipeline
from ge_dialect.lowering.predict import predict_plan
from ge_dialect.lowering.set_target import SetTargetPass
from ge_dialect.targets import Target, load_target, target_names
from ge_dialect.targets.dlti import (
    DLTI_ATTR,
    TARGET_ATTR,
    attach_target,
    attached_target,
    device_spec,
    target_of,
)
from ge_dialect.tools.api import compile, make_context
from tests.fusion_graphs import parse

GRAPH = """
func.func @main(%x: tensor<256xf32> {ge.name = "x"}) -> (tensor<256xf32> {ge.name = "y"}) {
  %a = ge.relu %x : (tensor<256xf32>) -> tensor<256xf32>
  %b = ge.neg %x : (tensor<256xf32>) -> tensor<256xf32>
  %c = ge.exp %x : (tensor<256xf32>) -> tensor<256xf32>
  %y = ge.add %a, %b : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %z = ge.add %y, %c : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  func.return %z : tensor<256xf32>
}
"""


def bare(target: Target) -> Target:
    """The target without sources; of the confidences the IR keeps those that are assumed."""
    assumed = MappingProxyType(dict.fromkeys(target.assumed, "assumed"))
    return replace(target, sources=MappingProxyType({}), confidences=assumed)


def own_target(tmp_path: Path, *changes: tuple[str, str]) -> str:
    """A file of one's own: the 910A with other figures."""
    text = files("ge_dialect.targets").joinpath("Ascend910A.toml").read_text()
    for old, new in (('name = "Ascend910A"', 'name = "Mine"'), *changes):
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def lower(text: str, **options: Any) -> tuple[ModuleOp, PlanOp]:
    module = parse(text)
    LowerPipeline(**options).apply(make_context(), module)
    return module, plan_of(module)


@pytest.mark.parametrize("standard", [False, True])
@pytest.mark.parametrize("name", target_names())
def test_every_target_comes_back_from_the_text(name: str, standard: bool):
    module = ModuleOp([])
    attach_target(module, load_target(name), standard=standard)
    assert list(module.attributes) == [DLTI_ATTR if standard else TARGET_ATTR]
    assert target_of(parse(str(module))) == bare(load_target(name))


def test_a_file_of_ones_own_is_written_whole(tmp_path: Path):
    path = own_target(tmp_path, ("event = 2.0", "event = 0.12345678901234567"))
    module = ModuleOp([])
    SetTargetPass(path).apply(make_context(), module)
    Path(path).unlink()
    target = target_of(parse(str(module)))
    assert (target.name, target.overhead.event_us) == ("Mine", 0.12345678901234567)


def test_a_module_that_says_nothing_is_for_the_default():
    module = ModuleOp([])
    assert attached_target(module) is None
    assert target_of(module).name == "Ascend910B1"
    assert target_of(module, "ascend910a").name == "Ascend910A"


def test_an_option_counts_before_the_module_and_the_module_before_the_default():
    module = ModuleOp([])
    attach_target(module, load_target("Ascend310P3"))
    assert target_of(module).name == "Ascend310P3"
    assert target_of(module, "Ascend910A").name == "Ascend910A"
    SetTargetPass().apply(make_context(), module)
    assert target_of(module).name == "Ascend310P3"
    SetTargetPass("Ascend910A").apply(make_context(), module)
    assert target_of(module).name == "Ascend910A"


def test_other_devices_are_kept():
    module = ModuleOp([])
    host = TargetDeviceSpecAttr({"cores": IntegerAttr(4, i64)})
    module.attributes[DLTI_ATTR] = TargetSystemSpecAttr({"CPU": host})
    assert attached_target(module) is None
    attach_target(module, load_target("Ascend910A"))
    system = module.attributes[DLTI_ATTR]
    assert isinstance(system, TargetSystemSpecAttr)
    assert system["CPU"] == host
    attach_target(module, load_target("Ascend910B3"), standard=True)
    system = module.attributes[DLTI_ATTR]
    assert isinstance(system, TargetSystemSpecAttr)
    assert [str(entry.key) for entry in system.entries] == ['"CPU"', '"NPU"']
    assert target_of(module).name == "Ascend910B3"


def test_a_device_with_nothing_but_a_name_is_one_of_the_package():
    module = parse(
        'builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"NPU" ='
        ' #dlti.target_device_spec<"name" = "Ascend910A">>} {}'
    )
    assert target_of(module) == load_target("Ascend910A")


def device(key: Attribute, value: Attribute | None) -> ModuleOp:
    """A module for a 910A with one entry set, or taken away."""
    spec = device_spec(load_target("Ascend910A"))
    entries: dict[Any, Any] = {entry.key: entry.value for entry in spec.entries}
    if value is None:
        del entries[key]
    else:
        entries[key] = value
    module = ModuleOp([])
    system = TargetSystemSpecAttr({"NPU": TargetDeviceSpecAttr(entries)})
    module.attributes[TARGET_ATTR] = TargetAttr(system)
    return module


RED = StringAttr("red")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (StringAttr("limits"), None, "expected 'limits', a table; it is missing"),
        (StringAttr("name"), None, "expected 'name', a string; it is missing"),
        (StringAttr("cube_cores"), RED, "'cube_cores' to be an integer > 0, got 'red'"),
        (StringAttr("cube_cores"), IntegerAttr(-2, i64), "to be an integer > 0, got -2"),
        (StringAttr("colour"), RED, "unknown 'colour'"),
        (i64, RED, "expected keys that are strings, got i64"),
    ],
)
def test_a_wrong_entry_is_named(key: Attribute, value: Attribute | None, message: str):
    with pytest.raises(GEError, match=message) as raised:
        target_of(device(key, value))
    assert raised.value.code == "GE0704"
    assert "device 'NPU' of 'ge.target'" in raised.value.message


def test_a_name_in_the_ir_is_never_a_path(tmp_path: Path):
    module = ModuleOp([])
    spec = TargetDeviceSpecAttr({"name": own_target(tmp_path)})
    module.attributes[DLTI_ATTR] = TargetSystemSpecAttr({"NPU": spec})
    with pytest.raises(GEError) as raised:
        target_of(module)
    assert raised.value.code == "GE0701"


def test_another_kind_of_attribute_is_refused():
    module = ModuleOp([])
    module.attributes[TARGET_ATTR] = StringAttr("Ascend910A")
    with pytest.raises(GEError, match=r"'ge.target': expected a '#dlti.target_system_spec'"):
        target_of(module)


def test_plans_are_aligned_as_the_target_asks(tmp_path: Path):
    path = own_target(tmp_path, ("hbm = 512", "hbm = 2048"))
    module, plan = lower(GRAPH, target=path)
    offsets = [offset_of(op) for op in plan.buffers]
    assert offsets
    assert all(offset is not None and offset % 2048 == 0 for offset in offsets)
    write_plan(module, str(tmp_path / "m.om"))


def test_a_plan_that_exceeds_the_memory_of_the_target_is_refused(tmp_path: Path):
    hbm = "size = 34_359_738_368"
    with pytest.raises(GEError, match="3072 bytes needed, 2048 available") as raised:
        lower(GRAPH, target=own_target(tmp_path, (hbm, "size = 2048")))
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("Mine has no more")
    lower(GRAPH, target=own_target(tmp_path, (hbm, "size = 3072")))
    with pytest.raises(GEError, match="raise the limit to 3072 bytes"):
        lower(GRAPH, memory_limit=2048)


def test_weights_count_against_the_memory_of_the_target(tmp_path: Path):
    graph = """
    func.func @main(%x: tensor<256xf32>) -> tensor<256xf32> {
      %w = ge.constant #ge.weight<"w", "w.bin", 0, 1024> : tensor<256xf32>
      %y = ge.add %x, %w : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
      func.return %y : tensor<256xf32>
    }
    """
    hbm = "size = 34_359_738_368"
    with pytest.raises(GEError, match="the weights take 1024 bytes, the HBM of Mine has 512"):
        lower(graph, target=own_target(tmp_path, (hbm, "size = 512")))
    with pytest.raises(GEError, match="2048 bytes needed, 1024 available"):
        lower(graph, target=own_target(tmp_path, (hbm, "size = 2048")))
    lower(graph, target=own_target(tmp_path, (hbm, "size = 3072")))


def test_more_streams_or_events_than_the_target_has_are_refused(tmp_path: Path):
    path = own_target(tmp_path, ("streams = 2048", "streams = 2"))
    with pytest.raises(GEError, match="at most the 2 of Mine, got 3") as raised:
        lower(GRAPH, target=path, streams=3)
    assert raised.value.code == "GE0530"


def test_the_prediction_is_for_the_target_of_the_module():
    module, plan = lower(GRAPH, target="Ascend310P3")
    slow = predict_plan(plan, target_of(module)).makespan_us
    fast = predict_plan(plan, target_of(module, "Ascend910B1")).makespan_us
    assert slow >= fast
    compiled = compile(parse(GRAPH), target="Ascend310P3")
    assert compiled.summary["target"] == "Ascend310P3"


def test_ir_decides_where_compile_is_given_no_target():
    module = parse(GRAPH)
    attach_target(module, load_target("Ascend910A"))
    assert compile(module).summary["target"] == "Ascend910A"


def test_an_om_file_says_its_target_and_is_the_same_when_written_again(tmp_path: Path):
    first, second = str(tmp_path / "a.om"), str(tmp_path / "b.om")
    module, _ = lower(GRAPH, target="Ascend310P3", streams=2)
    write_plan(module, first)
    with read_om(first) as file:
        assert file.model.attrs["soc_version"] == "Ascend310P3"
    loaded = read_plan(first)
    assert target_of(loaded.module) == bare(load_target("Ascend310P3"))
    write_plan(loaded.module, second)
    assert Path(first).read_bytes() == Path(second).read_bytes()
