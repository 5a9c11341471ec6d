"""The package `onnx` of a command line tool, which loads what it needs of it.

Importing `onnx` loads all of it: helpers, checkers, JSON and text formats, `ml_dtypes`, 0.1 s. To
compile a model the tools need its message classes and operator schemas only. A deferred module
stands in `sys.modules` from the start; the first attribute that it lacks executes it.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType

PROTO_MODULE = "onnx.onnx_ml_pb2"
"""Where `onnx` takes its message classes from; it imports nothing else of the package."""


class DeferredOnnx(ModuleType):
    """`onnx`, executed when something is asked for that is neither message class nor submodule."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        __import__(PROTO_MODULE)
        if (found := getattr(sys.modules[PROTO_MODULE], name, None)) is not None:
            vars(self)[name] = found  # not asked for again
            return found
        spec = self.__spec__
        assert spec is not None and spec.loader is not None
        setattr(self, "__class__", ModuleType)  # noqa: B010  # what it executes imports it again
        spec.loader.exec_module(self)
        return getattr(self, name)


def defer_onnx() -> None:
    """Defers `onnx` where it is not loaded yet. For the start of a process that is ours alone."""
    if "onnx" not in sys.modules and (spec := find_spec("onnx")) is not None:
        module = module_from_spec(spec)
        module.__class__ = DeferredOnnx
        sys.modules["onnx"] = module
