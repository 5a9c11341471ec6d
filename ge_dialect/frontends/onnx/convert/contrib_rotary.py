"""Rotary embeddings of ONNX Runtime's domain.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.contrib import DOMAIN
from ge_dialect.frontends.onnx.convert.delegate import apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.attention import RotaryEmbeddingOp
from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.types import element_type_of, value_shape

_STREAMS = 3


@converts("RotaryEmbedding", domain=DOMAIN)
def rotary_embedding(node: Node) -> SSAValue:
    """`RotaryEmbedding` by tables; one position is that of the first step."""
    places = node[1]
    _expect_tables(node)
    if len(value_shape(places)) < 2:
        batch, *_, length = (node.shape() if len(node.shape()) == 3 else node.shape()[:3])[:3]
        length = node.shape()[1] if len(node.shape()) == 3 else length
        if not isinstance(batch, int) or not isinstance(length, int):
            raise OnHost("the length of the sequence is not known")
        steps = node.reshape(node.builder.ints([*range(length)] * batch), (batch, length))
        start = node.emit(CastOp(places, element_type_of(steps)))
        places = node.emit(AddOp(steps, start))
    return _rotated(node, node[2], node[3], places)


@converts("MRotaryEmbedding", domain=DOMAIN)
def mixed_rotary_embedding(node: Node) -> SSAValue:
    """A rotation whose angles follow the time, the height or the width of a token."""
    _expect_tables(node)
    streams, *_ = expect_rank(node[1], 3, "position_ids")
    half = expect_rank(node[2], 2, "cos_cache")[1]
    sections = node.get_ints("mrope_section") or ()
    if streams != _STREAMS or len(sections) != _STREAMS:
        node.fail(f"expected {_STREAMS} positions of a token and as many sections")
    if min(sections) < 0 or sum(sections) != half:
        node.fail(f"expected sections of {half} angles, got {list(sections)}")
    owner = _owners(node, sections)
    cosine, sine = (_mixed(node, node[slot], owner) for slot in (2, 3))
    return _rotated(node, cosine, sine, None)


def _owners(node: Node, sections: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Returns which position each angle follows: a section each, or one after the other."""
    layout = node.get_int("mrope_layout", 0)
    if layout not in (0, 1):
        node.fail(f"expected 'mrope_layout' of 0 or 1, got {layout}")
    if layout == 0:
        return np.repeat(np.arange(_STREAMS), sections)
    places = np.arange(sum(sections))
    turn = places % _STREAMS
    limits = np.array([0, *sections[1:]]) * _STREAMS
    return np.where(places < limits[turn], turn, 0)


def _mixed(
    node: Node, table: SSAValue, owner: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> SSAValue:
    """Returns the rows of a table that tokens have, `[B, S, angles]`."""
    found: SSAValue | None = None
    for stream in range(_STREAMS):
        if not (mine := owner == stream).any():
            continue
        places = apply(node, "Gather", node[1], node.builder.ints(stream), axis=0)
        rows = apply(node, "Gather", table, places, axis=0)
        found = (
            rows if found is None else apply(node, "Where", node.builder.array(mine), rows, found)
        )
    if found is None:
        node.fail("expected angles, got none")
    return found


def _expect_tables(node: Node) -> None:
    if len(node.shape()) not in (3, 4):
        node.fail(f"expected an input of rank 3 or 4, got {len(node.shape())}")
    for slot, name in ((2, "cos_cache"), (3, "sin_cache")):
        expect_rank(node[slot], 2, name)


def _rotated(node: Node, cosine: SSAValue, sine: SSAValue, places: SSAValue | None) -> SSAValue:
    if node.get_flag("is_packed_batching") or node.get_float("scale", 1.0) != 1.0:
        raise OnHost("packed batches or a scale")
    return node.emit(
        RotaryEmbeddingOp(
            node[0],
            cosine,
            sine,
            places,
            interleaved=node.get_flag("interleaved"),
            num_heads=_heads(node),
            rotary_dim=node.get_int("rotary_embedding_dim", 0),
        )
    )


def _heads(node: Node) -> int:
    """Returns the number of heads; where a node does not say it, all of a head turns."""
    count, half = node.get_int("num_heads", 0), node.shape(2)[-1]
    if count or len(node.shape()) != 3:
        return count
    hidden = node.shape()[2]
    if not isinstance(hidden, int) or not isinstance(half, int):
        raise OnHost("the size of a head is not known")
    if half < 1 or hidden % (2 * half):
        node.fail(f"expected heads of {2 * half} features, got {hidden} of all")
    return hidden // (2 * half)
