"""ONNX nodes to `ge` ops: one file a family of operators, each with a table of converters.

A converter takes a `Node` and returns one value an output. It raises `OnHost` where the node has no
op of `ge` as it stands (operands that must be constant are not, an exotic mode): then the node
becomes a `ge.host_call`. `find_converter` loads the families.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType

from ge_dialect.frontends.onnx.convert.node import Converter, converters

__all__ = ["FAMILIES", "FOREIGN", "find_converter"]

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
    "quantized",
    "recurrent",
    "spectral",
    "old_forms",
)
"""Modules of this package, each of which registers its converters when imported."""

FOREIGN: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "ai.onnx.ml": ("trees", "ml"),
        "com.microsoft": (
            "quantized_contrib",
            "contrib",
            "contrib_attention",
            "contrib_grouped_attention",
            "contrib_blocks",
            "contrib_rotary",
            "contrib_images",
            "contrib_plain",
            "contrib_experts",
            "contrib_states",
            "contrib_linear_attention",
            "contrib_known",
        ),
    }
)
"""Those of a domain that few models have, imported when one asks for it."""


def find_converter(domain: str, op_type: str) -> Converter | None:
    """Returns the converter of an op type, or None where there is none."""
    _load("")
    _load(domain)
    return converters(domain).get(op_type)


@cache
def _load(domain: str) -> None:
    for family in FOREIGN.get(domain, ()) if domain else FAMILIES:
        import_module(f"ge_dialect.frontends.onnx.convert.{family}")
