"""Tiles of kernels: right for every op that may be cut, proven by running them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.ir import Block, Region
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import Engine, GEOp
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.structure import YieldOp
from ge_dialect.ge.types import is_tensor, static_shape, tensor_of
from ge_dialect.ge_exec import KernelOp, TilingAttr
from ge_dialect.ge_exec.tiling import (
    SHARED_TIER,
    TIERS,
    Halo,
    TileBuffer,
    TileLoop,
    Tiling,
    value_names,
)
from ge_dialect.interpreters.compiled import compile_block
from ge_dialect.interpreters.kernels.attention import Rules, flash_attention
from ge_dialect.interpreters.kernels.attention_blocks import attend_in_blocks
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.pipelines import LowerPipeline
from ge_dialect.lowering.tile_places import place_tiles
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.lowering.verify_tiles import verify_tiles
from ge_dialect.passes.tiles.body import KernelBody
from ge_dialect.passes.tiles.build import working_set
from ge_dialect.tools.api import make_context
from ge_dialect.tools.runtime.executor import Executor
from ge_dialect.tools.runtime.ports import array_layout
from ge_dialect.tools.runtime.tiles import TiledKernel
from tests.op_samples import context

LARGE: dict[str, int] = dict.fromkeys(("l1", "ub", "l0c"), 1 << 30)

PLAIN = {
    "softmax": "%y = ge.softmax %x axis 1 : (tensor<4x6x3xf32>) -> tensor<4x6x3xf32>",
    "rms_norm": "%y = ge.rms_norm %x scale %s axis -1 epsilon 1.0e-05 : (tensor<4x6xf32>,"
    " tensor<6xf32>) -> tensor<4x6xf32>",
    "matmul": "%y = ge.matmul %a, %b : (tensor<2x1x5x3xf32>, tensor<4x3x6xf32>)"
    " -> tensor<2x4x5x6xf32>",
    "gemm": "%y = ge.gemm %a, %b bias %c alpha 1.0 beta 2.0 trans_a : (tensor<3x5xf32>,"
    " tensor<3x6xf32>, tensor<6xf32>) -> tensor<5x6xf32>",
    "conv": "%y = ge.conv %x, %f strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] group 1"
    " : (tensor<3x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<3x4x5x5xf32>",
    "reduce": "%y = ge.reduce_sum %x axes [1] keepdims false : (tensor<4x6x3xf32>)"
    " -> tensor<4x3xf32>",
    "select": "%y = ge.select %m, %a, %b : (tensor<1x6xi1>, tensor<4x6xf32>, tensor<f32>)"
    " -> tensor<4x6xf32>",
    "gather": "%y = ge.gather %x, %i axis 0 : (tensor<7x3xf32>, tensor<2x5xi64>)"
    " -> tensor<2x5x3xf32>",
    "merged dimensions": "%r = ge.reshape %x : (tensor<3x4x5xf32>) -> tensor<12x5xf32>"
    "\n%y = ge.softmax %r axis 1 : (tensor<12x5xf32>) -> tensor<12x5xf32>",
    "heads": "%r = ge.reshape %x : (tensor<1x4x6xf32>) -> tensor<1x4x2x3xf32>"
    "\n%y = ge.transpose %r perm [0, 2, 1, 3] : (tensor<1x4x2x3xf32>) -> tensor<1x2x4x3xf32>",
    "no common parts": "%r = ge.reshape %x : (tensor<4x6xf32>) -> tensor<3x8xf32>"
    "\n%y = ge.softmax %r axis 1 : (tensor<3x8xf32>) -> tensor<3x8xf32>",
    "attention": "%y = ge.flash_attention %q, %k, %v mask %m scale 0.5 causal causal_offset 2"
    " nan_guard : (tensor<2x4x6x3xf32>, tensor<2x2x8x3xf32>, tensor<2x2x8x5xf32>,"
    " tensor<2x1x6x8xf32>) -> tensor<2x4x6x5xf32>",
    "sinks": "%y = ge.flash_attention %q, %k, %v sink %s : tensor<4xf32> scale 0.5"
    " : (tensor<2x4x6x3xf32>, tensor<2x2x8x3xf32>, tensor<2x2x8x5xf32>) -> tensor<2x4x6x5xf32>",
    "rotary": "%y = ge.rotary_embedding %x, %c, %s num_heads 0 rotary_dim 0"
    " : (tensor<2x3x4x6xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x3x4x6xf32>",
    "nothing beside": "%e = ge.constant dense<> : tensor<4x0xf32>"
    "\n%p = ge.relu %x : (tensor<4x6xf32>) -> tensor<4x6xf32>"
    "\n%y = ge.concat %p, %e axis 1 : (tensor<4x6xf32>, tensor<4x0xf32>) -> tensor<4x6xf32>",
    "dequantize": "%y = ge.dequantize_linear %x, %s axis 0 block_size 0"
    " : (tensor<4x6xi8>, tensor<4xf32>) -> tensor<4x6xf32>",
    "concat": "%y = ge.concat %a, %b axis 1 : (tensor<4x2xf32>, tensor<4x3xf32>)"
    " -> tensor<4x5xf32>",
    "dropout of nothing": "%n, %m = ge.dropout %x : tensor<4x6x3xf32>"
    " -> tensor<4x6x3xf32>, tensor<4x6x3xi1>"
    "\n%y = ge.softmax %n axis 1 : (tensor<4x6x3xf32>) -> tensor<4x6x3xf32>",
    "group_norm": "%y = ge.group_norm %x, %s, %b num_groups 2 epsilon 1.0e-05"
    " : (tensor<3x4x5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4x5xf32>",
}
UNCUT = {"no common parts", "nothing beside", "dequantize"}


def window(
    name: str,
    source: str,
    result: str,
    filters: str = "",
    kind: str = "f32",
    **rules: object,
) -> str:
    """An op whose windows slide over `%x`."""
    rules = {"strides": [1, 1], "pads": [1, 1, 1, 1], "dilations": [1, 1], **rules}
    kernel = f" kernel {rules.pop('kernel')}" if "kernel" in rules else ""
    flags = " ".join(f"{key} {value}".strip() for key, value in rules.items())
    operands = "%x, %f" if filters else "%x"
    types = ", ".join(f"tensor<{one}x{kind}>" for one in (source, filters) if one)
    made = "i32" if "integer" in name else kind
    return f"%y = ge.{name} {operands}{kernel} {flags} : ({types}) -> tensor<{result}x{made}>"


WINDOWS = {
    "stride 2": window("conv", "2x3x7x9", "2x4x4x5", "4x3x3x3", strides=[2, 2], group=1),
    "no padding": window("conv", "1x3x7x9", "1x4x5x7", "4x3x3x3", pads=[0, 0, 0, 0], group=1),
    "stride over kernel": window(
        "conv", "1x3x7x9", "1x4x4x3", "4x3x1x1", strides=[2, 3], pads=[0, 0, 0, 0], group=1
    ),
    "dilations": window(
        "conv", "1x2x9x9", "1x3x9x9", "3x2x3x3", pads=[2, 2, 2, 2], dilations=[2, 2], group=1
    ),
    "uneven padding": window("conv", "1x2x6x6", "1x3x6x6", "3x2x4x2", pads=[2, 1, 1, 0], group=1),
    "depthwise": window("conv", "2x4x6x6", "2x4x6x6", "4x1x3x3", group=4),
    "groups": window("conv", "1x6x5x5", "1x9x5x5", "9x2x3x3", group=3),
    "1 x 1": window("conv", "1x6x5x5", "1x4x5x5", "4x6x1x1", pads=[0, 0, 0, 0], group=1),
    "integers": window("conv_integer", "1x3x7x7", "1x4x7x7", "4x3x3x3", "i8", group=1),
    "transposed": window(
        "conv_transpose",
        "2x3x4x4",
        "2x4x8x8",
        "3x4x2x2",
        strides=[2, 2],
        pads=[0, 0, 0, 0],
        output_padding=[0, 0],
        group=1,
    )
    .replace("dilations [1, 1]", "")
    .replace("pads [0, 0, 0, 0]", "pads [0, 0, 0, 0] dilations [1, 1]"),
    "max pool": window("max_pool", "2x3x7x7", "2x3x4x4", kernel=[3, 3], strides=[2, 2]),
    "average pool": window("average_pool", "2x3x7x7", "2x3x7x7", kernel=[3, 3]),
    "average with padding": window(
        "average_pool", "2x3x7x7", "2x3x4x4", kernel=[3, 3], strides=[2, 2], count_include_pad=""
    ),
    "rounded up": window(
        "max_pool", "1x2x6x6", "1x2x4x4", kernel=[3, 3], strides=[2, 2], ceil_mode=""
    ),
    "two convolutions": "%m = ge.conv %x, %f strides [2, 1] pads [1, 1, 1, 1] dilations [1, 1]"
    " group 1 : (tensor<1x3x11x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x8xf32>\n"
    "%r = ge.relu %m : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>\n"
    "%y = ge.conv %r, %g strides [2, 1] pads [1, 1, 1, 1] dilations [1, 1]"
    " group 1 : (tensor<1x4x6x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x3x8xf32>",
    "residual": "%m = ge.conv %x, %f strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]"
    " group 1 : (tensor<1x3x7x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x8xf32>\n"
    "%r = ge.conv %m, %g strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]"
    " group 1 : (tensor<1x4x7x8xf32>, tensor<3x4x3x3xf32>) -> tensor<1x3x7x8xf32>\n"
    "%s = ge.add %r, %x : (tensor<1x3x7x8xf32>, tensor<1x3x7x8xf32>) -> tensor<1x3x7x8xf32>\n"
    "%y = ge.relu %s : (tensor<1x3x7x8xf32>) -> tensor<1x3x7x8xf32>",
    "two strides": "%m = ge.conv %x, %f strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1]"
    " group 1 : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>\n"
    "%n = ge.max_pool %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]"
    " : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>\n"
    "%y = ge.concat %m, %n axis 1 : (tensor<1x4x4x4xf32>, tensor<1x3x4x4xf32>)"
    " -> tensor<1x7x4x4xf32>",
    "norm of channels": "%m = ge.conv %x, %f strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]"
    " group 4 : (tensor<1x4x6x6xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>\n"
    "%t = ge.transpose %m perm [0, 2, 3, 1] : (tensor<1x4x6x6xf32>) -> tensor<1x6x6x4xf32>\n"
    "%n = ge.softmax %t axis -1 : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>\n"
    "%u = ge.transpose %n perm [0, 3, 1, 2] : (tensor<1x6x6x4xf32>) -> tensor<1x4x6x6xf32>\n"
    "%y = ge.add %u, %x : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>",
}
OPS = PLAIN | WINDOWS
ROWS_CUT = WINDOWS.keys() - {"rounded up", "transposed"}
"""What is cut along the rows and columns of its result."""


def kernel_of(text: str) -> KernelOp:
    """A kernel of some ops; what they do not define are its arguments."""
    parser = Parser(context(), text)
    ops: list[GEOp] = []
    while (op := parser.parse_optional_operation()) is not None:
        assert isinstance(op, GEOp)
        ops.append(op)
    made = {result for op in ops for result in op.results}
    outside = list(dict.fromkeys(v for op in ops for v in op.operands if v not in made))
    block = Block(arg_types=[value.type for value in outside])
    mapping: dict[Any, Any] = dict(zip(outside, block.args, strict=True))
    for op in ops:
        block.add_op(op.clone(mapping))
    last = block.last_op
    assert last is not None
    block.add_op(YieldOp(*last.results))
    return KernelOp("k", "K", Engine.VECTOR, 0, Region(block))


def feeds(kernel: KernelOp) -> list[Any]:
    """Random operands."""
    random = np.random.default_rng(0)
    found: list[Any] = []
    for arg in kernel.body.block.args:
        dtype, shape = to_numpy(tensor_of(arg).element_type), tensor_of(arg).get_shape()
        whole = random.integers(0, 2 if dtype == np.bool_ else 7, shape)
        found.append((random.normal(size=shape) if dtype.kind == "f" else whole).astype(dtype))
    return found


def check_tiles(kernel: KernelOp, tiles: list[int]) -> None:
    """Runs a kernel in given tiles, on spoiled memory, and compares."""
    tiling = place_tiles(working_set(KernelBody(kernel.body.block)), tiles, LARGE, 1 << 30)
    assert isinstance(tiling, Tiling)
    kernel.properties["tiles"] = TilingAttr(tiling)
    kernel.verify()
    verify_tiles(kernel, LARGE)
    assert Parser(make_context(), str(kernel)).parse_operation().is_structurally_equivalent(kernel)
    arguments = feeds(kernel)
    run = compile_block(kernel.body.block)
    assert run is not None
    wanted = run(tuple(arguments))
    found = [np.full_like(array, 0) for array in wanted]
    TiledKernel(kernel).run(arguments, found, poison=True)
    for array, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(array, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", OPS)
def test_tiles_of_one_step_give_the_same(name: str) -> None:
    kernel = kernel_of(OPS[name])
    kernel_set = working_set(KernelBody(kernel.body.block))
    check_tiles(kernel, [1] * len(kernel_set.extents))
    assert bool(kernel.tiling and kernel.tiling.loops) is (name not in UNCUT)


@pytest.mark.parametrize("name", OPS)
def test_a_last_tile_may_be_smaller(name: str) -> None:
    """Two steps a tile, as far as what lies outside in a dimension is cut into single steps."""
    kernel = kernel_of(OPS[name])
    kernel_set = working_set(KernelBody(kernel.body.block))
    outside = {other for before in kernel_set.before for other in before}
    tiles = [
        1 if loop in outside else min(2, extent) for loop, extent in enumerate(kernel_set.extents)
    ]
    check_tiles(kernel, tiles)


@pytest.mark.parametrize("name", WINDOWS)
def test_rows_are_cut_where_windows_slide(name: str) -> None:
    kernel = kernel_of(OPS[name])
    kernel_set = working_set(KernelBody(kernel.body.block))
    result = next(one for one in kernel_set.held if one.is_result)
    rows = {loop for dim in result.dims[-2:] for loop, _ in dim}
    assert len(rows) == (2 if name in ROWS_CUT else 0)


@pytest.mark.parametrize("sunk", [False, True])
@pytest.mark.parametrize("guard", ["", "nan_guard", "zero_nan"])
@pytest.mark.parametrize("block", [8, 3, 1])
def test_attention_in_blocks_treats_masked_queries_alike(
    block: int, guard: str, sunk: bool
) -> None:
    random = np.random.default_rng(1)
    q, k, v = (random.normal(size=(1, 2, n, 4)).astype(np.float32) for n in (5, 8, 8))
    mask = random.normal(size=(1, 1, 5, 8)).astype(np.float32)
    mask[..., 0, :] = -np.inf  # no key at all
    mask[..., 1, :7] = -np.inf  # none before the last block
    mask[..., 2, 3] = np.inf
    mask[..., 3, 5] = np.nan
    nan_guard, zero_nan = guard == "nan_guard", guard == "zero_nan"
    rules = Rules(None, 0.5, None, 2.0, masked_fill=None, nan_guard=nan_guard, zero_nan=zero_nan)
    blocks = [(start, min(start + block, 8)) for start in range(0, 8, block)]
    scratch = (np.empty(80, np.float32), np.empty(80, np.float32))
    sink = np.array([0.5, -np.inf], np.float32) if sunk else None
    found = attend_in_blocks(q, k, v, mask, rules, 0, blocks, scratch, sink)
    wanted = flash_attention(
        q, k, v, mask, sink=sink, scale=0.5, softcap=2.0, nan_guard=nan_guard, zero_nan=zero_nan
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("block", [8, 3, 1])
def test_attention_in_blocks_fills_scores(block: int) -> None:
    random = np.random.default_rng(2)
    q, k, v = (random.normal(size=(1, 2, n, 4)).astype(np.float32) for n in (5, 8, 8))
    mask = random.random((1, 1, 5, 8)) < 0.5
    mask[..., 0, :] = False  # all weights alike
    rules = Rules(None, 0.5, None, 0.0, masked_fill=0.25, nan_guard=False, zero_nan=False)
    blocks = [(start, min(start + block, 8)) for start in range(0, 8, block)]
    scratch = (np.empty(80, np.float32), np.empty(80, np.float32))
    found = attend_in_blocks(q, k, v, mask, rules, 0, blocks, scratch, None)
    wanted = flash_attention(q, k, v, mask, scale=0.5, masked_fill=0.25)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[..., 0, :], v.mean(2), rtol=1e-5, atol=1e-6)


ATTENTION = """
func.func @main(%x: tensor<1x8x32xf32> {ge.name = "x"}, %w: tensor<32x96xf32> {ge.name = "w"})
    -> (tensor<1x8x32xf32> {ge.name = "y"}) {
  %y = ge.fusion "Block" (%x, %w) : (tensor<1x8x32xf32>, tensor<32x96xf32>) -> tensor<1x8x32xf32> {
  ^bb0(%a: tensor<1x8x32xf32>, %b: tensor<32x96xf32>):
    %p = ge.matmul %a, %b : (tensor<1x8x32xf32>, tensor<32x96xf32>) -> tensor<1x8x96xf32>
    %q, %k, %v = ge.split %p axis 2 sizes [32, 32, 32]
      : (tensor<1x8x96xf32>) -> (tensor<1x8x32xf32>, tensor<1x8x32xf32>, tensor<1x8x32xf32>)
    %q4 = ge.reshape %q : (tensor<1x8x32xf32>) -> tensor<1x1x8x32xf32>
    %k4 = ge.reshape %k : (tensor<1x8x32xf32>) -> tensor<1x1x8x32xf32>
    %v4 = ge.reshape %v : (tensor<1x8x32xf32>) -> tensor<1x1x8x32xf32>
    %o = ge.flash_attention %q4, %k4, %v4 scale 1.0
      : (tensor<1x1x8x32xf32>, tensor<1x1x8x32xf32>, tensor<1x1x8x32xf32>) -> tensor<1x1x8x32xf32>
    %f = ge.reshape %o : (tensor<1x1x8x32xf32>) -> tensor<1x8x32xf32>
    %s = ge.add %f, %a : (tensor<1x8x32xf32>, tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
    %n = ge.rms_norm %s axis -1 epsilon 1.0e-05 : (tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
    ge.yield %n : tensor<1x8x32xf32>
  }
  func.return %y : tensor<1x8x32xf32>
}"""

ROWS = """
func.func @main(%x: tensor<6x16xf32> {ge.name = "x"}, %w: tensor<16x16xf32> {ge.name = "w"})
    -> (tensor<6x16xf32> {ge.name = "y"}) {
  %y = ge.fusion "Rows" (%x, %w) : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32> {
  ^bb0(%a: tensor<6x16xf32>, %b: tensor<16x16xf32>):
    %m = ge.matmul %a, %b : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
    %s = ge.add %m, %a : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
    %n = ge.softmax %s axis 1 : (tensor<6x16xf32>) -> tensor<6x16xf32>
    %r = ge.mul %n, %m : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
    ge.yield %r : tensor<6x16xf32>
  }
  func.return %y : tensor<6x16xf32>
}"""


IMAGES = """
func.func @main(%x: tensor<1x4x9x8xf32> {ge.name = "x"}, %f: tensor<4x4x3x3xf32> {ge.name = "f"},
    %g: tensor<4x4x3x3xf32> {ge.name = "g"}) -> (tensor<1x4x9x8xf32> {ge.name = "y"}) {
  %y = ge.fusion "Images" (%x, %f, %g) : (tensor<1x4x9x8xf32>, tensor<4x4x3x3xf32>,
      tensor<4x4x3x3xf32>) -> tensor<1x4x9x8xf32> {
  ^bb0(%a: tensor<1x4x9x8xf32>, %b: tensor<4x4x3x3xf32>, %c: tensor<4x4x3x3xf32>):
    %m = ge.conv %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] group 1
      : (tensor<1x4x9x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x9x8xf32>
    %r = ge.relu %m : (tensor<1x4x9x8xf32>) -> tensor<1x4x9x8xf32>
    %n = ge.conv %r, %c strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] group 1
      : (tensor<1x4x9x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x9x8xf32>
    %s = ge.add %n, %a : (tensor<1x4x9x8xf32>, tensor<1x4x9x8xf32>) -> tensor<1x4x9x8xf32>
    ge.yield %s : tensor<1x4x9x8xf32>
  }
  func.return %y : tensor<1x4x9x8xf32>
}"""

HEADS = """
func.func @main(%x: tensor<1x16x32xf32> {ge.name = "x"}, %w: tensor<32x32xf32> {ge.name = "w"},
    %u: tensor<32x32xf32> {ge.name = "u"}) -> (tensor<1x16x32xf32> {ge.name = "y"}) {
  %y = ge.fusion "Heads" (%x, %w, %u) : (tensor<1x16x32xf32>, tensor<32x32xf32>,
      tensor<32x32xf32>) -> tensor<1x16x32xf32> {
  ^bb0(%a: tensor<1x16x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>):
    %i = ge.rms_norm %a axis -1 epsilon 1.0e-05 : (tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
    %q = ge.matmul %i, %b : (tensor<1x16x32xf32>, tensor<32x32xf32>) -> tensor<1x16x32xf32>
    %k = ge.matmul %i, %c : (tensor<1x16x32xf32>, tensor<32x32xf32>) -> tensor<1x16x32xf32>
    %q4 = ge.reshape %q : (tensor<1x16x32xf32>) -> tensor<1x16x4x8xf32>
    %k4 = ge.reshape %k : (tensor<1x16x32xf32>) -> tensor<1x16x4x8xf32>
    %qt = ge.transpose %q4 perm [0, 2, 1, 3] : (tensor<1x16x4x8xf32>) -> tensor<1x4x16x8xf32>
    %kt = ge.transpose %k4 perm [0, 2, 1, 3] : (tensor<1x16x4x8xf32>) -> tensor<1x4x16x8xf32>
    %o = ge.flash_attention %qt, %kt, %kt scale 1.0
      : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
    %ot = ge.transpose %o perm [0, 2, 1, 3] : (tensor<1x4x16x8xf32>) -> tensor<1x16x4x8xf32>
    %f = ge.reshape %ot : (tensor<1x16x4x8xf32>) -> tensor<1x16x32xf32>
    ge.yield %f : tensor<1x16x32xf32>
  }
  func.return %y : tensor<1x16x32xf32>
}"""

PROJECTED = """
func.func @main(%x: tensor<1x16x32xf32> {ge.name = "x"}, %w: tensor<32x96xf32> {ge.name = "w"})
    -> (tensor<1x16x32xf32> {ge.name = "y"}) {
  %y = ge.fusion "Projected" (%x, %w) : (tensor<1x16x32xf32>, tensor<32x96xf32>)
      -> tensor<1x16x32xf32> {
  ^bb0(%a: tensor<1x16x32xf32>, %b: tensor<32x96xf32>):
    %i = ge.rms_norm %a axis -1 epsilon 1.0e-05 : (tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
    %p = ge.matmul %i, %b : (tensor<1x16x32xf32>, tensor<32x96xf32>) -> tensor<1x16x96xf32>
    %h = ge.reshape %p : (tensor<1x16x96xf32>) -> tensor<1x16x4x24xf32>
    %t = ge.transpose %h perm [0, 2, 1, 3] : (tensor<1x16x4x24xf32>) -> tensor<1x4x16x24xf32>
    %q, %k, %v = ge.split %t axis 3 sizes [8, 8, 8] : (tensor<1x4x16x24xf32>)
      -> (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>)
    %o = ge.flash_attention %q, %k, %v scale 1.0
      : (tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32>
    %ot = ge.transpose %o perm [0, 2, 1, 3] : (tensor<1x4x16x8xf32>) -> tensor<1x16x4x8xf32>
    %f = ge.reshape %ot : (tensor<1x16x4x8xf32>) -> tensor<1x16x32xf32>
    ge.yield %f : tensor<1x16x32xf32>
  }
  func.return %y : tensor<1x16x32xf32>
}"""

CHAIN = """
func.func @main(%x: tensor<1x4096xf32> {ge.name = "x"}) -> (tensor<1xf32> {ge.name = "y"}) {
  %y = ge.fusion "Chain" (%x) : (tensor<1x4096xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<1x4096xf32>):
    %r = ge.relu %a : (tensor<1x4096xf32>) -> tensor<1x4096xf32>
    %e = ge.tanh %r : (tensor<1x4096xf32>) -> tensor<1x4096xf32>
    %s = ge.reduce_sum %e axes [1] keepdims 0 : (tensor<1x4096xf32>) -> tensor<1xf32>
    ge.yield %s : tensor<1xf32>
  }
  func.return %y : tensor<1xf32>
}"""

TWINS = """
func.func @main(%x: tensor<2x32x16xf32> {ge.name = "x"}) -> (tensor<2x32x32xf32> {ge.name = "y"}) {
  %y = ge.fusion "Twins" (%x) : (tensor<2x32x16xf32>) -> tensor<2x32x32xf32> {
  ^bb0(%a: tensor<2x32x16xf32>):
    %b = ge.relu %a : (tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %t = ge.transpose %b perm [0, 2, 1] : (tensor<2x32x16xf32>) -> tensor<2x16x32xf32>
    %m = ge.matmul %b, %t : (tensor<2x32x16xf32>, tensor<2x16x32xf32>) -> tensor<2x32x32xf32>
    ge.yield %m : tensor<2x32x32xf32>
  }
  func.return %y : tensor<2x32x32xf32>
}"""
"""A product of a tensor with itself: no loop over its rows cuts the result."""

PIECES = """
func.func @main(%x: tensor<1x197x128xf32> {ge.name = "x"}, %w: tensor<128x128xf32> {ge.name = "w"},
    %u: tensor<128x128xf32> {ge.name = "u"})
    -> (tensor<1x196x128xf32> {ge.name = "y"}, tensor<1x4x1x32xf32> {ge.name = "z"}) {
  %y, %z = ge.fusion "Pieces" (%x, %w, %u) : (tensor<1x197x128xf32>, tensor<128x128xf32>,
      tensor<128x128xf32>) -> (tensor<1x196x128xf32>, tensor<1x4x1x32xf32>) {
  ^bb0(%a: tensor<1x197x128xf32>, %b: tensor<128x128xf32>, %c: tensor<128x128xf32>):
    %h, %t = ge.split %a axis 1 sizes [1, 196]
      : (tensor<1x197x128xf32>) -> (tensor<1x1x128xf32>, tensor<1x196x128xf32>)
    %f = ge.reshape %h : (tensor<1x1x128xf32>) -> tensor<1x128xf32>
    %g = ge.gemm %f, %b alpha 1.0 beta 1.0
      : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32>
    %q = ge.reshape %g : (tensor<1x128xf32>) -> tensor<1x4x1x32xf32>
    %k = ge.matmul %a, %b : (tensor<1x197x128xf32>, tensor<128x128xf32>) -> tensor<1x197x128xf32>
    %v = ge.matmul %a, %c : (tensor<1x197x128xf32>, tensor<128x128xf32>) -> tensor<1x197x128xf32>
    %kr = ge.relu %k : (tensor<1x197x128xf32>) -> tensor<1x197x128xf32>
    %vr = ge.relu %v : (tensor<1x197x128xf32>) -> tensor<1x197x128xf32>
    %k4 = ge.reshape %kr : (tensor<1x197x128xf32>) -> tensor<1x197x4x32xf32>
    %v4 = ge.reshape %vr : (tensor<1x197x128xf32>) -> tensor<1x197x4x32xf32>
    %kt = ge.transpose %k4 perm [0, 2, 1, 3] : (tensor<1x197x4x32xf32>) -> tensor<1x4x197x32xf32>
    %vt = ge.transpose %v4 perm [0, 2, 1, 3] : (tensor<1x197x4x32xf32>) -> tensor<1x4x197x32xf32>
    %o = ge.flash_attention %q, %kt, %vt scale 1.0 : (tensor<1x4x1x32xf32>,
      tensor<1x4x197x32xf32>, tensor<1x4x197x32xf32>) -> tensor<1x4x1x32xf32>
    ge.yield %t, %o : tensor<1x196x128xf32>, tensor<1x4x1x32xf32>
  }
  func.return %y, %z : tensor<1x196x128xf32>, tensor<1x4x1x32xf32>
}"""

MANY_ROWS = ROWS.replace(
    "%r = ge.mul %n,",
    """%o = ge.softmax %m axis 1 : (tensor<6x16xf32>) -> tensor<6x16xf32>
    %u = ge.add %n, %o : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
    %v = ge.add %u, %s : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
    %r = ge.mul %v,""",
)
"""Four rows are there at a time."""


def lowered(text: str, ub: int | None = None, l0c: int | None = None) -> Executor:
    """A planned graph, ready to run."""
    from ge_dialect.lowering.set_target import SetTargetPass

    ctx = make_context()
    module = Parser(ctx, text).parse_module()
    SetTargetPass("Ascend910B1", ub_limit=ub, l0c_limit=l0c).apply(ctx, module)
    for pass_ in LowerPipeline().passes():
        pass_.apply(ctx, module)
    return Executor(module)


def inputs_of(executor: Executor) -> dict[str, npt.NDArray[np.float32]]:
    """Random inputs of a plan."""
    random = np.random.default_rng(0)
    types = {op.io_name.data: op.result.type for op in executor.plan.inputs}
    return {
        name: random.normal(size=[int(str(dim)) for dim in array_layout(type_)[0]]).astype(
            np.float32
        )
        for name, type_ in types.items()
    }


def tiled(executor: Executor) -> KernelOp:
    """The one kernel that has tiles."""
    ops = executor.module.body.block.ops
    return next(op for op in ops if isinstance(op, KernelOp) and op.tiling is not None)


def changed(tiling: Tiling) -> Iterator[tuple[str, Tiling]]:
    """Yields the tiling with each single thing changed."""
    for index, loop in enumerate(tiling.loops):
        for tile in {1, loop.tile - 1, loop.tile + 1, 2 * loop.tile, loop.extent} - {loop.tile, 0}:
            loops = [*tiling.loops]
            loops[index] = TileLoop(loop.extent, tile, loop.inner)
            yield f"tile {tile} of loop {index}", replace(tiling, loops=tuple(loops))
        loops = [*tiling.loops]
        loops[index] = TileLoop(loop.extent + 1, loop.tile, loop.inner)
        yield f"a longer loop {index}", replace(tiling, loops=tuple(loops))
    for index, buffer in enumerate(tiling.buffers):
        for what, other in changed_buffer(buffer, len(tiling.loops)):
            buffers = [*tiling.buffers]
            buffers[index] = other
            yield f"{buffer.name}: {what}", replace(tiling, buffers=tuple(buffers))


def changed_buffer(buffer: TileBuffer, loops: int) -> Iterator[tuple[str, TileBuffer]]:
    """Yields a buffer elsewhere, smaller, larger, and cut otherwise."""
    for shift in (-512, -64, -32, -4, 4, 32, 64, 512, 1 << 20):
        if buffer.offset + shift >= 0:
            yield f"moved by {shift}", replace(buffer, offset=buffer.offset + shift)
    for size in {buffer.size // 2, buffer.size - 4, buffer.size * 2}:
        yield f"of {size} bytes", replace(buffer, size=size)
    for axis, cut in enumerate(buffer.cuts):
        for other in {(), *(((loop, 1),) for loop in range(loops))} - {cut}:
            cuts = [*buffer.cuts]
            cuts[axis] = other
            yield f"cut otherwise along {axis}", replace(buffer, cuts=tuple(cuts))
    for axis in range(len(buffer.cuts)):
        before, after = buffer.halo(axis) or (0, 0)
        near = [(before + i, after + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        for halo in {*near, (0, 0), None} - {buffer.halo(axis)}:
            halos: list[Halo | None] = list(buffer.halos) or [None] * len(buffer.cuts)
            halos[axis] = halo
            yield f"halo {halo} along {axis}", replace(buffer, halos=tuple(halos))
    for tier in {*TIERS, SHARED_TIER} - {buffer.tier}:
        yield f"in {tier}", replace(buffer, tier=tier)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        (ROWS, {}),
        (ROWS, {"ub": 1024, "l0c": 256}),
        (ATTENTION, {}),
        (IMAGES, {"ub": 2048, "l0c": 1024}),
        (HEADS, {"ub": 1024, "l0c": 512}),
        (PROJECTED, {"ub": 1536, "l0c": 1536}),
        (TWINS, {"ub": 3072, "l0c": 4096}),
    ],
)
def test_a_changed_tiling_is_refused_or_harmless(text: str, limits: dict[str, int]) -> None:
    executor = lowered(text, **limits)
    kernel = tiled(executor)
    tiling = kernel.tiling
    assert tiling is not None
    assert (tiling.tiles > 1) is bool(limits)
    arrays = inputs_of(executor)
    wanted = executor.run(arrays)["y"]
    caught = harmless = 0
    for what, other in changed(tiling):
        kernel.properties["tiles"] = TilingAttr(other)
        try:
            verify_plan(plan_of(executor.module))
        except GEError as error:
            assert error.code == "GE0540", what
            caught += 1
            continue
        found = Executor(executor.module).run(arrays, poison=True)["y"]
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max(), err_msg=what)
        harmless += 1
    assert caught > harmless > 0


def test_blocks_that_pass_spare_what_they_lead_to() -> None:
    executor = lowered(CHAIN, ub=4096)
    kernel = tiled(executor)
    tiling = kernel.tiling
    assert tiling is not None
    buffers = tiling.by_name()
    first, total = buffers["in0"], buffers["reduce_sum2"]
    assert first.size < 4096 * 4  # the sums are computed while blocks of the operand come
    for one, other in ((first, total), (total, first)):
        moved = replace(one, offset=other.offset)
        changed = [moved if buffer is one else buffer for buffer in tiling.buffers]
        kernel.properties["tiles"] = TilingAttr(replace(tiling, buffers=tuple(changed)))
        with pytest.raises(GEError, match="GE0540"):
            verify_plan(plan_of(executor.module))


@pytest.mark.parametrize("l0c", [1024, 2048, 4096])
def test_a_product_of_a_tensor_with_itself_is_cut_along_one_of_them(l0c: int) -> None:
    executor = lowered(TWINS, ub=3072, l0c=l0c)
    arrays = inputs_of(executor)
    np.testing.assert_allclose(
        executor.run(arrays, poison=True)["y"], lowered(TWINS).run(arrays)["y"], rtol=1e-5
    )


def test_a_piece_that_passes_has_bytes_of_its_own() -> None:
    executor = lowered(PIECES, ub=100864)
    tiling = tiled(executor).tiling
    assert tiling is not None
    piece = tiling.by_name()["split1"]
    assert piece.size < 196 * 128 * 4
    arrays = inputs_of(executor)
    np.testing.assert_array_equal(executor.run(arrays)["y"], arrays["x"][:, 1:])
    np.testing.assert_array_equal(executor.run(arrays, poison=True)["y"], arrays["x"][:, 1:])


def test_a_kernel_that_does_not_fit_is_split_and_gives_the_same() -> None:
    whole, parts = lowered(MANY_ROWS), lowered(MANY_ROWS, ub=160)
    assert len(parts.plan.tasks()) > len(whole.plan.tasks()) == 1
    arrays = inputs_of(whole)
    np.testing.assert_array_equal(
        parts.run(arrays, poison=True)["y"], whole.run(arrays, poison=True)["y"]
    )


def test_what_is_read_again_is_counted_where_l2_is_too_small() -> None:
    text = """%y = ge.matmul %a, %b : (tensor<256x64xf32>, tensor<64x256xf32>)
      -> tensor<256x256xf32>"""
    kernel_set = working_set(KernelBody(kernel_of(text).body.block))
    assert kernel_set.extents == [256, 256]
    small = {"l1": 1 << 20, "ub": 1 << 20, "l0c": 1 << 20}
    for l2_bytes, reread in ((1 << 20, 0), (1 << 16, 256 * 64 * 4)):
        found = place_tiles(kernel_set, [128, 128], small, l2_bytes)
        assert isinstance(found, Tiling)
        assert found.reread == reread


def test_rows_that_two_tiles_read_are_counted_where_l2_is_too_small() -> None:
    kernel_set = working_set(KernelBody(kernel_of(WINDOWS["uneven padding"]).body.block))
    small = {"l1": 1 << 20, "ub": 1 << 20, "l0c": 1 << 20}
    tiles = [*kernel_set.extents]
    rows = next(one for one in kernel_set.held if one.is_result).dims[2][0][0]
    tiles[rows] = 2
    # Filters of four rows at stride 1: three rows in both of two tiles, and three tiles.
    for l2_bytes, reread in ((1 << 20, 0), (0, 2 * 3 * 2 * 6 * 4)):
        found = place_tiles(kernel_set, tiles, small, l2_bytes)
        assert isinstance(found, Tiling)
        assert found.reread == reread


def test_the_names_of_values_count_results() -> None:
    kernel = kernel_of(OPS["merged dimensions"])
    assert list(value_names(kernel.body.block)) == ["in0", "reshape0", "softmax1"]


def test_static_shapes_are_needed() -> None:
    kernel = kernel_of("%y = ge.neg %x : (tensor<?x4xf32>) -> tensor<?x4xf32>")
    value = kernel.body.block.args[0]
    assert is_tensor(value.type)
    assert static_shape(value.type) is None
    with pytest.raises(ValueError, match="static"):
        working_set(KernelBody(kernel.body.block))
