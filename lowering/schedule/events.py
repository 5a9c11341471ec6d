"""Events: the fewest that make every dependency hold across streams.

A dependency needs no event where it holds anyway, by the order of a stream or through other
events. What is left is the transitive reduction of the order, which is unique.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.schedule.happens_before import HappensBefore, happens_before


@dataclass(frozen=True, slots=True)
class Dependency:
    """A task that must wait for another.

    Attributes:
        producer, consumer: Task numbers.
        why: What the order protects, as in `RAW on %7`.
    """

    producer: int
    consumer: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sync:
    """An event: recorded after `producer`, waited for before `consumer`.

    Attributes:
        producer, consumer: Task numbers, on different streams.
        event: The id. An id serves several pairs, one after the other, and a wait takes the event
            back: the next wait for the id holds until the next record.
        why: The dependencies of this pair, joined by `; `.
    """

    producer: int
    consumer: int
    event: int
    why: str


def insert_events(
    order: Sequence[int],
    streams: Sequence[int],
    deps: Sequence[Dependency],
    *,
    reuse: bool = True,
    limit: int | None = None,
) -> list[Sync]:
    """Returns the events that make all dependencies hold, by consumer in `order`.

    No event can be left out: without it, its own dependency is lost.

    Args:
        order: All tasks, 0 to n - 1, in the order of the program; streams run theirs in it.
        streams: Of each task.
        deps: Between any tasks; those on one stream hold by its order.
        reuse: Whether an id may serve again once its wait is certainly over.
        limit: How many events the target has.

    Raises:
        GEError: Tasks would wait for each other (GE0506), or there are too few events (GE0507).
    """
    if not deps:
        return []
    queues: dict[int, list[int]] = {}
    for task in order:
        queues.setdefault(streams[task], []).append(task)
    pairs = [(dep.producer, dep.consumer) for dep in deps]
    relation = happens_before(list(queues.values()), pairs)
    reasons: dict[tuple[int, int], dict[str, None]] = {}
    for dep in deps:
        reasons.setdefault((dep.producer, dep.consumer), {})[dep.why] = None
    ids = _EventIds(relation, reuse)
    syncs = [
        Sync(producer, consumer, ids.take(producer, consumer), "; ".join(reasons[pair]))
        for pair in _needed(order, relation, list(reasons))
        for producer, consumer in (pair,)
    ]
    if limit is not None and ids.count > limit:
        raise GEError(
            "GE0507",
            f"the schedule needs {ids.count} events, the target has {limit}",
            hint="use fewer streams",
        )
    return syncs


def _needed(
    order: Sequence[int], relation: HappensBefore, pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Returns the pairs that no other path implies, by consumer in `order`, then by stream."""
    latest: list[dict[int, int]] = [{} for _ in relation.stream]
    for producer, consumer in pairs:
        home = relation.stream[producer]
        known = latest[consumer].get(home)
        if known is None or relation.position[known] < relation.position[producer]:
            latest[consumer][home] = producer
    needed: list[tuple[int, int]] = []
    for consumer in order:
        home = relation.stream[consumer]
        leaders = {s: p for s, p in latest[consumer].items() if s != home}
        others = list(leaders.values())
        if (place := relation.position[consumer]) > 1:
            others.append(relation.queues[home][place - 2])
        needed += [
            (producer, consumer)
            for _, producer in sorted(leaders.items())
            if not any(relation.before(producer, other) for other in others)
        ]
    return needed


class _EventIds:
    """Hands out event ids, old ones where that is safe.

    An id may serve again for a pair (u, v) if its last wait is over, whatever the timing, both
    when u records it and when the stream of v begins to wait for it. Else the old wait could take
    the new record, or the new wait the old one. Along a stream both get easier to meet, so that
    only the oldest id that a stream has waited for needs to be tried.
    """

    def __init__(self, relation: HappensBefore, reuse: bool):
        self.count = 0
        self._relation = relation
        self._reuse = reuse
        self._idle: list[deque[tuple[int, int]]] = [deque() for _ in relation.queues]

    def take(self, producer: int, consumer: int) -> int:
        """Returns the id for a pair."""
        relation = self._relation
        event = self._idle_id(producer, consumer) if self._reuse else None
        if event is None:
            event, self.count = self.count, self.count + 1
        home = self._idle[relation.stream[consumer]]
        home.append((relation.position[consumer], event))
        return event

    def _idle_id(self, producer: int, consumer: int) -> int | None:
        relation = self._relation
        recorded, waited = relation.clocks[producer], self._before_wait(consumer)
        for stream, waits in enumerate(self._idle):
            if waits and waits[0][0] <= min(recorded[stream], waited[stream]):
                return waits.popleft()[1]
        return None

    def _before_wait(self, consumer: int) -> tuple[int, ...]:
        """How many tasks of each stream are finished when the waits before `consumer` begin."""
        relation = self._relation
        place = relation.position[consumer]
        if place == 1:
            return (0,) * len(relation.queues)
        return relation.clocks[relation.queues[relation.stream[consumer]][place - 2]]
