"""How far each folder of a mailbox has been read, as it is stored in a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Self

from penstock.sources.protocol import Checkpoint, Cursor
from penstock.sources.reading.times import iso, parse_time

VERSION: Final = 1


@dataclass(slots=True)
class Progress:
    """`folders` has the link of each folder to go on from, by its id: `delta` between two passes, `next` in
    the middle of one. `done` are those that this pass has read. `began` is when it did, `before` when the
    last complete pass did."""

    began: datetime
    before: datetime | None = None
    folders: dict[str, dict[str, Any]] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    left_out: int = 0

    @classmethod
    def of(cls, cursor: Cursor) -> Self:
        now = datetime.now(UTC)
        stored = cursor.value if isinstance(cursor.value, Mapping) else {}
        folders = stored.get("folders")
        if stored.get("v") != VERSION or not isinstance(folders, Mapping):
            return cls(now)
        known = {str(key): dict(value) for key, value in folders.items() if isinstance(value, Mapping)}
        if not cursor.is_resumed:
            return cls(now, parse_time(stored.get("began")), known)
        return cls(
            parse_time(stored.get("began")) or now,
            parse_time(stored.get("before")),
            known,
            [str(each) for each in stored.get("done") or ()],
            int(stored.get("left_out") or 0),
        )

    def checkpoint(self) -> Checkpoint:
        """In the middle of the pass."""
        value = {
            "v": VERSION,
            "began": iso(self.began),
            "before": iso(self.before),
            "folders": self.folders,
            "done": self.done,
            "left_out": self.left_out,
        }
        return self._checkpoint({name: each for name, each in value.items() if each is not None})

    def finished(self) -> Checkpoint:
        """At its end; folders that are no longer read are forgotten."""
        folders = {each: self.folders[each] for each in self.done}
        return self._checkpoint({"v": VERSION, "began": iso(self.began), "folders": folders}, done=True)

    def _checkpoint(self, value: dict[str, Any], *, done: bool = False) -> Checkpoint:
        # A copy: this object moves on while the checkpoint is being written.
        copied = {**value, "folders": {key: dict(each) for key, each in value["folders"].items()}}
        if "done" in copied:
            copied["done"] = list(copied["done"])
        return Checkpoint(cursor=copied, done=done, left_out=self.left_out, keeps_unseen=True)
