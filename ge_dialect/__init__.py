"""ge-dialect: a graph compiler for NPUs, as dialects and passes of xDSL.

Importing the package imports nothing heavy; the public API is loaded when it is first named.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ge_dialect.diagnostics import GEError
    from ge_dialect.passes.fusion.article import FusionRuleRegistry, fusion_rule
    from ge_dialect.tools.api import CompiledPlan, build_pipeline, compile, load

__version__ = "0.1.0"

__all__ = [
    "CompiledPlan",
    "FusionRuleRegistry",
    "GEError",
    "__version__",
    "build_pipeline",
    "compile",
    "fusion_rule",
    "load",
]

_LAZY = {
    "FusionRuleRegistry": "ge_dialect.passes.fusion.article",
    "GEError": "ge_dialect.diagnostics",
    "CompiledPlan": "ge_dialect.tools.api",
    "build_pipeline": "ge_dialect.tools.api",
    "compile": "ge_dialect.tools.api",
    "load": "ge_dialect.tools.api",
    "fusion_rule": "ge_dialect.passes.fusion.article",
}

_here = Path(__file__).parent
if not (_here / "passes").is_dir():
    # A checkout run from its root: passes/, lowering/ and tools/ lie beside this folder, where an
    # installed package has them inside.
    __path__.append(str(_here.parent))


def __getattr__(name: str) -> object:
    if (module := _LAZY.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)
