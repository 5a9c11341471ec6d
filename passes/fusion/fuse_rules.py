"""`ge-fuse-rules`: fuses what the operator library has a kernel for, and says what it did not."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ge_dialect.ge.greatest import at_greatest
from ge_dialect.ge.structure import FusionOp
from ge_dialect.passes.fusion.explain import NAME, tell_absent
from ge_dialect.passes.fusion.fuser import Fuser
from ge_dialect.passes.fusion.gates import Setting
from ge_dialect.passes.fusion.registry import registry_of
from ge_dialect.passes.fusion.rule import Rule

__all__ = ["NAME", "FuseRulesPass", "Fuser", "blocks_of"]


@dataclass(frozen=True)
class FuseRulesPass(ModulePass):
    """Applies the rules of the operator library, higher priority and larger patterns first.

    Linear in ops for each rule: a rule looks only at ops of its root's class.

    Options:
    - `rules`: names of the rules to try; all where none is given.
    - `disable`: names of rules to leave out.
    - `library`: TOML files and Python modules with further rules.
    - `why-not`: names of rules whose misses are all told, the farthest partial match at each op.
    """

    name = NAME
    exact = True

    rules: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    library: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()

    @at_greatest
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        registry = registry_of(self.library)
        chosen = list(registry.ordered(self.rules))
        for names in (self.disable, self.why_not):
            registry.ordered(names)  # an unknown name is an error there, too
        names = {rule.name for rule in chosen}
        asked = [r for r in registry.ordered(self.why_not) if r.name not in names and self.why_not]
        setting = Setting(op, self.disable, [rule.name for rule in asked])
        absent: list[list[Rule]] = []
        functions = [f for f in op.body.block.ops if isinstance(f, FuncOp) and not f.is_declaration]
        for block in (block for function in functions for block in blocks_of(function)):
            fuser = Fuser(block, setting, self.why_not)
            fuser.watch([*chosen, *asked])
            for rule in (*chosen, *asked):
                fuser.apply(rule)
            absent.append(fuser.report())
        if absent and absent[0]:
            tell_absent([r for r in absent[0] if all(r in one for one in absent)], functions[0])


def blocks_of(op: Operation) -> list[Block]:
    """Returns the blocks in an op, those of branches and loop bodies as well, kernels' not."""
    found: list[Block] = []
    for region in op.regions:
        for block in region.blocks:
            found.append(block)
            for inner in block.ops:
                if inner.regions and not isinstance(inner, FusionOp):
                    found += blocks_of(inner)
    return found
