"""The two watermarks: hot runs ahead, safe waits for every writer that could still show an older ticket."""

from __future__ import annotations

from penstock.model import Lease, LeaseId, TaskId
from penstock.queue.lease_calls import Probe
from penstock.worker.watermarks import Watermarks


def lease(lane: int, seq: int) -> Lease:
    return Lease(LeaseId(seq), TaskId(seq), "t", "{}", 0, 0, 0, lane, seq, None, None)


def probe(lanes: dict[int, int], *, newest: int, at: int, ended: int) -> Probe:
    """`at` is the id the probe drew, `ended` the oldest writer still running."""
    return Probe(list(lanes), list(lanes.values()), newest, snapshot_min=ended, snapshot_max=at)


def test_hot_moves_behind_what_was_claimed() -> None:
    watermarks = Watermarks()
    watermarks.probed(probe({7: 10}, newest=100, at=50, ended=50))
    watermarks.claimed([lease(7, 10), lease(7, 11)])
    assert watermarks.hot() == ([7], [12])


def test_safe_stays_while_a_writer_of_the_probe_still_runs() -> None:
    watermarks = Watermarks()
    watermarks.probed(probe({7: 10}, newest=100, at=50, ended=40))
    watermarks.probed(probe({7: 20}, newest=120, at=60, ended=49))
    assert watermarks.safe() == ([], [])
    watermarks.probed(probe({7: 30}, newest=140, at=70, ended=50))
    assert watermarks.safe() == ([7], [10])


def test_a_lane_that_was_empty_at_the_probe_is_safe_up_to_the_newest_ticket() -> None:
    watermarks = Watermarks()
    watermarks.probed(probe({7: 10}, newest=100, at=50, ended=50))
    watermarks.probed(probe({}, newest=200, at=60, ended=60))
    assert watermarks.safe() == ([7], [10])
    watermarks.probed(probe({}, newest=300, at=70, ended=70))
    assert watermarks.safe() == ([7], [200])


def test_a_probe_sets_hot_back_to_a_task_that_was_committed_late() -> None:
    watermarks = Watermarks()
    watermarks.probed(probe({7: 10}, newest=100, at=50, ended=45))
    watermarks.claimed([lease(7, 90)])
    assert watermarks.hot() == ([7], [91])
    watermarks.probed(probe({7: 12}, newest=200, at=60, ended=60))
    assert watermarks.hot() == ([7], [12])


def test_known_lanes_are_given_in_order() -> None:
    watermarks = Watermarks()
    for at in (10, 20):
        watermarks.probed(probe({9: 1, 3: 2, 5: 3}, newest=9, at=at, ended=at))
    assert watermarks.safe() == ([3, 5, 9], [2, 3, 1])
