"""What passes did, and what they could not do and why: one stream of structured remarks.

A pass calls `passed`, `missed` or `analysis`; whoever wants to know wraps the run in `collect()`.
With nobody listening a remark costs one look-up and nothing is built.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from xdsl.ir import Operation

Message: TypeAlias = "str | Callable[[], str]"
"""A text, or what makes one; it is only called where somebody listens."""

Value: TypeAlias = "str | int | float | None"
"""Something that was found or wanted; numbers are shown with all their digits."""


class Kind(StrEnum):
    """What a remark is about."""

    PASSED = "passed"
    MISSED = "missed"
    ANALYSIS = "analysis"


class ReasonClass(StrEnum):
    """Why a rewrite was not done."""

    ATTR = "ATTR"
    """An attribute has another value."""
    CONST = "CONST"
    """A value that has to be constant is not, or is another constant."""
    DTYPE = "DTYPE"
    """An element type is not supported."""
    SHAPE = "SHAPE"
    """A static shape does not fit."""
    SYMBOL = "SYMBOL"
    """Two symbolic dimensions can not be proved equal, or a range is not known."""
    USE = "USE"
    """An intermediate value is used outside of the match."""
    OVERLAP = "OVERLAP"
    """Another match took one of the ops."""
    ORDER = "ORDER"
    """It waits on another rule, which did not fire or comes later."""
    VERSION = "VERSION"
    """The rule is for other opsets."""
    TARGET = "TARGET"
    """The target has no such kernel."""
    COST = "COST"
    """It would not be faster, or takes too much memory."""
    DISABLED = "DISABLED"
    """The user turned the rule off."""


@dataclass(frozen=True)
class Remark:
    """One thing a pass did or did not do.

    Attributes:
        kind: What the remark is about.
        pass_name: Of the pass that made it.
        rule: Pattern or rule within the pass.
        op_name: Name of the op it is about, as `ge.layer_norm`.
        location: The user's node (`location_name`), or None where not known.
        reason_class: Why a rewrite was not done, where it has a class.
        message: One line.
        found: The value that was found, as text.
        wanted: What was expected instead, as text.
        fix: What would make the rule fire.
    """

    kind: Kind
    pass_name: str
    rule: str
    op_name: str
    location: str | None
    reason_class: ReasonClass | None
    message: str
    found: str | None = None
    wanted: str | None = None
    fix: str | None = None

    def __str__(self) -> str:
        """One line, as `remark: [missed] ge-dce: Rule: ge.add: why at "node"`."""
        head = f"remark: [{self.kind}] {self.pass_name}: {self.rule}: {self.op_name}: "
        parts = [head + self.message]
        if self.location is not None:
            name = self.location.translate(_ONE_LINE).replace('"', '\\"')
            parts.append(f'at "{name}"')
        compared = [("found", self.found), ("wanted", self.wanted)]
        if known := ", ".join(f"{key} {value}" for key, value in compared if value is not None):
            parts.append(f"({known})")
        if self.reason_class is not None:
            parts.append(f"[{self.reason_class}]")
        text = " ".join(parts)
        return text if self.fix is None else f"{text}; fix: {self.fix}"

    def as_dict(self) -> dict[str, str]:
        """Returns what is known, by short names that stay: `kind`, `pass`, `rule`, `op` ..."""
        values = zip(_KEYS, astuple(self), strict=True)
        return {key: str(value) for key, value in values if value is not None}

    def to_json(self) -> str:
        """Returns `as_dict` as one line of JSON."""
        import json

        return json.dumps(self.as_dict(), ensure_ascii=False)


_KEYS = ("kind", "pass", "rule", "op", "location", "reason", "message", "found", "wanted", "fix")
_ONE_LINE = str.maketrans({"\n": "\\n", "\r": "\\r"})


class Collector:
    """Keeps the remarks of a run, equal ones once, in the order they came.

    Drivers visit an op several times, so that equal remarks come often.
    """

    def __init__(self, outer: Collector | None = None):
        self._found: dict[Remark, None] = {}
        self._outer = outer

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """All remarks so far."""
        return tuple(self._found)

    def add(self, remark: Remark) -> None:
        """Keeps `remark`, here and in the collectors around this one."""
        self._found.setdefault(remark)
        if self._outer is not None:
            self._outer.add(remark)


_collector: ContextVar[Collector | None] = ContextVar("ge_remarks", default=None)


@contextmanager
def collect() -> Generator[Collector]:
    """Gives a collector of everything that runs inside; collectors nest."""
    collector = Collector(_collector.get())
    token = _collector.set(collector)
    try:
        yield collector
    finally:
        _collector.reset(token)


def listening() -> bool:
    """Whether anybody collects remarks: ask before finding out something costly."""
    return _collector.get() is not None


def so_far() -> tuple[Remark, ...]:
    """Returns what was said until now to the innermost collector; nothing where nobody listens."""
    collector = _collector.get()
    return () if collector is None else collector.remarks


def passed(pass_name: str, rule: str, op: Operation, message: Message) -> None:
    """Says that a rewrite was done on `op`."""
    if (collector := _collector.get()) is not None:
        collector.add(_build(Kind.PASSED, pass_name, rule, op, message))


def missed(
    pass_name: str,
    rule: str,
    op: Operation,
    message: Message,
    *,
    reason: ReasonClass | None = None,
    found: Value = None,
    wanted: Value = None,
    fix: str | None = None,
) -> None:
    """Says why a rewrite was not done on `op`, though the structure matched.

    Args:
        pass_name: Of the pass.
        rule: Of the pattern or rule.
        op: What the rewrite would have started from.
        message: One line; lower case, without a full stop.
        reason: The class of the reason.
        found: The value that stood in the way.
        wanted: What it should have been.
        fix: What would make the rule fire.
    """
    if (collector := _collector.get()) is not None:
        compared = (_text(found), _text(wanted))
        collector.add(_build(Kind.MISSED, pass_name, rule, op, message, reason, *compared, fix))


def analysis(pass_name: str, rule: str, op: Operation, message: Message) -> None:
    """Says something that was found out about `op`."""
    if (collector := _collector.get()) is not None:
        collector.add(_build(Kind.ANALYSIS, pass_name, rule, op, message))


def _build(
    kind: Kind,
    pass_name: str,
    rule: str,
    op: Operation,
    message: Message,
    reason: ReasonClass | None = None,
    found: str | None = None,
    wanted: str | None = None,
    fix: str | None = None,
) -> Remark:
    from ge_dialect.locations import location_name, op_name

    text = message if isinstance(message, str) else message()
    return Remark(
        kind=kind,
        pass_name=pass_name,
        rule=rule,
        op_name=op_name(op),
        location=location_name(op),
        reason_class=reason,
        message=text.translate(_ONE_LINE),
        found=found,
        wanted=wanted,
        fix=fix,
    )


def _text(value: Value) -> str | None:
    return None if value is None else str(value)
