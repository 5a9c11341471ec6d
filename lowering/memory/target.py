"""`-t memory-map`: where everything of a planned module lies and when, as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target


@dataclass(frozen=True)
class MemoryMapTarget(Target):
    """Writes the memory map of a planned module as JSON, or what lies at one address.

    Options:
    - `address`: byte of the arena; only what lies there is written, first to last in time.
    - `arena`: name of the arena that `address` counts in. Default work.
    """

    name = "memory-map"

    address: int | None = None
    arena: str = "work"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from dataclasses import asdict

        from ge_dialect.json_text import json_text
        from ge_dialect.lowering.memory.memory_map import memory_map
        from ge_dialect.lowering.om.encode import plan_of

        found = memory_map(plan_of(module))
        value = asdict(found) if self.address is None else None
        if self.address is not None:
            value = [asdict(region) for region in found.at(self.arena, self.address)]
        output.write(json_text(value))
