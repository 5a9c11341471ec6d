"""Small graphs and helpers of the tests about fusion rules."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from ge_dialect import remarks
from ge_dialect.ge.structure import FusionOp
from ge_dialect.passes.fusion.explain import tell_absent
from ge_dialect.passes.fusion.fuser import Fuser
from ge_dialect.passes.fusion.gates import Setting
from ge_dialect.passes.fusion.rule import Rule, RuleRegistry
from ge_dialect.tools.api import make_context

T = "tensor<2x4xf32>"


def parse(text: str) -> ModuleOp:
    """Returns a verified module."""
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def graph(*lines: str, results: str = "%y", attributes: str = "") -> ModuleOp:
    """Returns a module with a function of `%x` and `%z`, both 2x4xf32."""
    types = ", ".join([T] * len(results.split(",")))
    body = "\n".join(lines)
    function = (
        f"func.func @main(%x: {T}, %z: {T}) -> ({types}) {{\n{body}\n"
        f"func.return {results} : {types}\n}}"
    )
    return parse(f"builtin.module attributes {{{attributes}}} {{\n{function}\n}}")


def unary(result: str, name: str, operand: str) -> str:
    """Returns the text of an op."""
    return f"{result} = ge.{name} {operand} : ({T}) -> {T}"


def binary(result: str, name: str, lhs: str, rhs: str) -> str:
    """Returns the text of an op."""
    return f"{result} = ge.{name} {lhs}, {rhs} : ({T}, {T}) -> {T}"


def fuse(
    module: ModuleOp,
    *rules: Rule,
    why_not: Sequence[str] = (),
    disabled: Sequence[str] = (),
) -> list[remarks.Remark]:
    """Applies rules of a registry of their own; returns what was missed."""
    registry = RuleRegistry()
    for rule in rules:
        registry.register(rule)
    function = next(op for op in module.body.block.ops if isinstance(op, FuncOp))
    with remarks.collect() as found:
        fuser = Fuser(function.body.block, Setting(module, disabled), why_not)
        ordered = list(registry.ordered())
        fuser.watch(ordered)
        for rule in ordered:
            fuser.apply(rule)
        tell_absent(fuser.report(), function)
    module.verify()
    return [remark for remark in found.remarks if remark.kind == remarks.Kind.MISSED]


def kernels(module: ModuleOp) -> list[str]:
    """Returns the names of the kernels of a module, in order."""
    return [op.kernel_name.data for op in module.walk() if isinstance(op, FusionOp)]


def bodies(module: ModuleOp) -> list[list[str]]:
    """Returns the names of the ops in each kernel."""
    return [
        [op.name for op in fusion.body.block.ops]
        for fusion in module.walk()
        if isinstance(fusion, FusionOp)
    ]
