"""Exchange's part of the world: mailboxes with folders, mails that move, and a log of changes."""

from __future__ import annotations

import base64
import hashlib
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias
from uuid import UUID

from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.mime import SentMail

WELL_KNOWN: Final = {
    "inbox": "Inbox",
    "drafts": "Drafts",
    "sentitems": "Sent Items",
    "deleteditems": "Deleted Items",
    "archive": "Archive",
    "junkemail": "Junk Email",
    "outbox": "Outbox",
}
ChangeKind: TypeAlias = Literal["created", "updated", "deleted", "moved"]


@dataclass(slots=True, eq=False, repr=False)
class StoredMail:
    """A mail in a folder. `id` is another one after each move, `immutable_id` stays."""

    number: int
    id: str
    immutable_id: str
    sent: SentMail
    received: datetime
    folder: StoredFolder
    position: int
    """The change that brought it into its folder."""
    change: int
    read: bool = False
    conversation: str = ""

    @property
    def etag(self) -> str:
        return f'W/"{_short(f"{self.number}/{self.change}")}"'


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Change:
    """An entry of a folder's log; `id` is the mutable id that the mail had in this folder."""

    number: int
    at: datetime
    kind: ChangeKind
    item: StoredMail
    id: str


@dataclass(slots=True, eq=False, repr=False)
class StoredFolder:
    """A folder; `log` has all its changes, the oldest first."""

    id: str
    name: str
    well_known: str | None
    mailbox: StoredMailbox
    parent: str | None = None
    items: dict[int, StoredMail] = field(default_factory=dict)
    """By position."""
    log: list[Change] = field(default_factory=list)
    latest: dict[int, int] = field(default_factory=dict)
    """The last change of each mail, by the mail's number."""
    positions: list[int] = field(default_factory=list)

    def before(self, position: int | None) -> Iterator[StoredMail]:
        """Mails that came into the folder before this position, the newest first."""
        end = len(self.positions) if position is None else bisect_right(self.positions, position - 1)
        for at in range(end - 1, -1, -1):
            yield self.items[self.positions[at]]

    def changes_after(self, number: int) -> Iterator[Change]:
        for at in range(bisect_right(self.log, number, key=lambda each: each.number), len(self.log)):
            yield self.log[at]


Heard: TypeAlias = Callable[[StoredFolder, Change], None]


class StoredMailbox:
    """One mailbox, of a person or shared by several."""

    def __init__(self, address: str, name: str, clock: SimulatedClock, hear: Heard) -> None:
        self.address = address
        self.name = name
        self.clock = clock
        self.user_id = str(UUID(bytes=hashlib.sha256(address.encode()).digest()[:16]))
        self.folders: dict[str, StoredFolder] = {}
        self.named: dict[str, StoredFolder] = {}
        self.well_known: dict[str, StoredFolder] = {}
        self.items: dict[str, StoredMail] = {}
        """By both ids."""
        self.shared_with: set[str] = set()
        """Accounts that may read it with Mail.Read.Shared."""
        self.last = 0
        self._hear = hear
        for well_known, shown in WELL_KNOWN.items():
            self.add_folder(shown, well_known=well_known)

    def add_folder(
        self, name: str, *, well_known: str | None = None, parent: str | None = None
    ) -> StoredFolder:
        key = f"{self.address}/{well_known or name}/{len(self.folders)}"
        folder = StoredFolder("AQMkAD" + _short(key, 48), name, well_known, self, parent)
        self.folders[folder.id] = folder
        self.named[name.lower()] = folder
        if well_known is not None:
            self.well_known[well_known] = folder
        return folder

    def folder(self, name: str) -> StoredFolder | None:
        """By id, well-known name or the name that is shown."""
        wanted = name.lower()
        return self.folders.get(name) or self.well_known.get(wanted) or self.named.get(wanted)

    def deliver(
        self, sent: SentMail, folder: str = "inbox", *, at: datetime | None = None, read: bool = False
    ) -> StoredMail:
        """A new mail in a folder."""
        found, number = self._folder(folder), self.last + 1
        key = f"{self.address}/{number}"
        item = StoredMail(
            number,
            _mutable(key, 0),
            "AAkALgAAAAAAHYQD" + _short(key, 64),
            sent,
            at or self.clock.now(),
            found,
            number,
            number,
            read,
            _short(sent.header("References").partition(" ")[0] or sent.header("Message-ID"), 40),
        )
        self.items[item.id] = self.items[item.immutable_id] = item
        self._enter(item, found)
        return item

    def move(self, item_id: str, folder: str) -> StoredMail:
        """Into another folder, where it has another id."""
        item, to = self.items[item_id], self._folder(folder)
        self._leave(item, "moved")
        del self.items[item.id]
        item.id = _mutable(f"{self.address}/{item.number}", self.last)
        self.items[item.id] = item
        item.folder = to
        self._enter(item, to)
        return item

    def delete(self, item_id: str) -> StoredMail:
        """For good."""
        item = self.items[item_id]
        self._leave(item, "deleted")
        del self.items[item.id], self.items[item.immutable_id]
        return item

    def mark(self, item_id: str, *, read: bool = True) -> StoredMail:
        item = self.items[item_id]
        item.read = read
        self._log(item.folder, "updated", item)
        return item

    def _enter(self, item: StoredMail, folder: StoredFolder) -> None:
        item.position = self._log(folder, "created", item)
        folder.items[item.position] = item
        insort(folder.positions, item.position)

    def _leave(self, item: StoredMail, kind: ChangeKind) -> None:
        folder = item.folder
        del folder.items[item.position]
        at = bisect_right(folder.positions, item.position) - 1
        del folder.positions[at]
        self._log(folder, kind, item)

    def _log(self, folder: StoredFolder, kind: ChangeKind, item: StoredMail) -> int:
        self.last += 1
        change = Change(self.last, self.clock.now(), kind, item, item.id)
        folder.log.append(change)
        folder.latest[item.number] = item.change = self.last
        self._hear(folder, change)
        return self.last

    def _folder(self, name: str) -> StoredFolder:
        found = self.folder(name)
        if found is None:
            raise ValueError(f"there is no folder {name!r} in {self.address}; it has {', '.join(self.named)}")
        return found


class Exchange:
    """The mailboxes of an organisation; one is made when it is first named."""

    def __init__(self, clock: SimulatedClock) -> None:
        self.clock = clock
        self.mailboxes: dict[str, StoredMailbox] = {}
        self.listeners: list[Heard] = []

    def mailbox(self, address: str, name: str | None = None) -> StoredMailbox:
        key = address.lower()
        if key not in self.mailboxes:
            shown = name or key.partition("@")[0].replace(".", " ").title()
            self.mailboxes[key] = StoredMailbox(key, shown, self.clock, self._hear)
        return self.mailboxes[key]

    def share(self, address: str, *accounts: str) -> StoredMailbox:
        """A shared mailbox that these accounts may read."""
        mailbox = self.mailbox(address)
        mailbox.shared_with |= {account.lower() for account in accounts}
        return mailbox

    def _hear(self, folder: StoredFolder, change: Change) -> None:
        for listener in self.listeners:
            listener(folder, change)


def _mutable(key: str, moved: int) -> str:
    return "AAMkADNk" + _short(f"{key}@{moved}", 90) + "="


def _short(text: str, length: int = 24) -> str:
    """Letters that stand for a text, as the ids of Exchange look."""
    digest = hashlib.sha512(text.encode()).digest() + hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")[:length]
