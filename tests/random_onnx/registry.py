"""Which function adds a node of which operator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TypeAlias

import onnx.defs

from tests.random_onnx.grower import Grower

Builder: TypeAlias = Callable[[Grower, str], object]

FAMILIES = (
    "elementwise",
    "reductions",
    "contractions",
    "windows",
    "normalization",
    "attention",
    "shapes",
    "movement",
    "resizing",
    "indexing",
    "quantization",
    "recurrent",
    "dynamic",
    "control",
    "idioms",
)

_TABLE: dict[str, Builder] = {}


def builds(*op_types: str) -> Callable[[Builder], Builder]:
    """Registers a function that adds a node of given operators, with what it needs around it."""

    def register(function: Builder) -> Builder:
        for op_type in op_types:
            assert op_type not in _TABLE, op_type
            _TABLE[op_type] = function
        return function

    return register


@cache
def builders() -> dict[str, Builder]:
    """Returns all builders, by operator or by the name of an idiom, in order of names."""
    for family in FAMILIES:
        import_module(f"tests.random_onnx.{family}")
    return dict(sorted(_TABLE.items()))


@cache
def available(opset: int) -> tuple[str, ...]:
    """Returns the names of the builders that an opset has operators for."""
    return tuple(name for name in builders() if _exists(name, opset))


def _exists(name: str, opset: int) -> bool:
    if name.islower():
        return True  # an idiom, which looks at the opset itself
    try:
        return not onnx.defs.get_schema(name, opset, "").deprecated
    except onnx.defs.SchemaError:
        return False
