"""A mailbox at an IMAP server: new mails by their numbers, mails by their structure, parts in chunks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from penstock.sources.errors import ProviderUnavailable
from penstock.sources.imap.decoding import decoder_of
from penstock.sources.imap.limits import CHUNK, DESCRIPTION, SLACK
from penstock.sources.imap.messages import ITEMS, content_in, is_draft, mail_of, mail_parts, text_parts
from penstock.sources.imap.progress import FolderProgress, ImapProgress
from penstock.sources.imap.session import ImapFolder, Session
from penstock.sources.imap.structure import MailPart
from penstock.sources.imap.wire import PROVIDER
from penstock.sources.mail.attachments import AttachmentUnreadable
from penstock.sources.mail.mailbox import Arrived, MailEvent
from penstock.sources.mail.message import Mail
from penstock.sources.protocol import Cursor, Failed

PAGE: Final = 50
OVERLAP: Final = timedelta(days=1)
"""How far a new beginning reaches back before the last complete pass, or before the given day: SINCE
compares days, and does not say of which time zone."""
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

OpenSession: TypeAlias = Callable[[], AbstractAsyncContextManager[Session]]


class ImapMailbox:
    """One connection lists and describes mails, a second one, opened when it is needed, reads attachments."""

    def __init__(
        self,
        open_session: OpenSession,
        *,
        folders: Sequence[str],
        user: str,
        look_back: timedelta,
        most: int,
        largest: int,
    ) -> None:
        self._open_session = open_session
        self._names = folders
        self._user = user
        self._look_back = look_back
        self._most = most
        self._largest = largest
        self._stack = AsyncExitStack()
        self._sessions: dict[str, Session] = {}
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        await self._stack.aclose()

    async def sync_since(self, cursor: Cursor) -> AsyncIterator[MailEvent]:
        at = ImapProgress.of(cursor)
        session = await self._session("mails")
        for name in self._names:
            if name in at.done:
                continue
            folder = await session.examine_again(name)
            if folder is None:
                yield Failed(
                    id=None, code="folder_missing", message=f"there is no folder {name!r}", path="folders"
                )
                continue
            async for event in self._new_mails(session, folder, at):
                yield event
        yield at.finished()

    async def _new_mails(
        self, session: Session, folder: ImapFolder, at: ImapProgress
    ) -> AsyncIterator[MailEvent]:
        known = at.folders.get(folder.name)
        if known is None:
            known = self._begun(folder, at.began - self._look_back, is_first=True)
        elif known.uidvalidity != folder.uidvalidity:
            # The server numbered its mails again: nothing tells which of them are known but the mails.
            is_first = known.is_first or at.before is None
            since = at.began - self._look_back if is_first or at.before is None else at.before
            known = self._begun(folder, since, is_first=is_first)
        at.folders[folder.name] = known
        if known.below is not None:
            async for event in self._look_back_from(session, folder, known, at):
                yield event
        found = await self._search(session, folder, f"UID {max(known.uidnext, 1)}:*")
        # `n:*` names the last mail even if its number is smaller.
        for page in _pages([each for each in found if each >= known.uidnext]):
            for uid in page:
                yield Arrived(_id(folder, uid))
            known.uidnext = page[-1] + 1
            yield at.checkpoint()
        at.done.append(folder.name)
        yield at.checkpoint()

    def _begun(self, folder: ImapFolder, since: datetime, *, is_first: bool) -> FolderProgress:
        day = since - OVERLAP
        return FolderProgress(
            uidvalidity=folder.uidvalidity,
            uidnext=max(folder.uidnext, 1),
            below=max(folder.uidnext, 1),
            since=f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}",
            is_first=is_first,
        )

    async def _look_back_from(
        self, session: Session, folder: ImapFolder, known: FolderProgress, at: ImapProgress
    ) -> AsyncIterator[MailEvent]:
        """The most recent mails first; of a first pass as many as the limit allows."""
        assert known.below is not None
        found = await self._search(session, folder, f"SINCE {known.since}")
        left = [each for each in reversed(found) if each < known.below]
        if known.is_first:
            room = max(0, self._most - known.seen)
            at.left_out += max(0, len(left) - room) if known.seen == 0 else 0
            left = left[:room]
        for page in _pages(left):
            for uid in page:
                yield Arrived(_id(folder, uid))
            known.below, known.seen = page[-1], known.seen + len(page)
            yield at.checkpoint()
        known.below = None

    async def fetch_message(self, message_id: str) -> Mail | None:
        uidvalidity, uid, name = _split(message_id)
        session = await self._session("mails")
        async with session.on(name) as (held, folder):
            if folder is None or folder.uidvalidity != uidvalidity:
                return None
            found = await held.fetch(uid, ITEMS, limit=DESCRIPTION)
            if found is None or is_draft(found):
                return None
            parts = mail_parts(found)
            texts: dict[MailPart, bytes] = {}
            for part, most in text_parts(parts).items():
                items = f"UID BODY.PEEK[{part.section}]<0.{most}>"
                answer = await held.fetch(uid, items, limit=most + SLACK)
                texts[part] = b"" if answer is None else content_in(answer)
        return mail_of(
            message_id,
            found,
            folder=name,
            owner=self._user,
            parts=parts,
            texts=texts,
            fetch=lambda part: self._content(name, uidvalidity, uid, part),
        )

    @asynccontextmanager
    async def _content(
        self, name: str, uidvalidity: int, uid: int, part: MailPart
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        yield self._pieces(name, uidvalidity, uid, part)

    async def _pieces(self, name: str, uidvalidity: int, uid: int, part: MailPart) -> AsyncIterator[bytes]:
        """The content in chunks, decoded; the server ends it with a chunk that is not full."""
        session = await self._session("contents")
        decoder, offset = decoder_of(part.encoding), 0
        # Base64 has 1.37 times the bytes of the content, quoted-printable up to three times.
        most = self._largest * (3 if part.encoding == "quoted-printable" else 1.5) + CHUNK
        while True:
            async with session.on(name) as (held, folder):
                found = None
                if folder is not None and folder.uidvalidity == uidvalidity:
                    items = f"UID BODY.PEEK[{part.section}]<{offset}.{CHUNK}>"
                    found = await held.fetch(uid, items, limit=CHUNK + SLACK)
            if found is None:
                raise AttachmentUnreadable(PROVIDER, "gone")
            piece = content_in(found)
            offset += len(piece)
            if offset > most:
                raise AttachmentUnreadable(PROVIDER, "file_too_large")
            if content := decoder.add(piece):
                yield content
            if len(piece) < CHUNK:
                break
        if content := decoder.end():
            yield content

    async def _search(self, session: Session, folder: ImapFolder, criteria: str) -> Sequence[int]:
        async with session.on(folder.name) as (held, now):
            if now is None or now.uidvalidity != folder.uidvalidity:
                raise ProviderUnavailable(PROVIDER, "a folder was replaced while it was read")
            return await held.search(criteria)

    async def _session(self, purpose: str) -> Session:
        async with self._opening:
            if purpose not in self._sessions:
                self._sessions[purpose] = await self._stack.enter_async_context(self._open_session())
            return self._sessions[purpose]


def _pages(uids: Sequence[int]) -> Sequence[Sequence[int]]:
    return [uids[at : at + PAGE] for at in range(0, len(uids), PAGE)]


def _id(folder: ImapFolder, uid: int) -> str:
    return f"{folder.uidvalidity}/{uid}/{folder.name}"


def _split(message_id: str) -> tuple[int, int, str]:
    uidvalidity, uid, name = message_id.split("/", 2)
    return int(uidvalidity), int(uid), name
