"""The built-in operator library: its size, its page, and that its kernels fit on chip."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ge_dialect.ge.base import GEOp
from ge_dialect.passes.fusion import library
from ge_dialect.passes.fusion.footprint import fit
from ge_dialect.passes.fusion.registry import built_in_rules
from ge_dialect.targets import load_target
from tests.fusion_graphs import parse


def test_there_are_many_rules_in_every_family():
    assert len(built_in_rules()) >= 30
    assert all(family.RULES for family in library.families())


def test_the_page_is_up_to_date(root: Path):
    script = root / "scripts" / "write_library_docs.py"
    run = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert run.returncode == 0, "run `make docs`"


def test_rules_of_users_come_first():
    named = {rule.name for f in library.families()[:2] for rule in f.RULES}
    assert all(rule.priority < 0 for rule in built_in_rules() if rule.name not in named)


@pytest.mark.parametrize(
    ("columns", "tier", "needed"),
    [(128, None, 0), (256, None, 0), (512, "l0c", 262144), (4096, "l0c", 2097152)],
)
def test_a_norm_behind_a_product_needs_all_columns_on_chip(
    columns: int, tier: str | None, needed: int
):
    shape = f"tensor<1024x{columns}xf16>"
    module = parse(
        f"func.func @main(%x: tensor<1024x64xf16>, %w: tensor<64x{columns}xf16>) -> {shape} {{\n"
        f"%m = ge.matmul %x, %w : (tensor<1024x64xf16>, tensor<64x{columns}xf16>) -> {shape}\n"
        f"%y = ge.layer_norm %m axis -1 epsilon 1.0e-05 : {shape} -> {shape}\n"
        f"func.return %y : {shape}\n}}"
    )
    ops = [op for op in module.walk() if isinstance(op, GEOp)]
    found = fit(ops, load_target("Ascend910B1"))
    if tier is None:
        assert found.shortage is None
        assert found.chunks == 8  # 1024 rows in tiles of 128
    else:
        assert found.shortage is not None
        assert (found.shortage.tier, found.shortage.needed) == (tier, needed)
