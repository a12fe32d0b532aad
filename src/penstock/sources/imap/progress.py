"""How far each folder of a mailbox has been read, as it is stored in a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Self

from penstock.sources.protocol import Checkpoint, Cursor
from penstock.sources.reading.times import iso, parse_time

VERSION: Final = 1


@dataclass(slots=True, kw_only=True)
class FolderProgress:
    """Mails below `uidnext` have been read. In the middle of a look back, `below` is the number below which
    mails are still to be read, from `since` on; `seen` counts those of a first pass, which has a limit."""

    uidvalidity: int
    uidnext: int
    below: int | None = None
    since: str | None = None
    is_first: bool = False
    seen: int = 0

    @classmethod
    def of(cls, stored: Any) -> Self | None:
        names = ("uidvalidity", "uidnext", "below", "since", "is_first", "seen")
        if not isinstance(stored, Mapping) or not {"uidvalidity", "uidnext"} <= stored.keys():
            return None
        return cls(**{name: stored[name] for name in names if name in stored})

    def stored(self) -> dict[str, Any]:
        value: dict[str, Any] = {"uidvalidity": self.uidvalidity, "uidnext": self.uidnext}
        if self.below is not None:
            value |= {"below": self.below, "since": self.since, "is_first": self.is_first, "seen": self.seen}
        return value


@dataclass(slots=True, kw_only=True)
class ImapProgress:
    """`done` are the folders that this pass has read. `began` is when it did, `before` when the last complete
    pass did."""

    began: datetime
    before: datetime | None = None
    folders: dict[str, FolderProgress] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    left_out: int = 0

    @classmethod
    def of(cls, cursor: Cursor) -> Self:
        now = datetime.now(UTC)
        stored = cursor.value if isinstance(cursor.value, Mapping) else {}
        folders = stored.get("folders")
        if stored.get("v") != VERSION or not isinstance(folders, Mapping):
            return cls(began=now)
        known = {str(name): each for name, value in folders.items() if (each := FolderProgress.of(value))}
        if not cursor.is_resumed:
            return cls(began=now, before=parse_time(stored.get("began")), folders=known)
        return cls(
            began=parse_time(stored.get("began")) or now,
            before=parse_time(stored.get("before")),
            folders=known,
            done=[str(each) for each in stored.get("done") or ()],
            left_out=int(stored.get("left_out") or 0),
        )

    def checkpoint(self) -> Checkpoint:
        """In the middle of the pass."""
        value = {
            "v": VERSION,
            "began": iso(self.began),
            "before": iso(self.before),
            "folders": {name: each.stored() for name, each in self.folders.items()},
            "done": list(self.done),
            "left_out": self.left_out,
        }
        cursor = {name: each for name, each in value.items() if each is not None}
        return Checkpoint(cursor=cursor, left_out=self.left_out, keeps_unseen=True)

    def finished(self) -> Checkpoint:
        """At its end; folders that are no longer read are forgotten."""
        folders = {name: self.folders[name].stored() for name in self.done if name in self.folders}
        cursor = {"v": VERSION, "began": iso(self.began), "folders": folders}
        return Checkpoint(cursor=cursor, done=True, left_out=self.left_out, keeps_unseen=True)
