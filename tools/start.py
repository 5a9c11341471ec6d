"""The start of a process that is a tool's own: what makes importing and compiling cheap.

Nothing here is for a library: it changes how the whole process collects garbage and makes classes.
To be called before anything heavy is imported; the module itself imports next to nothing.
"""

from __future__ import annotations

import gc
import os


def begin(*, computes: bool = False) -> None:
    """Prepares the process of a command line tool that runs once and ends.

    Args:
        computes: Whether it multiplies matrices, so that BLAS may use every core.
    """
    # A compilation makes many objects, little garbage, and ends: looking for it costs more.
    gc.set_threshold(10_000_000, 50, 50)
    if not computes:
        without_blas_threads()
    from ge_dialect.tools.deferred import defer_onnx
    from ge_dialect.tools.deferred_methods import defer_methods

    defer_onnx()
    defer_methods()


def without_blas_threads() -> None:
    """Keeps numpy from starting a thread a core, a tenth of a compilation's CPU time. What the
    user has set stands."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
