"""What canonicalization asks about constant operands."""

from __future__ import annotations

from collections.abc import Iterable
from math import copysign

from xdsl.ir import Attribute, SSAValue

from ge_dialect.ge.constants import constant_array, constant_attr
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.types import element_type_of

_MOST_ELEMENTS = 4096


def is_constant(value: SSAValue) -> bool:
    """Whether a value is the result of `ge.constant`."""
    return constant_attr(value) is not None


def uniform_value(value: SSAValue) -> float | int | bool | None:
    """Returns what every element of a constant is, or None: no such constant, or a large one."""
    if (attr := constant_attr(value)) is None:
        return None
    # Kept with the attribute, which never changes: many rules ask it of the same constant.
    type_, found = vars(attr).get("_ge_uniform", (None, None))
    if type_ is not value.type:
        found = _uniform_value(value)
        vars(attr)["_ge_uniform"] = value.type, found
    return found


def common_value(values: Iterable[SSAValue | None]) -> float | int | bool | None:
    """Returns what every element of several constants is: their one value where each is uniform and
    they are equal to the bit, else None; None is no constant. Looks at no further one than it has
    to."""
    found = (None if value is None else uniform_value(value) for value in values)
    if (first := next(found)) is None:
        return None
    return first if all(repr(other) == repr(first) for other in found) else None


def answer_uniform(attr: Attribute, type_: Attribute, value: float | bool | None) -> None:
    """Lets an attribute that stands for several constants answer what all of them would."""
    vars(attr)["_ge_uniform"] = type_, value


def _uniform_value(value: SSAValue) -> float | int | bool | None:
    array = constant_array(value, _MOST_ELEMENTS)
    if array is None or array.size == 0 or array.dtype.kind in "OSU":
        return None
    items = array.reshape(-1)
    if items.tobytes() != items[:1].tobytes() * items.size:
        return None
    if array.dtype.kind == "b":
        return bool(items[0])
    return int(items[0]) if array.dtype.kind in "iu" else float(items[0])


def is_uniform(value: SSAValue, wanted: float) -> bool:
    """Whether every element of a constant is `wanted`; zeros of different signs differ."""
    found = uniform_value(value)
    if found is None or found != wanted:
        return False
    return not is_float(element_type_of(value)) or copysign(1, found) == copysign(1, wanted)
