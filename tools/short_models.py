"""Models whose repeated layers are imported once, where a compilation optimises them once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ge_dialect.passes.repeats.outline_repeats import LEAST_REPEATS, shorten_model
from ge_dialect.passes.repeats.shorten import Shortened
from ge_dialect.repeats import KEPT

if TYPE_CHECKING:
    import onnx

    from ge_dialect.frontends.onnx.importer import OpenedModel, Source
    from ge_dialect.frontends.onnx.input_shapes import InputShapes


@dataclass
class ShortModel:
    """A model without most of its layers.

    Attributes:
        module: Its function has no body yet.
        short: What becomes that body.
        opened: To import it again.
        times: For each op of a layer that stands for others how many these are.
    """

    module: ModuleOp
    short: Shortened
    opened: OpenedModel
    times: dict[Operation, int]

    def widen(self) -> Shortened | None:
        """Returns a form that has more around the layers, for the same function; None where there
        is none."""
        if (wider := _shorten(self.opened, close=False)) is not None:
            wider.short.function = self.short.function
        return None if wider is None else wider.short

    def complete(self) -> None:
        """Gives the function of `module` its body, as imported."""
        from ge_dialect.frontends.onnx.importer import import_model

        (function,) = import_model(self.opened).body.block.ops
        assert isinstance(function, FuncOp)
        block = function.body.detach_block(0)
        self.short.function.body.add_block(block)


def load_short(
    model: str | Path | onnx.ModelProto, input_shapes: InputShapes | str | None
) -> tuple[ModuleOp, str, ShortModel | None]:
    """As `load_model`, but with most of the repeated layers left out of an ONNX model, where they
    can be; the function of the module has no body then."""
    from ge_dialect.tools.api import load_model
    from ge_dialect.tools.model_files import file_name

    if isinstance(model, str | Path):
        if Path(model).suffix == ".mlir":
            return (*load_model(model, input_shapes), None)
        found, name = _import(str(model), input_shapes), file_name(model)
    else:
        found, name = _import(model, input_shapes), model.graph.name or "model"
    return (found, name, None) if isinstance(found, ModuleOp) else (found.module, name, found)


def _import(source: Source, input_shapes: InputShapes | str | None) -> ShortModel | ModuleOp:
    from ge_dialect.frontends.onnx.importer import import_model, open_model

    opened = open_model(source, input_shapes)
    return _shorten(opened) or import_model(opened)


def _shorten(opened: OpenedModel, *, close: bool = True) -> ShortModel | None:
    """Returns a model without most of its layers, or None."""
    from ge_dialect.frontends.onnx.short_import import import_short
    from ge_dialect.tools.running import is_settled

    found = import_short(opened, max(LEAST_REPEATS, KEPT + 1), close=close)
    if found is None or not is_settled(found.module) or (short := shorten_model(found)) is None:
        return _shorten(opened, close=False) if found is not None and close else None
    times = dict.fromkeys(found.kept[0], 1 + len(found.blocks.skipped))
    return ShortModel(found.whole, short, opened, times)
