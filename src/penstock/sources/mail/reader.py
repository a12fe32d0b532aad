"""Reads a mailbox as a source: its one stream is `mail`, and its items are attachments and texts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

from penstock.sources.mail.items import MailItems
from penstock.sources.mail.known import MailMemory, NoMemory, ToRestore
from penstock.sources.mail.mailbox import Arrived, Left, Mailbox
from penstock.sources.mail.message import Mail
from penstock.sources.mail.rules_of import MailRules
from penstock.sources.protocol import Cursor, Failed, Item, SyncEvent
from penstock.sources.reading.records import RecordUnusable
from penstock.sources.responses import CallRejected

STREAM: Final = "mail"
AT_ONCE: Final = 4
"""Mails fetched at a time."""
MAIL_GONE: Final = "mail_gone"
GONE: Final = "the mail, or this part of it, is no longer in the mailbox"


class MailReader:
    """Mails that left the mailbox are not reported: their documents stay; decision 0030."""

    streams: Sequence[str] = (STREAM,)

    def __init__(
        self,
        mailbox: Mailbox,
        *,
        kind: str,
        rules: MailRules,
        attachments: bool = True,
        mail_text: bool = False,
        largest: int,
        memory: MailMemory | None = None,
    ) -> None:
        self._mailbox = mailbox
        self._memory = memory or NoMemory()
        self._items = MailItems(
            kind=kind, rules=rules, attachments=attachments, mail_text=mail_text, largest=largest
        )

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        async for found in self._restored():
            yield found
        waiting: dict[str, None] = {}
        async for event in self._mailbox.sync_since(cursor):
            match event:
                case Arrived(message_id):
                    waiting[message_id] = None
                    if len(waiting) == AT_ONCE:
                        for found in await self._fetched(list(waiting)):
                            yield found
                        waiting.clear()
                case Left(message_id):
                    waiting.pop(message_id, None)
                case _:
                    for found in await self._fetched(list(waiting)):
                        yield found
                    waiting.clear()
                    yield event

    async def _restored(self) -> AsyncIterator[SyncEvent]:
        """What a person restored since the last sync; an item whose mail is gone fails, saying so."""
        wanted: dict[str, list[ToRestore]] = {}
        for each in await self._memory.to_restore():
            wanted.setdefault(each.message_id, []).append(each)
        for message_id, items in wanted.items():
            events = await self._fetched([message_id])
            for event in events:
                yield event
            given = {event.id for event in events if isinstance(event, Item | Failed)}
            refused = next((event for event in events if isinstance(event, Failed)), None)
            for each in items:
                if each.item_id not in given:
                    code, message = (MAIL_GONE, GONE) if refused is None else (refused.code, refused.message)
                    yield Failed(id=each.item_id, code=code, message=message)

    async def _fetched(self, message_ids: Sequence[str]) -> Sequence[SyncEvent]:
        """The items of these mails, in their order; all requests have ended when this returns or raises."""
        tasks = [asyncio.create_task(self._fetch(each)) for each in message_ids]
        try:
            mails = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        events: list[SyncEvent] = []
        there = [mail for mail in mails if isinstance(mail, Mail)]
        known = iter(await self._memory.about(there))
        for mail in mails:
            match mail:
                case Mail():
                    events += self._items.of(mail, next(known))
                case Failed():
                    events.append(mail)
        return events

    async def _fetch(self, message_id: str) -> Mail | Failed | None:
        try:
            return await self._mailbox.fetch_message(message_id)
        except CallRejected as rejected:
            return Failed(id=message_id, code=rejected.error or rejected.code, message=rejected.message)
        except RecordUnusable as wrong:
            return Failed(id=message_id, code="record_unusable", message=str(wrong), path=wrong.path)
