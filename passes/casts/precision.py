"""In what precision a graph of f32 computes: GE's modes, by the names of `precision_mode_v2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from xdsl.dialects.builtin import BFloat16Type, ModuleOp, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ge_dialect import remarks
from ge_dialect.ge.activations import (
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    ReluOp,
    SigmoidOp,
    SiluOp,
    TanhOp,
)
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import Engine, GEOp, set_type
from ge_dialect.ge.binary import AddOp, MaximumOp, MinimumOp, MulOp, SubOp
from ge_dialect.ge.constants import ConstantOp, constant_array, constant_attr
from ge_dialect.ge.contractions import GemmOp
from ge_dialect.ge.convolution import ConvOp, ConvTransposeOp
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.elementwise import CastOp, ClipOp, SelectOp
from ge_dialect.ge.movement import MovementOp
from ge_dialect.ge.quantization import DynamicQuantizeLinearOp, ScaledOp
from ge_dialect.ge.requantization import RequantizeOp
from ge_dialect.ge.structure import FusionOp, HostCallOp
from ge_dialect.ge.types import element_type_of, is_tensor, tensor_type, value_shape
from ge_dialect.ge.unary import AbsOp, NegOp
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.casts.moves import NAME
from ge_dialect.remarks import ReasonClass


class PrecisionMode(StrEnum):
    """What is computed in which type."""

    ORIGIN = "origin"
    """Everything in the type that the model says."""
    FP16 = "fp16"
    """Everything that is of f32 in f16."""
    MIXED_FLOAT16 = "mixed_float16"
    """Products of matrices and convolutions in f16, and simple ops between them."""
    MIXED_BFLOAT16 = "mixed_bfloat16"
    """The same in bf16."""
    CUBE_FP16IN_FP32OUT = "cube_fp16in_fp32out"
    """Operands of products and convolutions rounded to f16, sums and results of f32."""


_NARROW: dict[PrecisionMode, Attribute] = {
    PrecisionMode.FP16: f16,
    PrecisionMode.MIXED_FLOAT16: f16,
    PrecisionMode.MIXED_BFLOAT16: BFloat16Type(),
    PrecisionMode.CUBE_FP16IN_FP32OUT: f16,
}
_FOLLOWERS = (
    *(AddOp, SubOp, MulOp, MaximumOp, MinimumOp, NegOp, AbsOp, ClipOp, SelectOp),
    *(ReluOp, LeakyReluOp, SigmoidOp, TanhOp, GeluOp, SiluOp, HardSwishOp, HardSigmoidOp),
    MovementOp,
)
"""Ops that the mixed modes compute in the type of what they read: neither sums nor powers."""


_FIXED = (ConstantOp, CastOp, HostCallOp, ScaledOp, DynamicQuantizeLinearOp, RequantizeOp)
"""Ops whose types are what they are for."""


def lower_precision(module: ModuleOp, mode: PrecisionMode) -> None:
    """Makes ops of f32 compute in a narrower type, with casts around them.

    Inputs, results and constants of the graph keep their types. An op stays as it is where it knows
    no narrower type, or where a constant that it reads does not fit one.
    """
    if mode is PrecisionMode.ORIGIN:
        return
    for function in module.body.block.ops:
        if isinstance(function, FuncOp):
            for op in list(_ops(function)):
                _lower(op, mode)


def _ops(parent: Operation) -> Iterator[GEOp]:
    """Yields ops of `ge` in order, those of fused kernels left out."""
    for region in parent.regions:
        for block in region.blocks:
            for op in block.ops:
                if isinstance(op, FusionOp):
                    continue
                yield from _ops(op)
                if isinstance(op, GEOp) and not op.regions:
                    yield op


def _lower(op: GEOp, mode: PrecisionMode) -> None:
    narrow = _NARROW[mode]
    if not _is_chosen(op, mode, narrow):
        return
    if (reason := _unfit_constant(op, narrow)) is not None:
        remarks.missed(NAME, str(mode), op, reason, reason=ReasonClass.CONST)
        return
    if not rewrites.permit(NAME, str(mode), op):
        return
    if mode is PrecisionMode.CUBE_FP16IN_FP32OUT:
        _round_operands(op, narrow)
    elif not _narrow(op, narrow):
        text = f"the op does not compute in {narrow}"
        remarks.missed(NAME, str(mode), op, text, reason=ReasonClass.DTYPE)
        return
    statistics.count(NAME, str(mode))


def _is_chosen(op: GEOp, mode: PrecisionMode, narrow: Attribute) -> bool:
    """Whether a mode wants an op in the narrow type."""
    if isinstance(op, _FIXED) or op.has_trait(IsTerminator):
        return False
    if not any(_is_f32(operand) for operand in op.operands):
        return False
    if mode is PrecisionMode.FP16 or op.ENGINE is Engine.CUBE:
        return True
    follows = mode in (PrecisionMode.MIXED_FLOAT16, PrecisionMode.MIXED_BFLOAT16)
    if not follows or not isinstance(op, _FOLLOWERS):
        return False
    wide = [operand for operand in op.operands if _is_f32(operand)]
    casts = [operand for operand in wide if _is_cast_from(operand, narrow)]
    return bool(casts) and all(
        operand in casts or constant_attr(operand) is not None for operand in wide
    )


def _is_f32(value: SSAValue) -> bool:
    return is_tensor(value.type) and element_type_of(value) == f32


def _is_cast_from(value: SSAValue, narrow: Attribute) -> bool:
    return isinstance(value.owner, CastOp) and element_type_of(value.owner.input) == narrow


def _unfit_constant(op: GEOp, narrow: Attribute) -> str | None:
    """Says which constant operand would become infinite, or None."""
    import numpy as np

    for operand in op.operands:
        array = constant_array(operand) if _is_f32(operand) else None
        if array is None or not array.size:
            continue
        with np.errstate(over="ignore"):
            rounded = array.astype(to_numpy(narrow)).astype(np.float32)
        lost = np.isinf(rounded) & np.isfinite(array)
        if lost.any():
            return f"{float(array[lost].reshape(-1)[0]):g} is no finite {narrow}"
    return None


def _cast(value: SSAValue, element_type: Attribute, before: Operation) -> SSAValue:
    """Returns a value in another type, cast in front of an op."""
    cast, block = CastOp(value, element_type), before.parent
    assert block is not None
    cast.location = before.location
    block.insert_op_before(cast, before)
    return cast.result


def _narrowed(value: SSAValue, narrow: Attribute, before: Operation) -> SSAValue:
    """Returns a value of f32 in the narrow type; one that was cast from there is not cast back."""
    if isinstance(cast := value.owner, CastOp) and _is_cast_from(value, narrow):
        return cast.input
    return _cast(value, narrow, before)


def _narrow(op: GEOp, narrow: Attribute) -> bool:
    """Replaces an op by one of the narrow type between casts; returns whether it knows that."""
    block = op.parent
    assert block is not None
    new = op.clone()
    new.operands = [
        _narrowed(operand, narrow, op) if _is_f32(operand) else operand for operand in op.operands
    ]
    for result in new.results:
        if _is_f32(result):
            set_type(result, tensor_type(narrow, value_shape(result)))
    if not _is_valid(new, op):
        new.erase()
        return False
    block.insert_op_before(new, op)
    remarks.passed(NAME, "LowerPrecision", op, f"computes in {narrow}")
    for old, result in zip(op.results, new.results, strict=True):
        value: SSAValue = result
        if result.type != old.type and element_type_of(result) == narrow:
            value = _cast(result, f32, op)
            set_type(value, old.type)
        old.replace_all_uses_with(value)
    op.detach()
    op.erase()
    return True


def _is_valid(new: GEOp, old: GEOp) -> bool:
    """Whether an op verifies and gives results of the shapes that the old one gives."""
    try:
        new.refine_types()
        new.verify()
    except VerifyException:
        return False
    pairs = zip(new.results, old.results, strict=True)
    return all(value_shape(mine) == value_shape(theirs) for mine, theirs in pairs)


def _factors(op: GEOp) -> Sequence[int]:
    """Returns the places of the operands that are multiplied, not added."""
    if isinstance(op, FlashAttentionOp):
        return (0, 1, 2)
    matrices = isinstance(op, GemmOp | ConvOp | ConvTransposeOp)
    return (0, 1) if matrices else range(len(op.operands))


def _round_operands(op: GEOp, narrow: Attribute) -> None:
    """Makes an op of f32 read what its operands are in the narrow type."""
    remarks.passed(NAME, "LowerPrecision", op, f"multiplies {narrow}, sums {f32}")
    for place in _factors(op):
        if _is_f32(operand := op.operands[place]) and not _is_cast_from(operand, narrow):
            op.operands[place] = _cast(_cast(operand, narrow, op), f32, op)
