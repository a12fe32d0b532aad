"""The order in which tests run: long ones first, on all workers alike, and none is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.plugins.order import long_first


def shares(items: list[int], workers: int) -> list[list[int]]:
    """As xdist deals them out for stealing."""
    dealt = []
    for number in range(workers):
        size = len(items) // (workers - number)
        dealt.append(items[:size])
        items = items[size:]
    return dealt


@given(st.lists(st.integers(0, 30), unique=True), st.integers(1, 5), st.integers(0, 30))
def test_every_test_runs_once(items: list[int], workers: int, longest: int) -> None:
    ordered = long_first(items, lambda item: item < longest, lambda item: item // 3, workers)
    assert sorted(ordered) == sorted(items)


def test_each_worker_begins_with_its_share_of_the_long_tests() -> None:
    items = [7, 20, 3, 21, 22, 1, 23, 24, 5, 25, 26, 27, 28, 29, 30, 31]
    ordered = long_first(items, lambda item: item < 10, lambda item: item, 4)
    assert [sum(item < 10 for item in share) for share in shares(ordered, 4)] == [1, 1, 1, 1]
    assert [share[0] < 10 for share in shares(ordered, 4)] == [True] * 4
    assert [item for item in ordered if item >= 10] == list(range(20, 32))
