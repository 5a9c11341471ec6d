"""Models in files."""

from __future__ import annotations

from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.diagnostics import GEError


def file_name(path: str | Path) -> str:
    """Returns the name of the model in a file; of `bert/model.onnx` that of the folder."""
    stem = Path(path).stem
    folder = Path(path).resolve().parent.name
    return folder if stem == "model" and folder else stem


def parse_mlir(ctx: Context, path: str) -> ModuleOp:
    """Returns the verified module of an `.mlir` file.

    Raises:
        GEError: It cannot be read, parsed or verified.
    """
    from xdsl.utils.exceptions import ParseError

    from ge_dialect.parsing import TextParser
    from ge_dialect.tools.cli import decode_text, parse_error, read_file, too_deep
    from ge_dialect.validity import check_valid

    text = decode_text(path, read_file(path))
    try:
        module = TextParser(ctx, text, path).parse_module()
        problem = check_valid(module)
    except ParseError as error:
        raise parse_error(error) from error
    except RecursionError as error:
        raise too_deep(path) from error
    if problem is not None:
        raise GEError("GE0311", f"{path}: {problem}")
    return module
