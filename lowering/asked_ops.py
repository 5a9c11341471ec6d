"""Whether ops fit their tiles, by what they infer: for the check of tilings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.numbers import Numbers
from ge_dialect.ge.types import tensor_of, tensor_type
from ge_dialect.lowering.tile_body import TileSpans


@dataclass
class Asked:
    """What ops have answered about tiles, so that each question is asked once for all kernels.

    An op answers from its properties, the types of what it reads and makes, and the constants among
    that.

    Attributes:
        numbers: Of attributes.
        kinds: A number for ops that answer alike.
        fine: The kinds of ops, with the shapes and properties of tiles that fit them.
    """

    numbers: Numbers = field(default_factory=Numbers)
    kinds: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    fine: set[Hashable] = field(default_factory=set[Hashable])

    def kind(self, op: GEOp) -> int:
        """Returns the number of an op, whatever the shapes of its values are."""
        of = self.numbers.of
        key = (
            op.name,
            tuple([(name, of(attr)) for name, attr in sorted(op.properties.items())]),
            tuple([of(tensor_of(value).element_type) for value in operands_of(op)]),
            tuple([of(tensor_of(result).element_type) for result in op.results]),
            tuple(
                [
                    (place, of(value.type), of(value.owner.value))
                    for place, value in enumerate(operands_of(op))
                    if isinstance(value.owner, ConstantOp)
                ]
            ),
        )
        return self.kinds.setdefault(key, len(self.kinds))

    def check(self, op: GEOp, kind: int, tile: TileSpans) -> None:
        """Checks that an op makes its tile of what it reads.

        Args:
            op: Of a body.
            kind: Of the op.
            tile: Where tiles of the body begin and end.

        Raises:
            VerifyException: It does not.
        """
        reads = tile.read_shapes(op)
        made = [tile.shapes[result] for result in op.results]
        key = (kind, *reads, *made, *tile.properties[op].items())
        if key in self.fine:
            return
        alone = _on_tile(op, tile, reads)
        try:
            alone.verify_()
        finally:
            if None in reads:  # a constant of the body
                alone.drop_all_references()
        self.fine.add(key)


def _on_tile(op: GEOp, tile: TileSpans, reads: Sequence[tuple[int, ...] | None]) -> GEOp:
    """Returns a copy of an op, outside of any block, that reads and makes one tile.

    Args:
        op: Of the body.
        tile: Where tiles begin and end.
        reads: Shapes of what the op reads of its operands; None of a whole constant.
    """
    operands = operands_of(op)
    given = Block(
        arg_types=[
            value.type if shape is None else tensor_type(tensor_of(value).element_type, shape)
            for value, shape in zip(operands, reads, strict=True)
        ]
    )
    return type(op).create(
        operands=[
            value if shape is None else arg  # of a constant an op may ask for its elements
            for value, shape, arg in zip(operands, reads, given.args, strict=True)
        ],
        result_types=[
            tensor_type(tensor_of(result).element_type, tile.shapes[result])
            for result in op.results
        ],
        properties={**op.properties, **tile.properties[op]},
    )
