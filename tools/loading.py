"""Plans out of `.om` files, as library objects."""

from __future__ import annotations

from pathlib import Path

from ge_dialect.lowering.om.decode import read_plan
from ge_dialect.lowering.om.encode import model_name
from ge_dialect.tools.api import CompiledPlan, CompileOptions


def load(path: str | Path) -> CompiledPlan:
    """Returns the plan in an `.om` file; the model it was made of is not needed.

    Nothing in the file is trusted. It stays mapped as long as the plan lives; what takes its place
    on the disk is not looked at.

    Raises:
        GEError: It cannot be read, is damaged or of another version (GE06xx).
    """
    loaded = read_plan(str(path))
    return CompiledPlan(
        loaded.module, model_name(loaded.module), CompileOptions(), weights=loaded.weights
    )
