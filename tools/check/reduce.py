"""Makes a module that shows a fault small: fewer functions, outputs and ops, same fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.ge.constants import ConstantOp
from ge_dialect.passes.driver import is_dead

ATTEMPTS = 200
"""Candidates that are tried at most; each one is a run of the pass and of both modules."""


@dataclass
class Reducer:
    """Tries smaller modules as long as the fault stays (delta debugging).

    Attributes:
        module: The smallest module so far.
        fails: Whether a module still shows the fault; it may change what it is given.
        function: The function that shows it.
        attempts: Candidates that may still be tried.
    """

    module: ModuleOp
    fails: Callable[[ModuleOp], bool]
    function: str
    attempts: int = ATTEMPTS

    def run(self) -> ModuleOp:
        """Returns the smallest module that was found."""
        self._try(self._keep_one_function)
        while self.attempts > 0 and any((self._one_output(), self._end_earlier(), self._cut())):
            pass
        return self.module

    def _try(self, edit: Callable[[ModuleOp], None]) -> bool:
        """Keeps an edit where the module stays valid and the fault stays; returns whether."""
        if self.attempts <= 0:
            return False
        self.attempts -= 1
        candidate = self.module.clone()
        with suppress(Exception):  # what an edit breaks is no candidate
            edit(candidate)
            _clean(function_of(candidate, self.function))
            candidate.verify()
            if self.fails(candidate.clone()):
                self.module = candidate
                return True
        return False

    def _keep_one_function(self, module: ModuleOp) -> None:
        for op in list(module.body.block.ops):
            if isinstance(op, FuncOp) and op.sym_name.data != self.function:
                op.detach()
                op.erase()

    def _one_output(self) -> bool:
        count = len(_return_of(function_of(self.module, self.function)).operands)
        return count > 1 and any(self._try(self._returning(index)) for index in range(count))

    def _returning(self, index: int) -> Callable[[ModuleOp], None]:
        def edit(module: ModuleOp) -> None:
            function = function_of(module, self.function)
            _return(function, [_return_of(function).operands[index]])

        return edit

    def _end_earlier(self) -> bool:
        """Bisects for the first op whose results are wrong by themselves."""
        low, high = -1, len(_ops(function_of(self.module, self.function))) - 1
        shorter = False
        while high - low > 1:
            middle = (low + high) // 2
            if self._try(lambda module, at=middle: self._return_results(module, at)):
                shorter = True
                low, high = -1, len(_ops(function_of(self.module, self.function))) - 1
            else:
                low = middle
        return shorter

    def _return_results(self, module: ModuleOp, index: int) -> None:
        function = function_of(module, self.function)
        op = _ops(function)[index]
        if isinstance(op, ConstantOp):
            raise ValueError("a constant alone shows no fault")
        _return(function, op.results)

    def _cut(self) -> bool:
        """Replaces the results of ops by arguments: halves first, at last single ops."""
        smaller = False
        size = max(len(_ops(function_of(self.module, self.function))) // 2, 1)
        while size:
            start = 0
            while start < len(_ops(function_of(self.module, self.function))):
                if self._try(lambda module, at=start, n=size: self._cut_ops(module, at, n)):
                    smaller = True
                else:
                    start += size
            size //= 2
        return smaller

    def _cut_ops(self, module: ModuleOp, start: int, count: int) -> None:
        function = function_of(module, self.function)
        chosen = [op for op in _ops(function)[start : start + count] if not _stays(op)]
        if not chosen:
            raise ValueError("nothing to cut")
        block = function.body.block
        for op in chosen:
            for result in op.results:
                if any(use.operation not in chosen for use in result.uses):
                    result.replace_all_uses_with(_argument(block, result))
        for op in reversed(chosen):
            op.detach()
            op.erase()


def function_of(module: ModuleOp, name: str) -> FuncOp:
    """Returns a function of a module by name."""
    return next(
        op
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and op.sym_name.data == name and not op.is_declaration
    )


def _stays(op: Operation) -> bool:
    """Whether an op is never replaced by an argument: a constant says more than an argument."""
    return isinstance(op, ConstantOp)


def _argument(block: Block, like: SSAValue) -> SSAValue:
    argument = block.insert_arg(like.type, len(block.args))
    argument.name_hint = like.name_hint
    return argument


def _ops(function: FuncOp) -> list[Operation]:
    """All ops of a function, its return left out."""
    return list(function.body.block.ops)[:-1]


def _return_of(function: FuncOp) -> ReturnOp:
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    return last


def _return(function: FuncOp, values: Sequence[SSAValue]) -> None:
    old = _return_of(function)
    function.body.block.insert_op_before(ReturnOp(*values), old)
    old.detach()
    old.erase()


def _clean(function: FuncOp) -> None:
    """Drops dead ops and unused arguments; the signature follows."""
    for op in reversed(_ops(function)):
        if is_dead(op):
            op.detach()
            op.erase()
    block = function.body.block
    for argument in reversed(block.args):
        if argument.first_use is None:
            block.erase_arg(argument)
    for name in ("arg_attrs", "res_attrs"):
        function.properties.pop(name, None)
    types = [value.type for value in _return_of(function).operands]
    function.function_type = FunctionType.from_lists([a.type for a in block.args], types)
