"""`ge-opt model.om`: the plan in a file as `ge_exec` IR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend


@dataclass(frozen=True)
class OMFrontend(Frontend):
    """Reads the plan of an `.om` file; weights stay where they are."""

    name = "om"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        from ge_dialect.lowering.om.decode import read_plan

        return read_plan(input_name).module
