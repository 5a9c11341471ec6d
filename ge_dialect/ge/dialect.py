"""The `ge` dialect as one object: the ops of every family, its attributes and its types."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation

from ge_dialect.ge.access import quicken
from ge_dialect.ge.attributes import (
    DimsAttr,
    FloatFormatType,
    GuardAttr,
    StringsAttr,
    StringType,
    SymbolAttr,
    TargetAttr,
    TierAttr,
    WeightAttr,
)
from ge_dialect.ge.containers import MapType, OptionalType, SequenceType

FAMILIES = (
    "constants",
    "structure",
    "fail",
    "elementwise",
    "unary",
    "binary",
    "activations",
    "reductions",
    "selection",
    "contractions",
    "integer_contractions",
    "convolution",
    "normalization",
    "channel_normalization",
    "attention",
    "dropout",
    "pooling",
    "quantization",
    "requantization",
    "movement",
    "pieces",
    "rearrange",
    "resize",
    "grid_sample",
    "indexing",
    "scatter",
    "recurrent",
    "lstm",
    "spectral",
    "trees",
)
"""Modules of `ge_dialect.ge` that define ops."""


def op_classes(module: ModuleType) -> tuple[type[Operation], ...]:
    """Returns the ops that a module defines, in the order of their definition.

    Base classes have no `name`, and what a module merely imports is not its own. Whether something
    is an op is asked last: where it is not, all ops there are are looked through.
    """
    return tuple(
        member
        for member in vars(module).values()
        if isinstance(member, type)
        and member.__module__ == module.__name__
        and "name" in vars(member)
        and issubclass(member, IRDLOperation)
    )


def _ops_of_families(families: Iterable[str]) -> list[type[Operation]]:
    modules = [import_module(f"ge_dialect.ge.{family}") for family in families]
    return [op_class for module in modules for op_class in op_classes(module)]


GE = Dialect(
    "ge",
    _ops_of_families(FAMILIES),
    [
        DimsAttr,
        FloatFormatType,
        MapType,
        OptionalType,
        SequenceType,
        StringType,
        StringsAttr,
        GuardAttr,
        SymbolAttr,
        TargetAttr,
        TierAttr,
        WeightAttr,
    ],
)

quicken(GE.operations)
