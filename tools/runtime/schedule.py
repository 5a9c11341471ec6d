"""Streams: as threads, or one after the other in an order that the events allow.

An event is a flag: `record` sets it, the one `wait` it serves clears it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Condition, Thread
from typing import TypeAlias

from xdsl.ir import Operation

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import RecordOp, WaitOp
from ge_dialect.ge_exec.control import TaskOp

MAX_THREADS = 64
"""More streams than this take turns on one thread."""

Worker: TypeAlias = Callable[[TaskOp], None]


class StoppedError(Exception):
    """Another stream failed; this one just ends."""


@dataclass
class Events:
    """Flags that threads wait for, and the first error of any of them."""

    running: int
    error: BaseException | None = None
    _set: set[int] = field(default_factory=set[int])
    _blocked: dict[int, int] = field(default_factory=dict[int, int])
    _changed: Condition = field(default_factory=Condition)

    def record(self, event: int) -> None:
        """Sets an event."""
        with self._changed:
            self._set.add(event)
            self._changed.notify_all()

    def wait(self, stream: int, event: int) -> None:
        """Blocks until an event is set, and clears it.

        Raises:
            StoppedError: A stream failed, or all of them wait for each other.
        """
        with self._changed:
            self._blocked[stream] = event
            self._check_progress()
            while event not in self._set and self.error is None:
                self._changed.wait()
            del self._blocked[stream]
            self.check()
            self._set.discard(event)

    def check(self) -> None:
        """Ends a stream where another one failed.

        Raises:
            StoppedError: One did.
        """
        if self.error is not None:
            raise StoppedError

    def fail(self, error: BaseException) -> None:
        """Makes all streams stop; the first error is the one that is reported."""
        with self._changed:
            self.error = self.error or error
            self._changed.notify_all()

    def finish(self) -> None:
        """Says that a stream has ended."""
        with self._changed:
            self.running -= 1
            self._check_progress()

    def _check_progress(self) -> None:
        waits = self._blocked.values()
        if waits and len(waits) == self.running and not self._set.intersection(waits):
            self.error = self.error or standstill(sorted(waits))
            self._changed.notify_all()


def standstill(events: Sequence[int]) -> GEError:
    """Returns the error of streams that wait for each other."""
    return GEError(
        "GE0810",
        f"streams stand still: waits for events {', '.join(map(str, events))} are never served",
        hint="compile the model again",
    )


def run_threads(streams: Sequence[Sequence[Operation]], workers: Sequence[Worker]) -> None:
    """Runs each stream on a thread of its own; a single one on the caller's.

    Args:
        streams: Tasks, records and waits.
        workers: What runs a task, one a stream.

    Raises:
        GEError: The first error of any stream.
    """
    events = Events(len(streams))
    if len(streams) == 1:
        _run_stream(0, streams[0], workers[0], events)
    else:
        threads = [
            Thread(target=_run_stream, args=(i, stream, workers[i], events), daemon=True)
            for i, stream in enumerate(streams)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as error:  # Ctrl-C, or no more threads: the others have to end too
            events.fail(error)
            raise
    if events.error is not None:
        raise events.error


def _run_stream(index: int, ops: Sequence[Operation], worker: Worker, events: Events) -> None:
    try:
        for op in ops:
            events.check()
            if isinstance(op, WaitOp):
                events.wait(index, op.event.value.data)
            elif isinstance(op, RecordOp):
                events.record(op.event.value.data)
            else:
                assert isinstance(op, TaskOp)
                worker(op)
    except StoppedError:
        pass
    except BaseException as error:  # raised again in the caller's thread
        events.fail(error)
    finally:
        events.finish()


def run_interleaved(
    streams: Sequence[Sequence[Operation]], workers: Sequence[Worker], seed: int | None
) -> None:
    """Runs the streams on this thread, one op at a time.

    Args:
        streams: Tasks, records and waits.
        workers: What runs a task, one a stream.
        seed: Of the random choice among the streams that can go on; None takes the first.

    Raises:
        GEError: A task fails, or no stream can go on (GE0810).
    """
    queues = [deque(stream) for stream in streams]
    recorded: set[int] = set()
    random = None if seed is None else Random(seed)
    while any(queues):
        ready = [i for i, queue in enumerate(queues) if queue and _is_ready(queue[0], recorded)]
        if not ready:
            heads = (queue[0] for queue in queues if queue)
            raise standstill(sorted(o.event.value.data for o in heads if isinstance(o, WaitOp)))
        index = ready[0] if random is None else random.choice(ready)
        op = queues[index].popleft()
        if isinstance(op, WaitOp):
            recorded.discard(op.event.value.data)
        elif isinstance(op, RecordOp):
            recorded.add(op.event.value.data)
        else:
            assert isinstance(op, TaskOp)
            workers[index](op)


def _is_ready(op: Operation, recorded: set[int]) -> bool:
    return not isinstance(op, WaitOp) or op.event.value.data in recorded
