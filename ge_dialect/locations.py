"""Where an op comes from: the names of the user's nodes, kept through every rewrite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    UnregisteredOp,
)

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation

_SHOWN = 3
_NOWHERE = NoneAttr()
_NAMES = frozenset((NameLoc,))


def name_location(name: str) -> NameLoc:
    """Returns the location of the node that the user knows as `name`."""
    # Without the check of its parts, which takes three times as long as everything else.
    location: Any = object.__new__(NameLoc)
    text: Any = object.__new__(StringAttr)
    text.__dict__["data"] = name
    parts = location.__dict__
    parts["desc"], parts["location"] = text, _NOWHERE
    return location


def op_name(op: Operation) -> str:
    """Returns the name of an op, also of one whose dialect is not registered."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def location_names(op: Operation) -> tuple[str, ...]:
    """Returns the names of the nodes that `op` was made from, each once, in order.

    Places in a file count as well, as `file:line:column`.
    """
    location = op.location
    if type(location) is NameLoc:
        return (location.desc.data,)
    if type(location) is FusedLoc:
        places = cast("ArrayAttr[Attribute]", location.locations).data
        names = [place.desc.data for place in places if type(place) is NameLoc]
        if len(names) == len(places):  # mostly
            return tuple(dict.fromkeys(names))
    found: dict[str, None] = {}
    for place in places_of(location):
        if type(place) is NameLoc:
            found[place.desc.data] = None
        elif (name := _name(place)) is not None:
            found[name] = None
    return tuple(found)


def location_name(op: Operation) -> str | None:
    """Returns where `op` comes from, for a message; None where that is not known.

    Of an op made from many nodes the first three are named, and the rest counted.
    """
    if not (names := location_names(op)):
        return None
    rest = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {rest} more" if rest > 0 else shown


def fuse(locations: Iterable[LocationAttr]) -> LocationAttr:
    """Returns one location that stands for all of `locations`, each once, in order.

    Nested fused locations are flattened, unknown ones dropped.
    """
    places: dict[object, LocationAttr] = {}
    for location in locations:
        # The name alone is hashed in a third of the time. What is there already is equal to what
        # takes its place.
        if type(location) is NameLoc and type(location.location) is NoneAttr:
            places[location.desc.data] = location
        elif (known := getattr(location, "_ge_places", None)) is not None:
            places.update(known)
        else:
            for place in places_of(location):
                if type(place) is NameLoc and type(place.location) is NoneAttr:
                    places[place.desc.data] = place
                else:
                    places[place] = place
    fused = fuse_distinct(tuple(places.values()))
    if type(fused) is FusedLoc:
        vars(fused)["_ge_places"] = places  # for who fuses it with others
    return fused


def fuse_distinct(places: tuple[LocationAttr, ...]) -> LocationAttr:
    """As `fuse`, of locations that are known, not fused, and no two of them equal."""
    if len(places) < 2:
        return places[0] if places else UnknownLoc()
    # Without the check of its parts, as above.
    fused = object.__new__(FusedLoc)
    vars(fused).update(locations=ArrayAttr(places), metadata=_NOWHERE)
    return fused


def places_of(location: Attribute) -> Sequence[LocationAttr]:
    """Returns the known parts of a location that are not fused, first to last."""
    if type(location) is NameLoc:
        return (location,)
    if type(location) is FusedLoc:
        parts = cast("ArrayAttr[LocationAttr]", location.locations).data
        return parts if _NAMES.issuperset(map(type, parts)) else _flattened(location)
    return (location,) if isinstance(location, FileLineColLoc | CallSiteLoc) else ()


def _flattened(location: Attribute) -> list[LocationAttr]:
    found: list[LocationAttr] = []
    waiting = [location]
    while waiting:
        place = waiting.pop()
        if isinstance(place, FusedLoc):
            waiting += reversed(cast("ArrayAttr[Attribute]", place.locations).data)
        elif isinstance(place, NameLoc | FileLineColLoc | CallSiteLoc):
            found.append(place)
    return found


def _name(place: Attribute) -> str | None:
    while isinstance(place, CallSiteLoc):
        place = place.callee
    match place:
        case NameLoc():
            return place.desc.data
        case FileLineColLoc():
            return f"{place.filename.data}:{place.line.data}:{place.column.data}"
        case _:
            return None
