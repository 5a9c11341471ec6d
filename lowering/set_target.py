"""`ge-set-target`: writes the machine to compile for into the module, as DLTI.

Later passes ask the module, so that streams, memory and predicted times mean the same machine, and
a plan in a file still says which one. All figures are written, those of a file of one's own too.

Example: tests/filecheck/lowering/set_target.mlir.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class SetTargetPass(ModulePass):
    """Writes the target of a module.

    Options:
    - `target`: name of a chip, or path of a TOML file. Default: the one that the module has
      already, else Ascend910B1.
    - `l1-limit`, `ub-limit`, `l0c-limit`: bytes of that memory of a core that kernels may use.
      Default: all of it.
    - `standard`: whether to write the attribute `dlti.target_system_spec`, which other tools of
      MLIR 20 and later find, not `ge.target`, which older ones can read over. Default false.
    """

    name = "ge-set-target"

    target: str | None = None
    standard: bool = False
    l1_limit: int | None = None
    ub_limit: int | None = None
    l0c_limit: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import attach_target, attached_target, target_of

        limits = {"l1": self.l1_limit, "ub": self.ub_limit, "l0c": self.l0c_limit}
        limited = {name: limit for name, limit in limits.items() if limit is not None}
        as_it_is = self.target is None and not self.standard and not limited
        if as_it_is and attached_target(op) is not None:
            return
        target = target_of(op, self.target)
        attach_target(op, target.limited(limited), standard=self.standard)
