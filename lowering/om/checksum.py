"""The checksum of weights: an attribute of the module, so that the checksum of the plan covers it.

Up to `AUTOMATIC_BYTES` of weights have one without being asked. Beyond, it costs what a second
reading of all of them costs, when writing and again when loading, and has to be asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ge_dialect.diagnostics import GEError

if TYPE_CHECKING:
    from ge_dialect.lowering.om.file import PackedWeights

ATTRIBUTE = "ge.weight_checksum"
"""Of the module: `blake2b-256:` and hexadecimal digits, of all bytes of WEIGHTS_DATA."""
AUTOMATIC_BYTES = 1 << 24
"""Weights of at most this many bytes have a checksum: 0.03 s."""

_KIND = "blake2b-256:"
_CHUNK = 1 << 22


def wants_checksum(module: ModuleOp, weights_size: int, asked: bool) -> bool:
    """Says whether a file gets a checksum of its weights: it is small, had one, or it was asked."""
    return weights_size > 0 and (
        asked or weights_size <= AUTOMATIC_BYTES or ATTRIBUTE in module.attributes
    )


def packed_checksum(packed: PackedWeights) -> str:
    """Returns the attribute's text for the weights of a file to be written.

    Raises:
        GEError: A weight cannot be read.
    """
    return _checksum(packed.pieces())


def check_weights(module: ModuleOp, weights: memoryview, path: str) -> None:
    """Compares weights with the checksum of their module, if it has one.

    Args:
        module: Out of the file.
        weights: WEIGHTS_DATA; read once, whole, if there is a checksum.
        path: Of the file.

    Raises:
        GEError: GE0609 where they differ, GE0622 where the checksum is of no known kind.
    """
    if (attr := module.attributes.get(ATTRIBUTE)) is None:
        return
    if not (isinstance(attr, StringAttr) and attr.data.startswith(_KIND)):
        raise GEError(
            "GE0622",
            f"'{path}' holds no usable plan: expected {ATTRIBUTE} = \"{_KIND}...\", got {attr}",
            hint="compile the model again with this version of ge-dialect",
        )
    if _checksum([weights]) != attr.data:
        raise GEError(
            "GE0609",
            f"'{path}' is damaged: its {len(weights)} bytes of weights do not match their checksum",
            hint="copy the file again or compile the model again",
        )


def _checksum(pieces: Iterator[memoryview] | list[memoryview]) -> str:
    digest = hashlib.blake2b(digest_size=32)
    for piece in pieces:
        data = piece.cast("B")
        for start in range(0, len(data), _CHUNK):
            digest.update(data[start : start + _CHUNK])
    return _KIND + digest.hexdigest()
