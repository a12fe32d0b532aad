"""Two watermarks per lane, in the worker's memory, keep a pinned xmin horizon from slowing down claims.

`hot` is where the next claim starts. `safe` is a ticket below which nothing can appear any more: it moves to
a ticket seen by a probe only once every writer that ran at that probe has ended. Each probe starts at `safe`
and sets `hot` back to the first visible ticket, so a producer that commits late is found by the next probe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.model import Lease
from penstock.queue.lease_calls import Probe

KNOWN_LANES = 5_000


@dataclass(frozen=True, slots=True)
class _Candidate:
    snapshot_max: int
    tickets: dict[int, int]


class Watermarks:
    """The watermarks of one queue; no I/O."""

    def __init__(self) -> None:
        self._hot: dict[int, int] = {}
        self._safe: dict[int, int] = {}
        self._candidate: _Candidate | None = None

    def hot(self) -> tuple[list[int], list[int]]:
        """The lanes that had tasks at the last probe, and where the next claim starts in each."""
        return list(self._hot), list(self._hot.values())

    def safe(self) -> tuple[list[int], list[int]]:
        """All known lanes, sorted, and where a probe for late commits and new lanes starts in each."""
        lanes = sorted(self._safe)
        return lanes, [self._safe[lane] for lane in lanes]

    def claimed(self, leases: Sequence[Lease]) -> None:
        """Start the next claim after what was just claimed."""
        hot = self._hot
        if len(hot) == 1 and leases and leases[0].lane == leases[-1].lane and leases[-1].lane in hot:
            # One lane: its rows come in order, and a watermark that is too low only costs time.
            hot[leases[-1].lane] = max(leases[-1].seq + 1, hot[leases[-1].lane])
            return
        for lease in leases:
            if lease.seq >= hot.get(lease.lane, 0):
                hot[lease.lane] = lease.seq + 1

    def probed(self, probe: Probe) -> None:
        """Apply a probe's result; promote the earlier probe's tickets once its writers have ended."""
        seen = dict(zip(probe.lanes, probe.tickets, strict=True))
        candidate = self._candidate
        if candidate is not None and probe.snapshot_min >= candidate.snapshot_max:
            self._safe.update(candidate.tickets)
            self._candidate = candidate = None
        if candidate is None:
            known = self._safe.keys() | seen.keys()
            self._candidate = _Candidate(
                probe.snapshot_max, {lane: seen.get(lane, probe.newest) for lane in known}
            )
        self._hot = seen
        if len(self._safe) > KNOWN_LANES:
            self._safe = {lane: self._safe[lane] for lane in seen if lane in self._safe}
            self._candidate = None
