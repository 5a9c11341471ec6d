"""What every op of `ge` answers: one method a question, asked by verifier, passes and lowering.

Source of the questions: types (inference and verification), work and engine (cost), the kind of
iteration (fusion), results that may share an operand's bytes (planning). The values are in
`ge_dialect.interpreters`, which needs numpy; nothing here does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from math import copysign
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    UnitAttr,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import AttrConstraint, IRDLOperation, ParsePropInAttrDict, eq
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.dtypes import is_float, is_integer
from ge_dialect.ge.float_text import float_of
from ge_dialect.ge.formats import declare_format
from ge_dialect.ge.types import (
    Shape,
    compatible,
    made_of,
    num_elements,
    show_shape,
    tensor_of,
    tensor_type,
    value_shape,
)

if TYPE_CHECKING:
    from ge_dialect.printing import ExactPrinter

Operand: TypeAlias = SSAValue | Operation | Sequence[SSAValue | Operation] | None

I64Attr: AttrConstraint[IntegerAttr] = IntegerAttr.constr(type=eq(i64))
F32Attr: AttrConstraint[FloatAttr] = float_of(f32)
I1Attr: AttrConstraint[IntegerAttr] = IntegerAttr.constr(type=eq(i1))
I64ArrayAttr = DenseArrayBase.constr(eq(i64))
"""Constraints of the properties of `ge` ops: printed without their type."""


class FusionKind(StrEnum):
    """How an op walks its operands, which decides what it can be fused with."""

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    CONTRACTION = "contraction"
    MOVEMENT = "movement"
    OPAQUE = "opaque"


class Engine(StrEnum):
    """The unit of the core that runs an op."""

    CUBE = "cube"
    VECTOR = "vector"
    DMA = "dma"
    HOST = "host"


class FormattedOp(IRDLOperation):
    """An op whose assembly format is read when one is first parsed or printed.

    xDSL reads the format of every op when its class is made, a third of the time that takes; a
    compilation prints a few kinds of ops.
    """

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if (text := vars(cls).get("assembly_format")) is not None:
            declare_format(cls, text)

    def quick_text(self, printer: ExactPrinter) -> str | None:
        """Returns what the format prints, as one text; None where that does not pay.

        Args:
            printer: Knows the names of values.
        """
        return None


class GEOp(FormattedOp):
    """An op of the `ge` dialect: pure, on tensors, its result types a function of its operands.

    Not an `ABC`: `isinstance` against a class of that kind is several times slower, and passes ask
    it for every op.
    """

    GE_TYPE: ClassVar[str] = ""
    """GE's name of the op type, as in a plan, a log and a fusion switch file."""
    GE_INPUTS: ClassVar[tuple[str, ...]] = ("x",)
    """GE's port names of the operands; the last one is numbered where operands are more."""
    GE_OUTPUTS: ClassVar[tuple[str, ...]] = ("y",)
    """GE's port names of the results."""
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.OPAQUE
    ENGINE: ClassVar[Engine] = Engine.VECTOR

    def __init__(
        self,
        operands: Sequence[Operand],
        properties: Mapping[str, Attribute | None] | None = None,
        *,
        result_types: Sequence[Attribute] | None = None,
        num_results: int = 1,
        regions: Sequence[Region] = (),
    ):
        """Builds the op; where `result_types` is None they are inferred.

        Raises:
            VerifyException: The operands do not fit the op.
        """
        if self._init_plain(operands, properties, result_types):
            return
        definition = type(self).get_irdl_definition()
        placeholder: Sequence[Attribute | Sequence[Attribute]] = (
            [_PLACEHOLDER] * num_results if result_types is None else list(result_types)
        )
        if (len(definition.results) == 1 and num_results != 1) or _is_variadic(definition.results):
            placeholder = [list(placeholder)]  # pyright: ignore[reportAssignmentType]  # one variadic group
        super().__init__(
            operands=operands,
            result_types=placeholder,
            properties=properties,
            regions=list(regions),
        )
        if result_types is None:
            self.refine_types()

    def _init_plain(
        self,
        operands: Sequence[Operand],
        properties: Mapping[str, Attribute | None] | None,
        result_types: Sequence[Attribute] | None,
    ) -> bool:
        """Builds an op of plain parts; False, and nothing done, where it is for xDSL."""
        if (parts := _plain_parts(type(self))) is None:
            return False
        optional, num_results = parts
        types = [_PLACEHOLDER] * num_results if result_types is None else result_types
        if len(operands) != len(optional) or len(types) != num_results:
            return False
        found: list[SSAValue] = []
        for operand, is_optional in zip(operands, optional, strict=True):
            if isinstance(operand, SSAValue):
                found.append(operand)
            elif isinstance(operand, Operation):
                found.append(SSAValue.get(operand))
            elif operand is not None or not is_optional:
                return False
        given = {name: attr for name, attr in (properties or {}).items() if attr is not None}
        Operation.__init__(self, operands=found, result_types=types, properties=given)
        if result_types is None:
            self.refine_types()
        return True

    def refine_types(self) -> bool:
        """Sets the result types to what the operands say; returns whether one changed.

        Raises:
            VerifyException: The operands do not fit the op.
        """
        changed = False
        for result, type_ in zip(self.results, self.infer_types(), strict=True):
            if result.type != type_:
                set_type(result, type_)
                changed = True
        return changed

    @abstractmethod
    def infer_types(self) -> Sequence[Attribute]:
        """Returns the result types that follow from the operands and properties.

        Raises:
            VerifyException: The operands do not fit the op; says expected and got.
        """

    def quick_text(self, printer: ExactPrinter) -> str | None:
        from ge_dialect.ge.plain_formats import plain_text

        return plain_text(self, printer)

    def ge_op_type(self) -> str:
        """Returns GE's name of this very op; it differs from `GE_TYPE` where shapes decide."""
        return self.GE_TYPE

    def flops(self) -> int:
        """Returns the arithmetic operations of the op; 0 where a dimension is not a number."""
        return sum(num_elements(result.type) or 0 for result in self.results)

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        """Returns the (operand, result) pairs that may share bytes: each element of the result
        depends on no element of the operand but its own, and types are equal."""
        return ()

    def view_of(self) -> int | None:
        """Returns the operand whose bytes are the result's bytes, or None where data moves."""
        return None

    def verify_(self) -> None:
        for result, inferred in zip(self.results, self.infer_types(), strict=True):
            if not compatible(result.type, inferred):
                name = type(self).get_irdl_definition().results[0][0]
                raise VerifyException(f"expected '{name}' of type {inferred}, got {result.type}")


@cache
def _plain_parts(op_class: type[GEOp]) -> tuple[Sequence[bool], int] | None:
    """Returns of each operand whether it may be left out, which one at most may, and the number of
    results; None where an op has regions, or parts of any number."""
    from xdsl.irdl import OptionalDef, VariadicDef

    found = op_class.get_irdl_definition()
    optional = tuple([isinstance(part, OptionalDef) for _, part in found.operands])
    given = [part for _, part in (*found.operands, *found.results)]
    if found.regions or found.successors or found.options or sum(optional) > 1:
        return None
    if sum(isinstance(part, VariadicDef) for part in given) > sum(optional):
        return None
    return optional, len(found.results)


def _is_variadic(results: Sequence[tuple[str, object]]) -> bool:
    from xdsl.irdl import VariadicDef

    return len(results) == 1 and isinstance(results[0][1], VariadicDef)


_PLACEHOLDER = tensor_type(f32, ())


def set_type(value: SSAValue, type_: Attribute) -> None:
    """Changes the type of a value in place.

    xDSL offers only replacement of the whole op for this; inference would then rebuild every op
    of a graph. The one place where we write the field ourselves.
    """
    value._type = type_  # pyright: ignore[reportPrivateUsage]  # see above


_HALF_RANGE = 1 << 63
"""Numbers of `i64` from minus that on, below that, mean themselves."""


@lru_cache(maxsize=4096, typed=True)
def int_attr(value: int) -> IntegerAttr:
    """Returns an `i64` property."""
    if type(value) is not int or not -_HALF_RANGE <= value < _HALF_RANGE:
        return IntegerAttr(value, i64)
    return made_of(IntegerAttr, value=made_of(IntAttr, data=value), type=i64)


def float_attr(value: float) -> FloatAttr:
    """Returns an `f32` property, rounded to f32."""
    return _float_attr(value, copysign(1.0, value))


@lru_cache(maxsize=1024, typed=True)
def _float_attr(value: float, sign: float) -> FloatAttr:
    return FloatAttr(value, f32)  # the sign tells zeros apart, which are equal


def ints_attr(values: Sequence[int]) -> DenseArrayBase:
    """Returns an `array<i64: ...>` property."""
    return _ints_attr(tuple(values))


@lru_cache(maxsize=4096)
def _ints_attr(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


def bool_attr(value: bool) -> BoolAttr:
    """Returns an `i1` property."""
    return BoolAttr.from_bool(value)


def flag_attr(flag: bool) -> UnitAttr | None:
    """Returns the property of a flag: present where it is set."""
    return UnitAttr() if flag else None


def same_element_types(*values: SSAValue) -> Attribute:
    """Returns the element type that all `values` have.

    Raises:
        VerifyException: They differ.
    """
    types = [tensor_of(value).element_type for value in values]
    if types.count(types[0]) < len(types):
        shown = ", ".join(str(type_) for type_ in types)
        raise VerifyException(f"expected operands of one element type, got {shown}")
    return types[0]


def expect_rank(value: SSAValue, rank: int, name: str) -> Shape:
    """Returns the shape of an operand of exactly `rank` dimensions.

    Raises:
        VerifyException: It has another rank.
    """
    shape = value_shape(value)
    if len(shape) != rank:
        raise VerifyException(f"expected '{name}' of rank {rank}, got {show_shape(shape)}")
    return shape


def expect_min_rank(value: SSAValue, rank: int, name: str) -> Shape:
    """Returns the shape of an operand of `rank` dimensions or more.

    Raises:
        VerifyException: It has fewer.
    """
    shape = value_shape(value)
    if len(shape) < rank:
        raise VerifyException(f"expected '{name}' of rank {rank} or more, got {show_shape(shape)}")
    return shape


def expect_float(value: SSAValue, name: str) -> Attribute:
    """Returns the element type of an operand that must hold floats.

    Raises:
        VerifyException: It does not.
    """
    element_type = tensor_of(value).element_type
    if not is_float(element_type):
        raise VerifyException(f"expected '{name}' of floats, got {element_type}")
    return element_type


def expect_integer(value: SSAValue, name: str) -> Attribute:
    """Returns the element type of an operand that must hold integers.

    Raises:
        VerifyException: It does not.
    """
    element_type = tensor_of(value).element_type
    if not is_integer(element_type):
        raise VerifyException(f"expected '{name}' of integers, got {element_type}")
    return element_type


def same_type_pairs(op: GEOp) -> Sequence[tuple[int, int]]:
    """Returns the in-place pairs of an elementwise op: operands of the result's own type."""
    result = op.results[0].type
    return tuple((i, 0) for i, operand in enumerate(op.operands) if operand.type == result)


PROPERTIES_IN_DICT = ParsePropInAttrDict()
"""For ops whose optional properties print in the attribute dictionary."""
