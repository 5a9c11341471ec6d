"""Sites of composites that are still spelled out, found by what only a spelling has.

Written without the matchers of `ge-raise`, which it is there to check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.activations import HardSigmoidOp, SigmoidOp, SoftplusOp, TanhOp
from ge_dialect.ge.binary import AddOp, DivOp, MulOp, PowOp, SubOp
from ge_dialect.ge.channel_normalization import InstanceNormOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.contractions import EinsumOp, MatmulOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.elementwise import CastOp, ClipOp, SelectOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.reductions import (
    LogSoftmaxOp,
    ReduceLogSumExpOp,
    ReduceMeanOp,
    ReduceSumOp,
    SoftmaxOp,
)
from ge_dialect.ge.structure import FusionOp, YieldOp
from ge_dialect.ge.unary import ErfOp, ExpOp, IsNanOp, NegOp, ReciprocalOp, RsqrtOp, SqrtOp

_PASSING = (CastOp, ReshapeOp, SelectOp, DropoutOp)


def unraised_sites(module: ModuleOp) -> Iterator[str]:
    """Yields the composite of each site, in order; those inside kernels count as well."""
    for op in module.walk():
        test = _TESTS.get(type(op))
        if test is not None and (name := test(op)) is not None:
            yield name


def _users(value: SSAValue) -> list[Operation]:
    return [use.operation for use in value.uses]


def _readers(value: SSAValue) -> Iterator[tuple[Operation, SSAValue]]:
    """Yields the ops that read a value and as what, in the kernel where they are."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, FusionOp):
            yield from _readers(user.body.block.args[use.index])
        elif isinstance(user, YieldOp) and isinstance(kernel := user.parent_op(), FusionOp):
            yield from _readers(kernel.results[use.index])
        else:
            yield user, value


def _attention(op: Operation) -> str | None:
    """Weights that products take on their left, or sums over letters, and nobody else reads."""
    waiting, found = [op.results[0]], False
    for value in waiting:
        for user, read in _readers(value):
            if isinstance(user, _PASSING) and len(waiting) < 16:
                waiting.append(user.results[0])
            elif isinstance(user, EinsumOp) or (isinstance(user, MatmulOp) and user.lhs is read):
                found = True
            elif not isinstance(user, IsNanOp):
                return None
    return "flash_attention" if found else None


def _norm(op: Operation) -> str | None:
    """The root of a mean of squares, with or without a constant, by which those are divided."""
    if isinstance(op, PowOp) and constant_scalar(op.rhs) not in (0.5, -0.5):
        return None
    add = op.operands[0].owner
    for mean in add.operands if isinstance(add, AddOp) else op.operands[:1]:
        if not isinstance(mean.owner, ReduceMeanOp):
            continue
        square = mean.owner.input.owner
        if isinstance(square, MulOp) and square.lhs is square.rhs and _scales(op, square.lhs):
            return "layer_norm" if isinstance(square.lhs.owner, SubOp) else "rms_norm"
    return None


def _scales(root: Operation, value: SSAValue) -> bool:
    """Whether a root, or its reciprocal, meets a value in a product or quotient."""
    users = _users(root.results[0])
    users += [
        far for user in users if isinstance(user, ReciprocalOp) for far in _users(user.result)
    ]
    return any(isinstance(user, MulOp | DivOp) and value in user.operands for user in users)


def _group_norm(op: Operation) -> str | None:
    return "group_norm" if isinstance(op.operands[0].owner, ReshapeOp) else None


def _gelu(op: Operation) -> str | None:
    return "gelu"


def _tanh(op: Operation) -> str | None:
    """The tangent of softplus is Mish, one plus a tangent and times something is GELU."""
    if isinstance(op.operands[0].owner, SoftplusOp):
        return "mish"
    sums = [user for user in _users(op.results[0]) if isinstance(user, AddOp)]
    ones = [add for add in sums if 1 in (constant_scalar(add.lhs), constant_scalar(add.rhs))]
    return "gelu" if ones else None


def _gate(op: Operation) -> str | None:
    """A gate times its own argument."""
    argument = op.operands[0]
    owner = argument.owner
    scaled = isinstance(owner, MulOp) and constant_scalar(owner.rhs) is not None
    source = owner.operands[0] if scaled and isinstance(owner, MulOp) else argument
    for user in _users(op.results[0]):
        if isinstance(user, MulOp) and source in (user.lhs, user.rhs):
            hard = isinstance(op, HardSigmoidOp)
            return "hard_swish" if hard else "quick_gelu" if scaled else "silu"
    return None


def _clip(op: Operation) -> str | None:
    assert isinstance(op, ClipOp)
    bounds = [None if one is None else constant_scalar(one) for one in (op.min, op.max)]
    shifted = isinstance(op.input.owner, AddOp)
    return "hard_sigmoid" if shifted and bounds in ([0, 6], [0, 1]) else None


def _rotary(op: Operation) -> str | None:
    """Halves of features that change places, one of them negated."""
    assert isinstance(op, ConcatOp)
    turned = len(op.inputs) == 2 and isinstance(op.inputs[0].owner, NegOp)
    multiplied = any(isinstance(user, MulOp) for user in _users(op.result))
    return "rotary_embedding" if turned and multiplied else None


def _softmax(op: Operation) -> str | None:
    assert isinstance(op, DivOp)
    total = op.rhs.owner
    if not isinstance(op.lhs.owner, ExpOp) or not isinstance(total, ReduceSumOp):
        return None
    return "softmax" if total.input is op.lhs else None


def _exponential(op: Operation) -> str | None:
    """The exponential of a logarithm of softmax."""
    inner = op.operands[0].owner
    logarithm = isinstance(inner, SubOp) and isinstance(inner.rhs.owner, ReduceLogSumExpOp)
    return "softmax" if logarithm or isinstance(inner, LogSoftmaxOp) else None


def _softplus(op: Operation) -> str | None:
    return "softplus" if any(isinstance(x.owner, SoftplusOp) for x in op.operands[1:]) else None


_TESTS: dict[type[Operation], Callable[[Operation], str | None]] = {
    SoftmaxOp: _attention,
    SqrtOp: _norm,
    RsqrtOp: _norm,
    PowOp: _norm,
    InstanceNormOp: _group_norm,
    ErfOp: _gelu,
    TanhOp: _tanh,
    SigmoidOp: _gate,
    HardSigmoidOp: _gate,
    ClipOp: _clip,
    ConcatOp: _rotary,
    DivOp: _softmax,
    ExpOp: _exponential,
    SelectOp: _softplus,
}
