"""Symbols of a plan, and what has to hold of them.

A plan with symbols runs at every size within their ranges. The host reads those of inputs off them,
checks them, checks the guards, and only then lets the streams begin. Those of other values become
known when a task has written the value; the guards about them are checked then.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.attributes import GuardAttr, SymbolAttr
from ge_dialect.ge.base import FormattedOp, I64Attr, int_attr
from ge_dialect.ge.types import is_tensor, shape_of
from ge_dialect.ge_exec.memory import InputOp
from ge_dialect.ge_exec.storage import AnyStorage, BoundedType, ObjectType
from ge_dialect.symbols import Dim, Guard, SymbolRange, symbols_of


@irdl_op_definition
class SymbolOp(FormattedOp):
    """Declares a symbol of the plan: a dimension of a value says what it is, within a range.

    `input` is an input, or what a task writes whose size depends on data.

    Constraints:
    - (C1) `input` is a tensor with a dimension `dim` that mentions the symbol.

    Example:
    ```mlir
    ge_exec.symbol "S" of %ids dim 1 <1, 4096, 1, "dim 1 of input 'ids'">
      : !ge_exec.bounded<tensor<1x?xi64, #ge.dims<"S">>, 32768 : i64>
    ```
    """

    name = "ge_exec.symbol"

    symbol = prop_def(StringAttr)
    input = operand_def(AnyStorage)
    dim = prop_def(I64Attr)
    range = prop_def(SymbolAttr)

    assembly_format = "$symbol `of` $input `dim` $dim $range attr-dict `:` type($input)"

    def __init__(self, symbol: str, input: SSAValue, dim: int, range: SymbolRange):
        super().__init__(
            operands=[input],
            properties={
                "symbol": StringAttr(symbol),
                "dim": int_attr(dim),
                "range": SymbolAttr(range),
            },
        )

    @property
    def is_early(self) -> bool:
        """Whether an input says it, so that it is known before the first task."""
        return isinstance(self.input.owner, InputOp)

    @property
    def known(self) -> SymbolRange:
        """What is known of the symbol."""
        return self.range.data

    @property
    def expression(self) -> Dim:
        """What the dimension of the input is, in terms of the symbol.

        Raises:
            VerifyException: There is no such dimension, or nothing is known of it.
        """
        type_ = self.input.type
        value = type_.value if isinstance(type_, BoundedType | ObjectType) else type_
        shape = shape_of(value) if is_tensor(value) else ()
        index = self.dim.value.data
        if not 0 <= index < len(shape) or (found := shape[index]) is None:
            raise VerifyException(f"expected an input with a dimension {index}, got {type_}")
        return found

    def verify_(self) -> None:
        if self.symbol.data not in symbols_of(self.expression):  # (C1)
            raise VerifyException(
                f"expected a dimension of '{self.symbol.data}', got {self.expression}"
            )


@irdl_op_definition
class GuardOp(FormattedOp):
    """Fails the run where two expressions over symbols are not as its condition asks.

    Example:
    ```mlir
    ge_exec.guard <"total", equal, "past + 1", "Add at 'scores'">
    ```
    """

    name = "ge_exec.guard"

    condition = prop_def(GuardAttr)

    assembly_format = "$condition attr-dict"

    def __init__(self, condition: Guard):
        super().__init__(properties={"condition": GuardAttr(condition)})

    @property
    def guard(self) -> Guard:
        """What has to hold."""
        return self.condition.data
