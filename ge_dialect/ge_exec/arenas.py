"""Arenas: stretches of memory that everything else of a plan lies in."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.attributes import Tier, TierAttr
from ge_dialect.ge.base import FormattedOp, I64Attr, int_attr


@irdl_attr_definition
class ArenaType(ParametrizedAttribute, TypeAttribute):
    """A contiguous stretch of one tier, `!ge_exec.arena`; offsets count from its start."""

    name = "ge_exec.arena"


@irdl_op_definition
class ArenaOp(FormattedOp):
    """Reserves an arena.

    `size` in bytes; `lower_bound` is what no plan of the same order can go below, in bytes.

    Constraints:
    - (C1) `size` >= 0.

    Example:
    ```mlir
    %hbm = ge_exec.arena "work" tier <hbm> size 4096 lower_bound 4096
    ```
    """

    name = "ge_exec.arena"

    arena_name = prop_def(StringAttr)
    tier = prop_def(TierAttr)
    size = prop_def(I64Attr)
    lower_bound = prop_def(I64Attr)
    result = result_def(ArenaType)

    assembly_format = "$arena_name `tier` $tier `size` $size `lower_bound` $lower_bound attr-dict"

    def __init__(self, arena_name: str, tier: Tier, size: int, lower_bound: int):
        super().__init__(
            properties={
                "arena_name": StringAttr(arena_name),
                "tier": TierAttr(tier),
                "size": int_attr(size),
                "lower_bound": int_attr(lower_bound),
            },
            result_types=[ArenaType()],
        )
        self.result.name_hint = arena_name

    def verify_(self) -> None:
        if self.size.value.data < 0:  # (C1)
            raise VerifyException(f"expected 'size' >= 0, got {self.size.value.data}")
