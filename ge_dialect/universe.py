"""What this package adds to `xdsl-opt` and to any other host of xDSL, as lazy factories."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target


def _ge() -> Dialect:
    from ge_dialect.ge import GE

    return GE


def _ge_exec() -> Dialect:
    from ge_dialect.ge_exec import GE_EXEC

    return GE_EXEC


def _om_target() -> type[Target]:
    from ge_dialect.lowering.om.target import OMTarget

    return OMTarget


def _memory_map_target() -> type[Target]:
    from ge_dialect.lowering.memory.target import MemoryMapTarget

    return MemoryMapTarget


def _onnx_frontend() -> type[Frontend]:
    from ge_dialect.frontends.onnx.frontend import ONNXFrontend

    return ONNXFrontend


def _om_frontend() -> type[Frontend]:
    from ge_dialect.lowering.om.frontend import OMFrontend

    return OMFrontend


def _all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    # The layers above hand out their factories; only here are they looked up from below.
    from ge_dialect.lowering import get_all_passes as get_lowering_passes
    from ge_dialect.passes import get_all_passes as get_graph_passes

    return get_graph_passes() | get_lowering_passes()


GE_UNIVERSE = Universe(
    all_dialects={"ge": _ge, "ge_exec": _ge_exec},
    all_passes=_all_passes(),
    all_targets={"om": _om_target, "memory-map": _memory_map_target},
    all_frontends={"onnx": _onnx_frontend, "om": _om_frontend},
)
