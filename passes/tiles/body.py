"""What is known of the values of a kernel's body, whatever streams: the rules of
`working_set.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import prod

from xdsl.ir import Block, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import dtype_of, is_float
from ge_dialect.ge.in_place import in_place_pairs_of
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge_exec.tiling import value_names
from ge_dialect.passes.fusion.tiling import Role, role_of
from ge_dialect.passes.tiles.working_set import SUM_BYTES


@dataclass(slots=True)
class BodyValue:
    """What is known of a value whatever streams.

    Attributes:
        name: As the tiling names it.
        owner: The value whose bytes it has; its own otherwise.
        tier, width, life, is_operand, is_result, is_table: As of `Held`.
        owner_number: The number of the owner.
        storage_width: Bytes of an element where it is stored.
        in_blocks: Whether blocks of it are enough, since it is an operand of that kind.
        reads: The steps that read these bytes.
        is_empty: Whether it has no elements.
        hbm_bytes: As of `WorkingSet`.
    """

    name: str
    owner: SSAValue
    owner_number: int
    tier: str
    width: int
    storage_width: int
    life: tuple[int, int]
    is_operand: bool
    is_result: bool
    is_table: bool
    in_blocks: bool
    reads: Sequence[int]
    is_empty: bool
    hbm_bytes: int


class KernelBody:
    """A kernel's body, as its working sets see it: those have all of this in common.

    Raises:
        ValueError: A shape is not static.
    """

    def __init__(self, block: Block):
        self.block = block
        self.ops = [
            op for op in block.ops if isinstance(op, GEOp) and not isinstance(op, ConstantOp)
        ]
        self.roles = [role_of(type(op)) for op in self.ops]
        last = block.last_op
        assert last is not None
        self.results: Sequence[SSAValue] = tuple(last.operands)
        self.in_place = in_place_pairs_of(block)

    @cached_property
    def values(self) -> Mapping[SSAValue, BodyValue]:
        """The values of the body in order, constants left out."""
        names = value_names(self.block)
        numbers = dict(zip(names.values(), count()))
        owners: dict[SSAValue, SSAValue] = {}
        reads: dict[SSAValue, list[int]] = {}  # of bytes: by the value that owns them
        made: dict[SSAValue, int] = {}
        for step, op in enumerate(self.ops):
            operands = operands_of(op)
            for operand in operands:
                reads.setdefault(owners.get(operand, operand), []).append(step)
            made.update(dict.fromkeys(op.results, step))
            if (view := op.view_of()) is not None and (shown := operands[view]) in numbers:
                owners.update(dict.fromkeys(op.results, owners.get(shown, shown)))
        given = {owners.get(value, value) for value in self.results}
        found: dict[SSAValue, BodyValue] = {}
        for name, value in names.items():
            owner = owners.get(value, value)
            found[value] = self._value(
                name,
                value,
                owner,
                numbers[owner],
                reads.get(owner, ()),
                made.get(owner),
                owner in given,
            )
        return found

    def _value(
        self,
        name: str,
        value: SSAValue,
        owner: SSAValue,
        number: int,
        steps: Sequence[int],
        made: int | None,
        is_result: bool,
    ) -> BodyValue:
        """Returns what is known of a value.

        Args:
            name: Of the value.
            value: Of the body.
            owner: Whose bytes it has.
            number: Of the owner.
            steps: That read these bytes, in order.
            made: The step that makes them; None for an operand.
            is_result: Whether they leave the kernel.
        """
        roles = [self.roles[step] for step in steps]
        used_by_product = Role.CONTRACT in roles
        by_product = made is not None and self.roles[made] is Role.CONTRACT
        tier = "l1" if used_by_product else "l0c" if by_product else "ub"
        type_ = tensor_of(value)
        size = prod(type_.get_shape())
        storage_width = width = dtype_of(type_.element_type).storage_bytes
        if tier == "l0c" or (tier == "ub" and is_float(type_.element_type)):
            width = max(width, SUM_BYTES)
        first = made if made is not None else steps[0] if steps else 0
        is_table = made is None and bool(roles) and roles.count(Role.MOVE) == len(roles)
        in_hbm = value is owner if made is None else value in self.results
        return BodyValue(
            name,
            owner,
            number,
            tier,
            width,
            storage_width,
            (first, len(self.ops) - 1 if is_result else steps[-1] if steps else first),
            is_operand=made is None,
            is_result=is_result,
            is_table=is_table,
            in_blocks=is_table or used_by_product,
            reads=steps,
            is_empty=not size,
            hbm_bytes=size * storage_width if in_hbm else 0,
        )
