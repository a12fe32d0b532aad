"""How far a pass over a stream has come, as it is stored in a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

from penstock.sources.errors import CursorExpired
from penstock.sources.protocol import Checkpoint, Cursor
from penstock.sources.reading.times import iso, parse_time

VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """`started` becomes the next pass's `since`: what changes during this one is read again by the next."""

    phase: str
    started: datetime | None = None
    since: datetime | None = None
    token: Any = None
    """The provider's own watermark, such as a history id; since when, in its own terms."""
    next_token: Any = None
    """The token at the start of this pass, from which the next one goes on."""
    page: Any = None
    seen: int = 0
    left_out: int = 0
    expected: int | None = None
    total: int | None = None
    """How many items the provider has; with a cap, more than expected."""

    @classmethod
    def begin(cls, provider: str, stream: str, cursor: Cursor, phase: str, full_phase: str) -> Self:
        """Where to go on, or to begin. CursorExpired if a delta has nothing to start from."""
        stored = cursor.value if isinstance(cursor.value, Mapping) else {}
        known = stored.get("v") == VERSION
        if cursor.is_resumed and known and "phase" in stored:
            return cls(
                phase=stored["phase"],
                started=parse_time(stored.get("started")),
                since=parse_time(stored.get("since")),
                token=stored.get("token"),
                next_token=stored.get("next_token"),
                page=stored.get("page"),
                seen=stored.get("seen", 0),
                left_out=stored.get("left_out", 0),
                expected=stored.get("expected"),
                total=stored.get("total"),
            )
        if cursor.is_full:
            return cls(phase=full_phase)
        since = parse_time(stored.get("since"))
        if not known or (since is None and stored.get("token") is None):
            raise CursorExpired(provider, stream)
        return cls(phase=phase, since=since, token=stored.get("token"))

    def moved(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def checkpoint(self) -> Checkpoint:
        """In the middle of the pass."""
        value = {
            "v": VERSION,
            "phase": self.phase,
            "started": iso(self.started),
            "since": iso(self.since),
            "token": self.token,
            "next_token": self.next_token,
            "page": self.page,
            "seen": self.seen,
            "left_out": self.left_out,
            "expected": self.expected,
            "total": self.total,
        }
        cursor = {name: each for name, each in value.items() if each is not None}
        return Checkpoint(cursor=cursor, expected=self.expected, left_out=self.left_out)

    def done(self, overlap: timedelta = timedelta()) -> Checkpoint:
        """At the end of the pass; the next one reads again what changed shortly before this one began."""
        since = None if self.started is None else self.started - overlap
        value = {"v": VERSION, "since": iso(since), "token": self.next_token}
        return Checkpoint(
            cursor={name: each for name, each in value.items() if each is not None},
            done=True,
            expected=self.expected,
            left_out=self.left_out,
        )
