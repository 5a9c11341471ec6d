"""How ops are made and copied, without what most of them have not, for `quick_ir`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.irdl import IRDLOperation, OptionalDef

from ge_dialect.ge.access import operands_of

_Defaults: TypeAlias = list[tuple[str, Attribute]]

_DEFAULTS: dict[type, tuple[_Defaults, _Defaults]] = {}
"""Classes of ops: properties and attributes that an op has where none are given."""

_WITHOUT_DEFAULTS: set[type] = set()
"""Those that have none."""

_clone_with_regions, _clone_with_successors = Operation.clone, Operation.clone_without_regions


def clone_op(
    self: Operation,
    value_mapper: dict[SSAValue, SSAValue] | None = None,
    block_mapper: dict[Block, Block] | None = None,
    *,
    clone_name_hints: bool = True,
    clone_operands: bool = True,
) -> Operation:
    """As `Operation.clone`, which gives an op its operands after those in its regions are there;
    where it has none they are there at once."""
    clone = _clone_with_regions if self.regions else Operation.clone_without_regions
    return clone(
        self,
        value_mapper,
        block_mapper,
        clone_name_hints=clone_name_hints,
        clone_operands=clone_operands,
    )


def clone_without_regions(
    self: Operation,
    value_mapper: dict[SSAValue, SSAValue] | None = None,
    block_mapper: dict[Block, Block] | None = None,
    *,
    clone_name_hints: bool = True,
    clone_operands: bool = True,
) -> Operation:
    """As `Operation.clone_without_regions`, which copies each dictionary twice."""
    if self._successors:  # pyright: ignore[reportPrivateUsage]  # of the same class in xDSL
        return _clone_with_successors(
            self,
            value_mapper,
            block_mapper,
            clone_name_hints=clone_name_hints,
            clone_operands=clone_operands,
        )
    values = {} if value_mapper is None else value_mapper
    read = operands_of(self) if clone_operands else ()
    clone = object.__new__(type(self))
    Operation.__init__(
        clone,
        operands=[values.get(value, value) for value in read],
        result_types=[result.type for result in self.results],
        properties=self.properties,
        attributes=self.attributes,
        location=self.location,
        regions=[Region() for _ in self.regions],
    )
    for mine, theirs in zip(self.results, clone.results, strict=True):
        values[mine] = theirs
        if clone_name_hints and (name := mine.name_hint) is not None:
            theirs.name_hint = name
    return clone


def init_op(
    self: Any,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    location: Any = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """As `Operation.__init__`."""
    _read(self, SSAValues(operands))
    results: list[OpResult] = []
    for index, type_ in enumerate(result_types):
        results.append(result := _new(OpResult))
        result._type, result.op, result.index = type_, self, index
    self.results = SSAValues(results)
    self.properties = dict(properties) if properties else {}
    self.attributes = dict(attributes) if attributes else {}
    self.location = UNKNOWN_LOC if location is None else location
    if successors:
        self.successors = list(successors)
    self.regions = ()
    for region in regions:
        self.add_region(region)
    if type(self) not in _WITHOUT_DEFAULTS:
        self.__post_init__()


# Methods of dataclasses set each field; what has a default in its class is not set here.
_new: Callable[[Any], Any] = object.__new__


def _read(self: Any, operands: SSAValues) -> None:
    """Lets an op that reads nothing read its operands."""
    uses: list[Use] = []
    for index, value in enumerate(operands):
        uses.append(use := _new(Use))
        use._operation, use._index = self, index
        if (known := value.first_use) is not None:  # as `IRWithUses.add_use`
            use._next_use = known
            known._prev_use = use  # pyright: ignore[reportPrivateUsage]
        value.first_use = use
    self._operands, self._operand_uses = operands, tuple(uses)


def set_operands(self: Any, operands: Sequence[SSAValue]) -> None:
    """As the setter of `Operation.operands`."""
    read = SSAValues(operands)
    for operand, use in zip(self._operands, self._operand_uses, strict=True):
        operand.remove_use(use)
    _read(self, read)


def add_defaults(self: IRDLOperation) -> None:
    """As `IRDLOperation.__post_init__`."""
    try:
        defaults = _DEFAULTS[type(self)]
    except KeyError:
        defaults = _DEFAULTS[type(self)] = _defaults_of(type(self))
        if defaults == ([], []) and type(self).__post_init__ is add_defaults:
            _WITHOUT_DEFAULTS.add(type(self))
    for name, value in defaults[0]:
        self.properties.setdefault(name, value)
    for name, value in defaults[1]:
        self.attributes.setdefault(name, value)


def _defaults_of(op_class: type[IRDLOperation]) -> tuple[_Defaults, _Defaults]:
    assert isinstance(op_class.name, str) and op_class.name
    definition = op_class.get_irdl_definition()
    properties = [
        (name, one.default_value)
        for name, one in definition.properties.items()
        if not isinstance(one, OptionalDef) and one.default_value is not None
    ]
    attributes = [
        (name, one.default_value)
        for name, one in definition.attributes.items()
        if not isinstance(one, OptionalDef) and one.default_value is not None
    ]
    return properties, attributes
