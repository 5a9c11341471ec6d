"""What a plan keeps of its ops follows them when they change."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import f32

from ge_dialect.ge.types import tensor_type
from ge_dialect.ge_exec import BufferOp, LaunchOp, OutputOp, PlanOp, StreamOp
from ge_dialect.ge_exec.memory import buffer_type

TYPE = buffer_type(tensor_type(f32, (4,)))


def plan_of_two() -> tuple[PlanOp, BufferOp, BufferOp, LaunchOp]:
    """A plan whose one task reads one buffer and writes the other."""
    one, other = BufferOp(TYPE), BufferOp(TYPE)
    launch = LaunchOp(0, "Relu_0", [one.result], [other.result])
    ops = [one, other, StreamOp(0, [launch]), OutputOp("y", other.result)]
    return PlanOp("main", ops), one, other, launch


def test_accesses_follow_the_operands() -> None:
    _, one, other, launch = plan_of_two()
    assert launch.accesses() == ((one.result,), (other.result,))
    launch.operands[0] = other.result
    assert launch.accesses() == ((other.result,), (other.result,))
    launch.operands = [other.result, one.result]
    assert launch.accesses() == ((other.result,), (one.result,))


def test_ops_of_an_unchanged_plan_are_the_same() -> None:
    plan, one, other, _ = plan_of_two()
    before = plan.buffers, plan.streams, plan.outputs, plan.weights
    with plan.unchanged():
        assert (plan.buffers, plan.streams, plan.outputs, plan.weights) == before
        assert list(plan.buffers) == [one, other]


def test_a_plan_that_may_change_again_is_looked_at_again() -> None:
    plan, *_ = plan_of_two()
    with pytest.raises(KeyError), plan.unchanged():
        raise KeyError
    plan.body.block.insert_op_before(more := BufferOp(TYPE), plan.buffers[0])
    assert plan.buffers[0] is more
