"""Orders of tasks: fast heuristics, each linear but for a heap.

Sources: list scheduling by change of live bytes, forwards and backwards, after Goodman and Hsu,
"Code scheduling and register allocation in large basic blocks" (1988); depth first by need, after
Sethi and Ullman, "The generation of optimal code for arithmetic expressions" (1970).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush

from ge_dialect.passes.schedule.tasks import State, Tasks

Order = list[int]


def candidates(tasks: Tasks) -> Iterator[Order]:
    """Yields orders worth trying; all respect `needs`."""
    yield by_change(tasks, lambda task, _: task)
    yield depth_first(tasks)
    backwards = tasks.reversed()
    yield by_change(backwards, lambda task, _: -task)[::-1]
    yield by_change(tasks, lambda _, step: -step)
    yield by_change(backwards, lambda _, step: -step)[::-1]


def by_change(tasks: Tasks, tie: Callable[[int, int], int]) -> Order:
    """Returns the order that always runs the ready task after which the fewest bytes are alive.

    Args:
        tasks: What there is to run.
        tie: Decides among equals, the least first, by task and the step at which it became ready.
    """
    followers, waiting = _followers(tasks), [len(needs) for needs in tasks.needs]
    state, order = State(tasks), Order()
    ready = {task: tie(task, 0) for task, count in enumerate(waiting) if not count}
    heap: list[tuple[int, int, int]] = []
    for task, rank in ready.items():
        heappush(heap, (state.change(task), rank, task))
    while heap:
        change, rank, task = heappop(heap)
        if task not in ready or change != state.change(task):
            continue  # a better entry has been pushed since, or it has run
        del ready[task]
        order.append(task)
        again: dict[int, None] = {}
        for root in state.run(task):
            again |= {other: None for other in tasks.touchers[root] if other in ready}
        for follower in followers[task]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready[follower] = tie(follower, len(order))
                again[follower] = None
        for other in again:
            heappush(heap, (state.change(other), ready[other], other))
    return order


def depth_first(tasks: Tasks) -> Order:
    """Returns the order that finishes what one task needs before it starts on the next.

    What needs more while it is computed than it leaves behind goes first.
    """
    gain = _gains(tasks)
    followers = _followers(tasks)
    seen, order = [False] * len(tasks.units), Order()
    for sink in [task for task, after in enumerate(followers) if not after]:
        stack = [(sink, False)]
        while stack:
            task, is_done = stack.pop()
            if is_done:
                order.append(task)
            elif not seen[task]:
                seen[task] = True
                stack.append((task, True))
                needs = sorted(tasks.needs[task], key=lambda need: (gain[need], -need))
                stack += [(need, False) for need in needs if not seen[need]]
    return order


def _gains(tasks: Tasks) -> list[int]:
    """Returns for each task the bytes that are free again once it has run, as if it were the root
    of a tree."""
    need, kept = [0] * len(tasks.units), [0] * len(tasks.units)
    for task, needs in enumerate(tasks.needs):
        held = peak = 0
        for other in sorted(needs, key=lambda other: (kept[other] - need[other], other)):
            peak = max(peak, held + need[other])
            held += kept[other]
        size = sum(tasks.sizes[root] for root in tasks.touches[task])
        need[task] = max(peak, size + tasks.workspace[task])
        first = [root for root in tasks.touches[task] if tasks.touchers[root][0] == task]
        kept[task] = sum(tasks.sizes[root] for root in first)
    return [a - b for a, b in zip(need, kept, strict=True)]


def _followers(tasks: Tasks) -> list[list[int]]:
    after: list[list[int]] = [[] for _ in tasks.units]
    for task, needs in enumerate(tasks.needs):
        for other in needs:
            after[other].append(task)
    return after


def settled(tasks: Tasks) -> Order:
    """Returns the order of the program, but for the two moves that never cost anything.

    What needs nothing waits for the first task that needs it, and what nobody needs, as outputs are
    free, does not wait.
    """
    order, done = Order(), [False] * len(tasks.units)
    followers = _followers(tasks)
    waiting = [len(needs) for needs in tasks.needs]

    def run(task: int) -> None:
        done[task] = True
        order.append(task)
        for follower in followers[task]:
            waiting[follower] -= 1
            if not waiting[follower] and not followers[follower] and not done[follower]:
                run(follower)

    for task, needs in enumerate(tasks.needs):
        if done[task] or (not needs and followers[task]):
            continue
        for need in needs:
            if not done[need]:
                run(need)
        if not done[task]:
            run(task)
    return order


def segments_of(tasks: Tasks) -> list[range]:
    """Returns the positions of an order in groups that few orders mix.

    Where everything before a task leads to it and everything behind comes from it, its position is
    the same in all orders, so that both sides are problems of their own. Tasks that need nothing or
    that nobody needs would hide such places: they are left out of account, and stay in the group
    where they are.
    """
    count = len(tasks.units)
    followers = _followers(tasks)
    is_sole_sink = _sole(tasks.needs, followers, range(count))
    is_sole_source = _sole(followers, tasks.needs, range(count - 1, -1, -1))
    found, start = list[range](), 0
    for task in range(count):
        if is_sole_sink[task] and is_sole_source[task]:
            found += [range(start, task)] if task > start else []
            found.append(range(task, task + 1))
            start = task + 1
    return found + ([range(start, count)] if start < count else [])


def _sole(
    inputs: Sequence[Sequence[int]], outputs: Sequence[Sequence[int]], order: Sequence[int]
) -> list[bool]:
    """Returns for each task whether all before it, but those without outputs, lead to it."""
    open_ends: set[int] = set()
    found = [False] * len(inputs)
    for task in order:
        open_ends.difference_update(inputs[task])
        found[task] = not open_ends and bool(inputs[task] or outputs[task])
        if outputs[task]:
            open_ends.add(task)
    return found
