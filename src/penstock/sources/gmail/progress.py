"""How far a Gmail mailbox has been read, as it is stored in a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, Self

from penstock.sources.protocol import Checkpoint, Cursor
from penstock.sources.reading.times import iso, parse_time

VERSION: Final = 1


@dataclass(slots=True, kw_only=True)
class GmailProgress:
    """`history` is the id that a pass starts from, `following` the one that the next pass starts from.

    In the middle of a pass `page` is the token of the page to read. `began` is when the pass did, `before`
    when the last complete one did. A list reads what arrived after `since`.
    """

    began: datetime
    before: datetime | None = None
    phase: Literal["list", "history"] = "history"
    history: str | None = None
    following: str | None = None
    page: Any = None
    since: int = 0
    is_first: bool = False
    seen: int = 0
    left_out: int = 0

    @classmethod
    def of(cls, cursor: Cursor) -> Self:
        now = datetime.now(UTC)
        stored = cursor.value if isinstance(cursor.value, Mapping) else {}
        if stored.get("v") != VERSION:
            return cls(began=now)
        if not cursor.is_resumed:
            return cls(began=now, before=parse_time(stored.get("began")), history=stored.get("history"))
        return cls(
            began=parse_time(stored.get("began")) or now,
            before=parse_time(stored.get("before")),
            phase="list" if stored.get("phase") == "list" else "history",
            history=stored.get("history"),
            following=stored.get("following"),
            page=stored.get("page"),
            since=int(stored.get("since") or 0),
            is_first=stored.get("is_first") is True,
            seen=int(stored.get("seen") or 0),
            left_out=int(stored.get("left_out") or 0),
        )

    def checkpoint(self) -> Checkpoint:
        """In the middle of the pass."""
        value = {
            "v": VERSION,
            "began": iso(self.began),
            "before": iso(self.before),
            "phase": self.phase,
            "history": self.history,
            "following": self.following,
            "page": self.page,
            "since": self.since,
            "is_first": self.is_first,
            "seen": self.seen,
            "left_out": self.left_out,
        }
        cursor = {name: each for name, each in value.items() if each is not None}
        return Checkpoint(cursor=cursor, left_out=self.left_out, keeps_unseen=True)

    def finished(self) -> Checkpoint:
        """At its end."""
        cursor = {"v": VERSION, "began": iso(self.began), "history": self.history}
        return Checkpoint(cursor=cursor, done=True, left_out=self.left_out, keeps_unseen=True)
