"""The frontend `onnx` of `ge-opt` and of any other host of xDSL."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend


@dataclass(frozen=True)
class ONNXFrontend(Frontend):
    """Reads an ONNX model.

    Options:
    - `input-shape`: shapes of inputs in ATC's notation, `"x:1,3,224,224;ids:1,1~128"`. Default: as
      the model has them.
    """

    name = "onnx"

    input_shape: str | None = None

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        """Returns the module of a model; one that is a file is mapped, not read.

        Raises:
            GEError: The model can not be imported.
        """
        import onnx
        from google.protobuf.message import DecodeError

        from ge_dialect.diagnostics import GEError
        from ge_dialect.frontends.onnx.importer import import_onnx
        from ge_dialect.frontends.onnx.input_shapes import parse_input_shapes

        shapes = None if self.input_shape is None else parse_input_shapes(self.input_shape)
        if os.path.isfile(input_name):
            return import_onnx(input_name, input_shapes=shapes)
        model = onnx.ModelProto()
        try:
            model.ParseFromString(input.read())
        except DecodeError as error:
            raise GEError("GE0202", f"'{input_name}' is not a valid ONNX model: {error}") from None
        return import_onnx(model, input_shapes=shapes)
