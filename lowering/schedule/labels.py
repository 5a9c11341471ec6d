"""Stream labels: tasks that the user wants on a stream of their own, as in GE.

Every label is a stream, and tasks of one label share it; what has no label goes elsewhere. A label
is an attribute `ge.stream_label` of an op, or is given by the name of a node.

Source: mindspore-ai/graphengine (Apache-2.0), `AssignByLabelPass`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, Region

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.copied import structure_of
from ge_dialect.locations import location_names

LABEL = "ge.stream_label"
"""The attribute of an op, and of the task that is made of it."""


@dataclass
class Labels:
    """The labels of ops; bodies of kernels that are copies of one are looked through once."""

    bodies: dict[Region, StringAttr | None] = field(
        default_factory=dict[Region, "StringAttr | None"]
    )

    def of(self, op: Operation) -> StringAttr | None:
        """Returns the label of an op; of a kernel the first one in it."""
        if op.attributes and isinstance(found := op.attributes.get(LABEL), StringAttr):
            return found
        for region in op.regions:
            if (found := self._of_region(region)) is not None:
                return found
        return None

    def _of_region(self, region: Region) -> StringAttr | None:
        like = structure_of(region)
        if like in self.bodies:
            return self.bodies[like]
        inner = (op for block in like.blocks for op in block.ops)
        found = next((label for op in inner if (label := self.of(op)) is not None), None)
        if like is not region:
            self.bodies[like] = found
        return found

    def carry(self, op: Operation, task: Operation) -> None:
        """Labels a task as the op that it is made of."""
        if (label := self.of(op)) is not None:
            task.attributes[LABEL] = label


def forget_labels(ops: Iterable[Operation]) -> None:
    """Takes the labels off everything in some ops."""
    for op in ops:
        for inner in op.walk():
            inner.attributes.pop(LABEL, None)


def parse_labels(entries: Sequence[str]) -> dict[str, str]:
    """Returns labels by pattern of node names, of entries `PATTERN=LABEL`.

    Raises:
        GEError: An entry is not of that form (GE0532).
    """
    found: dict[str, str] = {}
    for entry in entries:
        pattern, separator, label = entry.rpartition("=")
        if not separator or not pattern or not label:
            raise GEError(
                "GE0532",
                f"expected NODE=LABEL, got '{entry}'",
                hint='as in "encoder/*=encoder"',
            )
        found[pattern] = label
    return found


def task_labels(tasks: Sequence[Operation], patterns: Mapping[str, str]) -> list[str | None]:
    """Returns the label of each task: the first pattern that fits one of its nodes, or its own.

    Raises:
        GEError: A pattern fits no task (GE0532).
    """
    fits = dict.fromkeys(patterns, False)
    own, labels = Labels(), list["str | None"]()
    for task in tasks:
        names = location_names(task) if patterns else ()
        found = own.of(task)
        label = None if found is None else found.data
        for pattern in reversed(list(patterns)):
            if any(fnmatchcase(name, pattern) for name in names):
                label, fits[pattern] = patterns[pattern], True
        labels.append(label)
    if unknown := [pattern for pattern, fit in fits.items() if not fit]:
        raise GEError(
            "GE0532",
            f"no task comes from a node '{unknown[0]}'",
            hint="ge-compile --dump-ir shows the nodes of every task as their locations",
        )
    return labels


def label_streams(labels: Sequence[str | None], limit: int) -> dict[str, int]:
    """Returns the stream of each label, in the order of the plan: those after the unlabelled.

    Raises:
        GEError: There are too few streams for all of them (GE0530).
    """
    names = list(dict.fromkeys(label for label in labels if label is not None))
    free = int(None in labels)
    if names and len(names) + free > limit:
        rest = " and one for the tasks without" if free else ""
        raise GEError(
            "GE0530",
            f"expected 'streams' >= {len(names) + free}, one for each of {len(names)} labels"
            f"{rest}, got {limit}",
            hint=f"--streams {len(names) + free}",
        )
    return {name: limit - len(names) + i for i, name in enumerate(names)}
