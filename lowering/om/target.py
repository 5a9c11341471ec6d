"""`-t om`: a planned module as an `.om` file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ge_dialect.diagnostics import GEError


@dataclass(frozen=True)
class OMTarget(Target):
    """Writes a planned module as an `.om` file.

    Targets of xDSL give text and the file is binary, so it goes to a path of its own.

    Options:
    - `path`: the file; `ge-opt -t om -o FILE` sets it.
    - `weight_checksum`: whether more than 16 MiB of weights get a checksum as well.
    """

    name = "om"

    path: str | None = None
    weight_checksum: bool = False

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from ge_dialect.lowering.om.encode import write_plan

        if self.path is None:
            raise GEError(
                "GE0623",
                "an .om file is binary and cannot go to standard output",
                hint='give a file: -o FILE, or -t om{path="FILE"}',
            )
        write_plan(module, self.path, checksum=self.weight_checksum)
