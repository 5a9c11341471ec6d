"""The `ge` dialect: a graph of pure ops on tensors, with the meaning ONNX gives them.

`GE` is loaded when it is first named, so that whoever needs the types alone loads no ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ge_dialect.ge.dialect import GE

__all__ = ["GE"]


def __getattr__(name: str) -> object:
    if name != "GE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ge_dialect.ge.dialect import GE

    return GE
