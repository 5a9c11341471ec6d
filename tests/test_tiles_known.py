"""Working sets that a trial of fusion leaves for the tiler are those of the kernel."""

from __future__ import annotations

import pytest
from xdsl.ir import Block, SSAValue
from xdsl.parser import Parser

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.structure import YieldOp
from ge_dialect.ge_exec import KernelOp
from ge_dialect.passes.tiles.body import KernelBody
from ge_dialect.passes.tiles.build import streaming_set, working_set
from ge_dialect.passes.tiles.known import KernelSets, sets_of, structure, tried_sets
from ge_dialect.tools.api import CompileOptions, compile
from tests.op_samples import context

EXAMPLE = "examples/bert_tiny.onnx"

PRODUCT = """
%a, %b = "test.op"() : () -> (tensor<8x8xf32>, tensor<8x8xf32>)
%y = ge.matmul %{first}, %{second} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
%z = ge.mul %y, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
"""


def body(text: str) -> Block:
    """A body of the ops of a text, whose arguments are those of its first op, in order."""
    parser = Parser(context(), text)
    source = parser.parse_operation()
    block = Block(arg_types=[result.type for result in source.results])
    mapping: dict[SSAValue, SSAValue] = dict(zip(source.results, block.args, strict=True))
    last = None
    while (op := parser.parse_optional_operation()) is not None:
        assert isinstance(op, GEOp)
        block.add_op(last := op.clone(mapping))
    assert last is not None
    block.add_op(YieldOp(*last.results))
    return block


@pytest.mark.parametrize("level", [2, 3])
def test_what_is_known_of_a_kernel_is_what_it_needs(level: int) -> None:
    plan = compile(EXAMPLE, options=CompileOptions(level=level))
    kernels = [op for op in plan.module.body.block.ops if isinstance(op, KernelOp)]
    tiled = [kernel.body.block for kernel in kernels if kernel.tiling is not None]
    assert tiled
    for block in tiled:
        known, fresh = sets_of(block), KernelBody(block)
        assert known.working == working_set(fresh)
        assert known.streaming == streaming_set(fresh)


def tried(block: Block) -> KernelSets:
    """What a trial leaves of the ops of a body."""
    *ops, last = block.ops
    found = [op for op in ops if isinstance(op, GEOp)]
    return tried_sets(structure(found, last.operands, lambda value: False), lambda: block)


def test_what_was_tried_is_not_built_again() -> None:
    text = PRODUCT.format(first="a", second="b")
    known = tried(body(text))
    assert sets_of(body(text)) is known


def test_what_was_not_tried_is_not_kept() -> None:
    """It is in a module, all of which would be kept with it."""
    text = PRODUCT.format(first="b", second="b")
    assert sets_of(body(text)) is not sets_of(body(text))


def test_operands_in_another_order_are_another_kernel() -> None:
    """Tiles name operands by their numbers."""
    one, other = (body(PRODUCT.format(first=a, second=b)) for a, b in ("ab", "ba"))
    assert sets_of(other) is not tried(one)
    assert sets_of(other).working == working_set(KernelBody(other))
