"""The `mlir` frontend of `ge-opt`: IR text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.frontend.mlir import MLIRFrontend

from ge_dialect.parsing import TextParser


@dataclass(frozen=True)
class TextFrontend(MLIRFrontend):
    """xDSL's frontend, with the parser of our tools."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        """Returns the module of a text in UTF-8.

        Raises:
            ParseError: It does not parse.
        """
        parser = TextParser(ctx, input.read(), input_name)
        return parser.parse_module(not self.no_implicit_module)
