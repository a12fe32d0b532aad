"""Google Drive's part of the world: documents, sheets, files, folders, a shortcut, and a log of changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Final

from penstock.simulators.providers.world import notes
from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.companies import Person
from penstock.simulators.providers.world.pdf import make_pdf

DOC: Final = "application/vnd.google-apps.document"
SHEET: Final = "application/vnd.google-apps.spreadsheet"
FOLDER: Final = "application/vnd.google-apps.folder"
SHORTCUT: Final = "application/vnd.google-apps.shortcut"
PDF: Final = "application/pdf"
TEXT: Final = "text/plain"
ROOT: Final = "0AHSimulatedRootPVA"
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(slots=True)
class DriveFile:
    """One file; its text is made from `seed` when it is read, unless it was set."""

    id: str
    name: str
    mime: str
    created: datetime
    modified: datetime
    seed: int
    person: Person | None = None
    parent: str = ROOT
    text: str | None = None
    content: bytes | None = None
    version: int = 1
    trashed: bool = False
    target: str | None = None
    """The file a shortcut points to."""

    @property
    def google(self) -> bool:
        """Whether it is one of Google's own formats, which are exported and never downloaded."""
        return self.mime.startswith("application/vnd.google-apps.")


@dataclass(frozen=True, slots=True)
class DriveChange:
    """An entry of the log of changes."""

    number: int
    time: datetime
    file_id: str
    removed: bool


@dataclass(slots=True)
class Drive:
    """One person's Drive."""

    clock: SimulatedClock
    anchor: datetime
    files: dict[str, DriveFile] = field(default_factory=dict)
    changes: list[DriveChange] = field(default_factory=list)
    revision: int = 0
    ids: Random = field(default_factory=lambda: Random(0))

    def add(
        self, name: str, mime: str = DOC, *, text: str | None = None, content: bytes | None = None
    ) -> DriveFile:
        now = self.clock.now()
        added = DriveFile(self.new_id(), name, mime, now, now, 0, text=text or "", content=content)
        self.files[added.id] = added
        self._log(added.id)
        return added

    def change(self, file_id: str, *, text: str | None = None, name: str | None = None) -> DriveFile:
        """New text or a new name; both count as a modification."""
        changed = self.files[file_id]
        if text is not None:
            changed.text, changed.content = text, None
        changed.name = name or changed.name
        changed.modified = self.clock.now()
        changed.version += 2
        self._log(file_id)
        return changed

    def trash(self, file_id: str) -> DriveFile:
        """Move it to the bin: files.list shows it with trashed=true, the modified time stays."""
        changed = self.files[file_id]
        changed.trashed = True
        changed.version += 1
        self._log(file_id)
        return changed

    def delete(self, file_id: str) -> None:
        """Delete it for good: only the log of changes still knows it."""
        del self.files[file_id]
        self._log(file_id, removed=True)

    def newest_first(self) -> Iterable[DriveFile]:
        return sorted(self.files.values(), key=lambda each: (each.modified, each.id), reverse=True)

    def text_of(self, file: DriveFile) -> str:
        """The text of a document, the CSV of a sheet, or the text a PDF was made of."""
        if file.text is not None:
            return file.text
        if file.person is None:
            return ""
        random = Random(file.seed)
        if file.mime == SHEET:
            return notes.sheet(random, file.person)
        return notes.document(random, file.person, self.anchor, file.name)

    def bytes_of(self, file: DriveFile) -> bytes:
        """The content of a file that is not in one of Google's formats."""
        if file.content is not None:
            return file.content
        text = self.text_of(file)
        return make_pdf(text.splitlines()) if file.mime == PDF else text.encode()

    def new_id(self) -> str:
        return "1" + "".join(self.ids.choices(_ALPHABET, k=32))

    def _log(self, file_id: str, *, removed: bool = False) -> None:
        self.revision += 1
        self.changes.append(DriveChange(len(self.changes) + 1, self.clock.now(), file_id, removed))
