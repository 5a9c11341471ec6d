"""Gears of exported models: the reference's numbers at each, out of one graph for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.encode import plans_of
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.passes.fusion.auto.fuse_auto import AT_SMALLER
from ge_dialect.tools.api import CompiledPlan, compile
from ge_dialect.tools.runtime.compare import compare, tolerance_of
from ge_dialect.tools.runtime.gears import GearExecutor, make_executor
from tests.test_dynamic_zoo import (
    FAMILIES,
    Reference,
    dims_of,
    feeds_of,
    five_sizes,
    ranges_of,
    read,
)

Sizes = Mapping[str, int]


def compiled(folder: Path, proto: onnx.ModelProto, gears: Sequence[Sizes]) -> CompiledPlan:
    """The model of a folder for some sizes of its symbols."""
    dims = dims_of(proto)
    order = [dim for found in dims.values() for dim in found if isinstance(dim, str)]
    shapes = ";".join(
        f"{name}:{','.join('-1' if isinstance(dim, str) else str(dim) for dim in found)}"
        for name, found in dims.items()
    )
    wanted = [[sizes[dim] for dim in order] for sizes in gears]
    return compile(folder / "model.onnx", input_shapes=shapes, dynamic_dims=wanted)


def check(folder: Path, gears: Sequence[Sizes]) -> CompiledPlan:
    """Compiles the model of a folder, and compares each gear with the reference."""
    proto = read(folder)
    plan = compiled(folder, proto, gears)
    for one in plans_of(plan.module):
        verify_plan(one)
    executor, reference = make_executor(plan.module), Reference(proto)
    assert isinstance(executor, GearExecutor)
    with np.load(folder / "io.npz") as samples, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for seed, sizes in enumerate(gears):
            feeds = feeds_of(proto, samples, sizes, seed)
            outputs = executor.run(feeds, poison=True)
            for (name, got), want in zip(outputs.items(), reference(feeds), strict=True):
                found = compare(got, np.asarray(want), tolerance_of(got.dtype, 1e-3, 1e-4))
                assert found.ok, f"{folder.name} at {sizes}: {name}: {found}"
    return plan


def optimised(plan: CompiledPlan) -> int:
    """How many times the graph passes ran."""
    return sum(one.name == "ge-raise" for one in plan.passes)


@pytest.mark.parametrize("family", FAMILIES)
def test_gears_share_one_graph_and_are_right(family: str, zoo: Path):
    for folder in sorted(path for path in zoo.glob(f"{family}.*-dyn*") if path.is_dir()):
        ranges = ranges_of(folder.name)
        smallest, largest, middle = five_sizes(ranges)[:3]
        plan = check(folder, [middle, smallest, largest])
        # Once for all, and once more where the smallest gear might be better off by itself.
        assert optimised(plan) <= 2, folder.name
        names = [one.name for one in plan.passes]
        assert names.index("ge-raise") < names.index("ge-split-gears"), folder.name


def test_sizes_that_no_gear_relates_stay_apart(zoo: Path):
    folder = zoo / "gpt2-decode.dynamo-dyn"
    check(folder, [{"batch": 1, "past": 5, "total": 6}, {"batch": 2, "past": 9, "total": 12}])


def test_a_size_that_depends_on_data_is_bounded_at_each_gear(zoo: Path):
    folder = zoo / "yolo-head.ts-dyn"
    sizes = [{"height": size, "width": size} for size in (32, 64, 48)]
    plan = compiled(folder, read(folder), sizes)
    found = [[(op.symbol.data, op.known.hi) for op in one.symbols] for one in plans_of(plan.module)]
    assert found == [[("u0", 64)], [("u0", 256)], [("u0", 144)]]


def test_a_gear_that_an_op_does_not_take_is_named(zoo: Path):
    folder = zoo / "yolo-head.ts-dyn"
    sizes = [{"height": 32, "width": 32}, {"height": 0, "width": 32}]
    with pytest.raises(GEError, match=r"GE0331: gear 1 .*'/module/stem/Conv': expected a window"):
        compiled(folder, read(folder), sizes)


def test_a_gear_of_a_fixed_dimension_says_what_the_model_has(zoo: Path):
    with pytest.raises(GEError, match="gear 1 gives the size 64 to a dimension that is 32 in the"):
        compile(
            zoo / "resnet50.ts-dyn" / "model.onnx",
            input_shapes="pixel_values:1,3,-1,-1",
            dynamic_dims=[(32, 32), (64, 64)],
        )


def test_the_smallest_gear_is_optimised_by_itself_where_that_might_differ(zoo: Path):
    """Batches up to 4: what fits on chip for one image does not for four."""
    folder = zoo / "efficientnet.dynamo-dyn"
    proto = read(folder)
    assert optimised(compiled(folder, proto, [{"batch": 1}, {"batch": 2}])) == 1
    assert optimised(compiled(folder, proto, [{"batch": 1}, {"batch": 4}])) == 2
    ranged = compile(folder / "model.onnx", input_shapes="pixel_values:1~4,3,32,32")
    apart = [one for one in ranged.remarks if one.fix == AT_SMALLER]
    assert apart
    assert all(one.pass_name == "ge-fuse-auto" for one in apart)


def test_kernels_are_joined_with_bytes_to_spare_before_none_may_live_longer(zoo: Path):
    """Joined at once, the kernels would raise the peak; with nothing alive longer there are 16."""
    path = zoo / "whisper-decoder.dynamo-dyn" / "model.onnx"
    plan = compile(path, input_shapes="input_ids:1,16;encoder_hidden_states:1,16,32")
    assert plan.summary["tasks"] <= 9
