"""How kernels are tiled: what is read from HBM again, what divides into heads, what is picked."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge_dialect.ge.base import GEOp
from ge_dialect.passes.fusion.auto.fuse_auto import FuseAutoPass
from ge_dialect.passes.fusion.auto.groups import Groups
from ge_dialect.passes.fusion.footprint import Fit, fit
from ge_dialect.targets.reader import builtin_target
from ge_dialect.tools.api import make_context
from tests.fusion_graphs import parse


def fit_of(text: str, target: str = "Ascend910B1") -> Fit:
    """Returns how a kernel of all ops of a function is tiled."""
    (function,) = parse(text).body.block.ops
    assert isinstance(function, FuncOp)
    ops = [op for op in function.body.block.ops if isinstance(op, GEOp)]
    return fit(ops, builtin_target(target))


def moved(module: ModuleOp) -> int:
    """Returns the bytes that the kernels of a function move."""
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    return sum(g.traffic for g in Groups(function.body.block, ()).groups.values())


def normed(rows: int, columns: int) -> str:
    """Returns a norm in front of a product."""
    x, w, y = (f"tensor<{a}x{b}xf16>" for a, b in ((rows, columns), (columns, 128), (rows, 128)))
    return (
        f"func.func @f(%x: {x}, %w: {w}) -> {y} {{\n"
        f"%n = ge.rms_norm %x axis -1 epsilon 1.0e-05 : ({x}) -> {x}\n"
        f"%y = ge.matmul %n, %w : ({x}, {w}) -> {y}\nfunc.return %y : {y}\n}}"
    )


def test_rows_of_a_norm_are_read_twice_where_they_do_not_stay_in_l2():
    size = 8192 * 24576 * 2
    assert fit_of(normed(8192, 24576)) == Fit(None, 0, size)
    assert fit_of(normed(8192, 4096)) == Fit()


@pytest.mark.parametrize(("columns", "panels"), [(4096, 1), (65536, 6)])
def test_a_product_reads_the_larger_operand_for_each_panel_of_the_smaller(
    columns: int, panels: int
):
    x, w = f"tensor<{2 * columns}x4096xf16>", f"tensor<4096x{columns}xf16>"
    y = f"tensor<{2 * columns}x{columns}xf16>"
    text = (
        f"func.func @f(%x: {x}, %w: {w}) -> {y} {{\n"
        f"%y = ge.matmul %x, %w : ({x}, {w}) -> {y}\nfunc.return %y : {y}\n}}"
    )
    assert fit_of(text).read_again == (panels - 1) * 2 * columns * 4096 * 2


def attention(keys: int, kind: str = "f16", columns: int = 4096) -> str:
    """Returns attention whose keys and values are projected by one product each."""
    x, w = f"tensor<1x{keys}x{columns}x{kind}>", f"tensor<{columns}x4096x{kind}>"
    y = f"tensor<1x{keys}x4096x{kind}>"
    split, heads = f"tensor<1x{keys}x32x128x{kind}>", f"tensor<1x32x{keys}x128x{kind}>"
    lines = [f"func.func @f(%x: {x}, %wk: {w}, %wv: {w}, %q: {heads}) -> {heads} {{"]
    for name in "kv":
        lines += [
            f"%{name}0 = ge.matmul %x, %w{name} : ({x}, {w}) -> {y}",
            f"%{name}1 = ge.reshape %{name}0 : ({y}) -> {split}",
            f"%{name} = ge.transpose %{name}1 perm [0, 2, 1, 3] : ({split}) -> {heads}",
        ]
    lines += [
        f"%o = ge.flash_attention %q, %k, %v scale 1.0 : ({heads}, {heads}, {heads}) -> {heads}",
        f"func.return %o : {heads}\n}}",
    ]
    return "\n".join(lines)


def test_heads_fit_by_the_share_that_a_core_has_of_l2():
    assert fit_of(attention(1024)) == Fit(None, 32 * 8)
    assert fit_of(attention(1024, "f32")).shortage is None
    short = fit_of(attention(16384)).shortage
    assert short is not None
    assert (short.found, short.wanted) == ("8388608 bytes", "at most 4194304 bytes of L2")
    # 32 MiB of L2 for 32 cores, half of it for what streams by.
    assert fit_of(attention(1024), "Ascend910A").shortage is None
    short = fit_of(attention(1024, "f32"), "Ascend910A").shortage
    assert short is not None
    assert short.wanted == "at most 524288 bytes of L2"


def test_what_heads_multiply_is_read_for_each_where_it_does_not_stay_in_l2():
    # The input is 128 MiB, more than half of L2.
    assert fit_of(attention(4096, "f32", 8192)).read_again == 31 * 4096 * 8192 * 4


def test_a_kernel_reads_no_more_of_a_table_than_it_picks():
    module = parse(
        "func.func @f(%t: tensor<1000x64xf32>, %i: tensor<8xi64>, %b: tensor<64xf32>)"
        " -> tensor<8x64xf32> {\n"
        "%g = ge.gather %t, %i axis 0 : (tensor<1000x64xf32>, tensor<8xi64>) -> tensor<8x64xf32>\n"
        "%y = ge.add %g, %b : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>\n"
        "func.return %y : tensor<8x64xf32>\n}"
    )
    FuseAutoPass().apply(make_context(), module)
    assert moved(module) == 8 * 64 * 4 + 8 * 8 + 64 * 4 + 8 * 64 * 4
