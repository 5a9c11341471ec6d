"""The write-back cache in front of HBM: what reaches it, whatever the addresses."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.lowering.machine.cache import BLOCK, UNLIMITED, Extent, Touch, missed_bytes

MIB = 1 << 20


def at(start: int, size: int, space: str = "work", streams: bool = False) -> Extent:
    return Extent(space, start, start + size, streams)


def totals(touches: list[Touch], capacity: float, kept: list[Extent] | None = None) -> list[int]:
    return [missed.bytes for missed in missed_bytes(touches, capacity, kept or [])]


def test_what_a_task_leaves_in_the_cache_costs_its_reader_nothing():
    a, b, c = at(0, MIB), at(MIB, MIB), at(2 * MIB, MIB)
    chain = [Touch([a], [b]), Touch([b], [c])]
    assert totals(chain, 8 * MIB, [c]) == [MIB, MIB]
    assert totals(chain, 8 * MIB) == [MIB, 0]


def test_a_cache_that_is_too_small_serves_nothing():
    a, b, c = at(0, 4 * MIB), at(4 * MIB, 4 * MIB), at(8 * MIB, 4 * MIB)
    assert totals([Touch([a], [b]), Touch([b], [c])], 2 * MIB, [c]) == [8 * MIB, 8 * MIB]


def test_bytes_that_are_taken_over_in_the_cache_never_reach_hbm():
    a, b = at(0, MIB), at(MIB, MIB)
    apart = [Touch([], [at(i * MIB, MIB)]) for i in range(8)]
    assert sum(totals(apart, 4 * MIB)) == 4 * MIB
    assert sum(totals([Touch([], [a]), Touch([a], [b])] * 4, 4 * MIB)) == 0


def test_the_writer_is_charged_when_its_bytes_leave():
    written, big = at(0, MIB), at(MIB, 4 * MIB)
    found = missed_bytes([Touch([], [written]), Touch([big], [])], 2 * MIB)
    assert (found[0].written, found[1].written) == (MIB, 0)
    assert found[1].read == 4 * MIB


def test_weights_that_pass_by_leave_the_cache_to_others():
    x = at(0, MIB)
    weight, hint = at(0, 8 * MIB, "weights"), at(0, 8 * MIB, "weights", streams=True)
    assert totals([Touch([], [x]), Touch([weight], []), Touch([x], [])], 4 * MIB)[2] == MIB
    assert totals([Touch([], [x]), Touch([hint], []), Touch([x], [])], 4 * MIB)[2] == 0


def test_small_buffers_in_one_block_count_their_own_bytes():
    touches = [Touch([at(0, 512), at(512, 512)], [at(1024, 100)])]
    assert totals(touches, BLOCK) == [1024]
    assert totals(touches, UNLIMITED, [at(1024, 100)]) == [1124]


def pages_at(start: int, size: int, space: str) -> Extent:
    return at(start * 4096, size * 4096, space)


@st.composite
def runs(draw: st.DrawFn) -> list[Touch]:
    piece = st.builds(
        pages_at,
        st.integers(0, 600),
        st.integers(1, 600),
        st.sampled_from(["work", "weights"]),
    )
    reads, writes = st.lists(piece, max_size=2), st.lists(piece, max_size=1)
    return draw(st.lists(st.builds(Touch, reads, writes), max_size=8))


def page_by_page(touches: list[Touch], capacity: int, kept: list[Extent]) -> int:
    """The same cache with one entry for each 4096 bytes."""
    held: OrderedDict[tuple[object, int], bool] = OrderedDict()
    moved = 0

    def pages(extent: Extent) -> list[tuple[object, int]]:
        return [(extent.space, page) for page in range(extent.start // 4096, extent.end // 4096)]

    def use(page: tuple[object, int], dirty: bool) -> None:
        nonlocal moved
        moved += page not in held and not dirty
        held[page] = dirty or held.get(page, False)
        held.move_to_end(page)
        while len(held) * 4096 > capacity:
            moved += held.popitem(last=False)[1]

    for touch in touches:
        for extents, dirty in ((touch.reads, False), (touch.writes, True)):
            for extent in extents:
                for page in pages(extent):
                    use(page, dirty)
    for page in dict.fromkeys(page for extent in kept for page in pages(extent)):
        moved += held.get(page, False)
    return moved * 4096


@given(runs(), st.sampled_from([4 * MIB, 64 * MIB]))
def test_bytes_agree_with_a_cache_of_pages(touches: list[Touch], capacity: int):
    kept = [extent for touch in touches[-1:] for extent in touch.writes]
    found = sum(totals(touches, capacity, kept))
    exact = page_by_page(touches, capacity, kept)
    # A piece leaves as a whole: at most a block more or less at a time.
    assert abs(found - exact) <= (0 if capacity > 32 * MIB else len(touches) * 3 * BLOCK)
    assert found >= sum(totals(touches, UNLIMITED, kept))


@given(runs())
def test_no_task_moves_more_than_it_touches(touches: list[Touch]):
    for touch, missed in zip(touches, missed_bytes(touches, 2 * MIB), strict=True):
        assert missed.read <= sum(e.end - e.start for e in touch.reads)
        assert missed.written <= sum(e.end - e.start for e in touch.writes)


@pytest.mark.parametrize("capacity", [MIB, 16 * MIB])
def test_nothing_moves_nothing(capacity: int):
    assert missed_bytes([], capacity) == []
    assert totals([Touch([at(5, 0)], [])], capacity) == [0]
