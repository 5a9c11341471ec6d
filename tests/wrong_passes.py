"""Passes with faults, for tests of what finds them; no tool knows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.binary import AddOp, SubOp
from ge_dialect.ge.unary import NegOp
from ge_dialect.passes.driver import Driver, Rewrite
from ge_dialect.tools.ge_opt import GEOptMain, main_with


@dataclass
class AddToSub(Rewrite):
    """`add(x, y)` -> `sub(x, neg(y))`, which is exact; the `wrong`-th time `sub(x, y)`, which is
    not, and the `failing`-th time an exception."""

    wrong: int
    failing: int
    roots = (AddOp,)
    seen: int = 0

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self.seen += 1
        if self.seen == self.failing:
            raise KeyError("no table for\nthis op")
        x, y = op.operands
        if self.seen == self.wrong:
            rewriter.replace(op, SubOp(x, y))
        else:
            negative = NegOp(y)
            rewriter.replace(op, [negative, SubOp(x, negative.result)])


@dataclass(frozen=True)
class AddToSubPass(ModulePass):
    """Options: which match is wrong, and which one fails; 0 for none."""

    name = "test-add-to-sub"
    exact = True

    wrong: int = 0
    failing: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Driver(self.name, [AddToSub(self.wrong, self.failing)]).run(op)


@dataclass(frozen=True)
class InvalidPass(ModulePass):
    """Leaves a module that is not valid."""

    name = "test-invalid"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, AddOp):
                inner.operands = [inner.operands[0]]


@dataclass(frozen=True)
class UncountedPass(ModulePass):
    """Swaps the operands of every `sub` without the driver, so that nothing counts."""

    name = "test-uncounted"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, SubOp):
                inner.operands = [inner.operands[1], inner.operands[0]]


TEST_PASSES = {one.name: one for one in (AddToSubPass, InvalidPass, UncountedPass)}


class TestingMain(GEOptMain):
    """`ge-opt` that knows the passes above."""

    def register_all_passes(self) -> None:
        super().register_all_passes()
        for name, pass_ in TEST_PASSES.items():
            self.register_pass(name, lambda found=pass_: found)


T, M = "tensor<1x2x4x8xf32>", "tensor<1x2x4x8xi1>"


def blocks(copies: int) -> str:
    """`add(x, dropout(layer_norm(flash_attention(x, k, v))))`, so many times, one after another."""
    lines: list[str] = []
    x = "%x"
    for i in range(copies):
        lines += [
            f"%a{i} = ge.flash_attention {x}, %k, %v scale 0.5 : ({T}, {T}, {T}) -> {T}",
            f"%n{i} = ge.layer_norm %a{i} axis -1 epsilon 1.0e-06 : {T} -> {T}",
            f"%d{i}, %m{i} = ge.dropout %n{i} ratio %p : tensor<f32> : {T} -> {T}, {M}",
            f'%r{i} = ge.add {x}, %d{i} : ({T}, {T}) -> {T} loc("block{i}/add")',
        ]
        x = f"%r{i}"
    body = "\n  ".join(lines)
    return (
        f"func.func @main(%x: {T}, %k: {T}, %v: {T}) -> {T} {{\n"
        f"  %p = ge.constant dense<0.0> : tensor<f32>\n  {body}\n  func.return {x} : {T}\n}}\n"
    )


def make_folder(folder: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> Path:
    """Goes to a folder with `in.mlir`, `count` blocks, where `ge-opt` knows the wrong passes."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("ge_dialect.tools.ge_opt.GEOptMain", TestingMain)
    (folder / "in.mlir").write_text(blocks(count))
    return folder


def fails(*argv: str) -> GEError:
    """Runs the tool, which fails; returns its error, which is one line."""
    with pytest.raises(GEError) as caught:
        main_with(argv)
    assert "\n" not in str(caught.value)
    return caught.value
