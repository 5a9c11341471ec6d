"""Takes a model that was imported without most of its layers for the short form of the whole."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block

from ge_dialect.frontends.onnx.layers import ShortModule
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.numbers import Numbers
from ge_dialect.passes.repeats.find import kind_of
from ge_dialect.passes.repeats.names import Names
from ge_dialect.passes.repeats.shorten import Shortened


def adopt(found: ShortModule) -> Shortened | None:
    """Returns the short form of a model; None where it has ops that `find_run` would not take, the
    layers that are there did not become alike, or two of them share a weight of their own."""
    (function,) = found.whole.body.block.ops
    (shorter,) = found.module.body.block.ops
    assert isinstance(function, FuncOp) and isinstance(shorter, FuncOp)
    block = shorter.body.block
    if not _has_plain_ops(block) or not _are_alike(found):
        return None
    kept = {op for ops in found.kept.values() for op in ops}
    outside = [op for op in block.ops if op not in kept]
    names = Names.of(found.blocks, found.kept, outside)
    for op, location in names.made_up.items():
        op.location = location
    short = Shortened(function, found.blocks, names, found.module, found.returned, found.arguments)
    short.opened = found.opened
    for constant, place in found.sealed.items():
        assert isinstance(constant.value, WeightAttr)
        short.note_sealed(constant.value, constant.result, place)
    return None if short.opened or len(short.sealed) != len(found.sealed) else short


def _has_plain_ops(block: Block) -> bool:
    return all(
        type(op) is ConstantOp
        or type(op) is ReturnOp
        or (isinstance(op, GEOp) and not op.regions and not op.attributes)
        for op in block.ops
    )


def _are_alike(found: ShortModule) -> bool:
    numbers, known = Numbers(), dict[Hashable, int]()
    first, *others = [[kind_of(op, numbers, known) for op in ops] for ops in found.kept.values()]
    return all(other == first[: len(other)] for other in others)
