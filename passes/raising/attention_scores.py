"""The way from softmax down to the product of queries and keys, in every spelling.

Scale, soft cap, masks, casts and reshapes lie on it, in any order that one attention op can keep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.ge.activations import TanhOp
from ge_dialect.ge.binary import AddOp, DivOp, MaximumOp, MulOp, SubOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.dtypes import is_float, to_numpy
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp
from ge_dialect.ge.types import Shape, element_type_of, show_shape, value_shape
from ge_dialect.passes.canonicalization.cast import keeps_every_value
from ge_dialect.passes.canonicalization.operands import uniform_value
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.bounds import lowest
from ge_dialect.passes.raising.match import scaled
from ge_dialect.passes.values import commuted
from ge_dialect.remarks import ReasonClass

MOST_STEPS = 64
ABSORBING = -1e30
"""A score plus a number below this is that number in f32, for any score that occurs."""


class MaskKind(StrEnum):
    """What a mask does to scores."""

    ADD = "add"
    KEEP = "keep"
    DROP = "drop"


@dataclass(frozen=True)
class Mask:
    """One mask on the way.

    Attributes:
        kind: Added to the scores, or truth values of the keys that are kept or dropped.
        value: A float tensor, or one of `i1`.
        lead: The dimensions of the scores where it applies, but the last two.
        fill: What dropped scores become.
        absorbs: Whether that is less than any score that occurs, so that it may as well be added.
        factor: What a float tensor is multiplied by before it is added.
        factor_type: The element type in which it is, None where the factor is 1.
    """

    kind: MaskKind
    value: SSAValue
    lead: Shape
    fill: float = -inf
    absorbs: bool = True
    factor: float = 1.0
    factor_type: Attribute | None = None

    def lowest(self) -> float:
        """Returns the lowest number that is added, as far as it is known."""
        if self.kind is not MaskKind.ADD:
            return self.fill
        return lowest(self.value) * self.factor if self.factor > 0 else -inf


@dataclass(frozen=True)
class HeadScale:
    """A factor of all scores of a head, or a divisor.

    Attributes:
        value: A float tensor whose last two dimensions are 1, or absent.
        divides: Whether it is a divisor.
        lead: The dimensions of the scores where it applies, but the last two.
    """

    value: SSAValue
    divides: bool
    lead: Shape


@dataclass
class Scores:
    """Scores of queries and keys, ready for softmax.

    Attributes:
        product: Queries times transposed keys.
        scale: What the product is multiplied by.
        head_scales: Factors that differ between heads, or are known in the run only.
        softcap: The bound of the soft cap, or None.
        masks: In the order in which they apply.
        shapes: Of the scores, wherever a reshape gave them another one.
        ops: All ops passed, the first one first.
        floored: Whether a floor under them was passed, which no finite score is below.
    """

    product: MatmulOp
    scale: float = 1.0
    head_scales: list[HeadScale] = field(default_factory=list[HeadScale])
    softcap: float | None = None
    floored: bool = False
    masks: list[Mask] = field(default_factory=list[Mask])
    shapes: list[Shape] = field(default_factory=list[Shape])
    ops: list[Operation] = field(default_factory=list[Operation])


def find_scores(value: SSAValue) -> Scores | None:
    """Returns how `value` comes from a product of queries and keys, or None where it does not.

    Raises:
        NearMissError: It does, but in a way that the attention op can not say.
    """
    return _Walk().scores(value)


class _Walk:
    """One search; bounded, since a sum may have to be tried on both sides."""

    def __init__(self) -> None:
        self.steps = 0

    def scores(self, value: SSAValue) -> Scores | None:
        self.steps += 1
        op = value.owner
        if self.steps > MOST_STEPS or not isinstance(op, Operation):
            return None
        if isinstance(op, MatmulOp):
            shape = value_shape(value)
            return Scores(op, shapes=[shape], ops=[op]) if len(shape) >= 2 else None
        if (step := _STEPS.get(type(op))) is None or (found := step(self, op)) is None:
            return None
        found.ops.append(op)
        return found


def _factor(walk: _Walk, op: Operation) -> Scores | None:
    if (part := scaled(op.results[0])) is None:
        return _head_scale(walk, op)
    if (found := walk.scores(part[0])) is None:
        return None
    found.masks = [_scaled_mask(mask, part[1], op.results[0]) for mask in found.masks]
    found.scale *= part[1]
    if found.softcap is not None:
        # c * tanh(s) is a cap of c on the scores c * s.
        found.softcap *= part[1]
        if found.softcap <= 0:
            raise NearMissError(ReasonClass.CONST, "the soft cap is not positive", part[1], "> 0")
    return found


def _scaled_mask(mask: Mask, factor: float, scores: SSAValue) -> Mask:
    """Returns the mask of scores that were multiplied after it: `(s + m) * c = s * c + m * c`.

    Raises:
        NearMissError: The mask alone may overflow, or what it drops would not stay dropped.
    """
    element = element_type_of(scores)
    if mask.kind is MaskKind.ADD:
        if abs(factor) > 1 and _is_narrow(element):
            text = "the scores are scaled after the mask, which may overflow alone"
            raise NearMissError(ReasonClass.DTYPE, text, str(element), "f32 or f64")
        return replace(mask, factor=mask.factor * factor, factor_type=element)
    if factor <= 0:
        text = "masked scores are scaled to what is not minus infinity"
        raise NearMissError(ReasonClass.CONST, text, float(factor), "> 0")
    fill = _rounded(mask.fill * factor, element)
    return replace(mask, fill=fill, absorbs=_absorbs(fill, element))


def _absorbs(fill: float, element: Attribute) -> bool:
    return fill == -inf or (not _is_narrow(element) and fill <= ABSORBING)


def _is_narrow(element: Attribute) -> bool:
    return element not in (f32, f64)


def _rounded(number: float, element: Attribute) -> float:
    """Returns a number as one of a type: beyond its greatest ones are infinities."""
    import numpy as np

    with np.errstate(over="ignore"):
        return float(np.asarray(number).astype(to_numpy(element)))


def _head_scale(walk: _Walk, op: Operation) -> Scores | None:
    """Scores times one number a head: queries times that, since a head is a product of its own."""
    assert isinstance(op, MulOp | DivOp)
    divides = isinstance(op, DivOp)
    for scores, other in commuted(op)[: 1 if divides else 2]:
        shape = value_shape(other)
        if any(dim != 1 for dim in shape[-2:]) or (found := walk.scores(scores)) is None:
            continue
        if found.masks or found.softcap is not None:
            text = "the scores are scaled after a mask or a soft cap"
            raise NearMissError(ReasonClass.ATTR, text, "scale after it", "scale before it")
        wanted, mine = element_type_of(found.product.lhs), element_type_of(other)
        if wanted != mine:
            text = "queries and the scale of heads are not of one type"
            raise NearMissError(ReasonClass.DTYPE, text, str(mine), str(wanted))
        lead = _expect_same_shape(scores, op.result)
        found.head_scales.append(HeadScale(other, divides, lead))
        return found
    return None


def _tanh(walk: _Walk, op: Operation) -> Scores | None:
    assert isinstance(op, TanhOp)
    if (found := walk.scores(op.input)) is None:
        return None
    if found.masks or found.softcap is not None:
        text = "a soft cap after a mask or another cap"
        raise NearMissError(ReasonClass.ATTR, text, "cap after mask", "cap before mask")
    found.softcap = 1.0
    return found


def _add(walk: _Walk, op: Operation) -> Scores | None:
    assert isinstance(op, AddOp)
    for scores, mask in commuted(op):
        if (found := walk.scores(scores)) is None:
            continue
        lead = _expect_same_shape(scores, op.result)
        found.masks.append(Mask(MaskKind.ADD, mask, lead))
        return found
    return None


def _subtract(walk: _Walk, op: Operation) -> Scores | None:
    """Scores less a number: that number, negated, is added."""
    assert isinstance(op, SubOp)
    if (found := walk.scores(op.lhs)) is None:
        return None
    lead = _expect_same_shape(op.lhs, op.result)
    element = element_type_of(op.result)
    found.masks.append(Mask(MaskKind.ADD, op.rhs, lead, factor=-1.0, factor_type=element))
    return found


def _select(walk: _Walk, op: Operation) -> Scores | None:
    assert isinstance(op, SelectOp)
    keep = (MaskKind.KEEP, op.on_true, op.on_false), (MaskKind.DROP, op.on_false, op.on_true)
    for kind, scores, other in keep:
        fill = uniform_value(_narrow(other))
        if fill is None or (found := walk.scores(scores)) is None:
            continue
        lead = _expect_same_shape(scores, op.result)
        absorbs = _absorbs(float(fill), element_type_of(op.result))
        found.masks.append(Mask(kind, op.condition, lead, float(fill), absorbs))
        return found
    return None


def _floor(walk: _Walk, op: Operation) -> Scores | None:
    """A floor as low as what masks add: it is there for sums that overflow to minus infinity."""
    assert isinstance(op, MaximumOp)
    for scores, other in commuted(op):
        floor = uniform_value(_narrow(other))
        if floor is None or (found := walk.scores(scores)) is None:
            continue
        narrow = _is_narrow(element_type_of(op.result))
        if value_shape(scores) != value_shape(op.result) or narrow or floor > ABSORBING:
            text = "scores have a floor that may be reached"
            raise NearMissError(ReasonClass.CONST, text, float(floor), f"{ABSORBING} or less, f32")
        low = sum(mask.lowest() for mask in found.masks)
        if low < floor:
            text = "masks may take scores below their floor"
            raise NearMissError(ReasonClass.CONST, text, low, f"{floor} or more")
        found.floored = True
        return found
    return None


def _cast(walk: _Walk, op: Operation) -> Scores | None:
    assert isinstance(op, CastOp)
    if (found := walk.scores(op.input)) is None:
        return None
    source, target = element_type_of(op.input), element_type_of(op.result)
    if not is_float(target) or not keeps_every_value(source, target):
        text = "the scores are rounded to a narrower type"
        raise NearMissError(ReasonClass.DTYPE, text, str(target), f"{source} or wider")
    return found


def _reshape(walk: _Walk, op: Operation) -> Scores | None:
    assert isinstance(op, ReshapeOp)
    shape = value_shape(op.result)
    if shape[-2:] != value_shape(op.input)[-2:] or None in shape[-2:]:
        return None
    if (found := walk.scores(op.input)) is None:
        return None
    found.shapes.append(shape)
    return found


_STEPS: dict[type[Operation], Callable[[_Walk, Operation], Scores | None]] = {
    MulOp: _factor,
    DivOp: _factor,
    TanhOp: _tanh,
    AddOp: _add,
    SubOp: _subtract,
    SelectOp: _select,
    MaximumOp: _floor,
    CastOp: _cast,
    ReshapeOp: _reshape,
}


def _narrow(value: SSAValue) -> SSAValue:
    """Returns what `value` repeats."""
    return value.owner.input if isinstance(value.owner, BroadcastToOp) else value


def _expect_same_shape(scores: SSAValue, masked: SSAValue) -> Shape:
    """Returns the leading dimensions of scores that a mask leaves in their shape.

    Raises:
        NearMissError: The mask makes them larger, or may do so.
    """
    before, after = value_shape(scores), value_shape(masked)
    if before == after:
        return after[:-2]
    shown = show_shape(after), show_shape(before)
    pairs = zip(before, after, strict=False)
    numbers = [pair for pair in pairs if all(isinstance(dim, int) for dim in pair)]
    if len(before) != len(after) or any(mine != theirs for mine, theirs in numbers):
        text = "the mask has more elements than the scores"
        raise NearMissError(ReasonClass.SHAPE, text, *shown)
    text = "the mask is not proved to have at most the elements of the scores"
    raise NearMissError(ReasonClass.SYMBOL, text, *shown)
