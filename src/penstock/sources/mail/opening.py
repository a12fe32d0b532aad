"""Opens a mailbox that is one stream of mails, as its source's settings say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from penstock.sources.mail.config import switch
from penstock.sources.mail.rules_of import rules_for

if TYPE_CHECKING:
    from penstock.sources.mail.mailbox import Mailbox
    from penstock.sources.mail.reader import MailReader
    from penstock.sources.protocol import OpenSource


@asynccontextmanager
async def open_mails(
    kind: str, source: OpenSource, opened: AbstractAsyncContextManager[Mailbox]
) -> AsyncIterator[MailReader]:
    """A reader over the mailbox, which is closed after it."""
    from penstock.sources.mail.reader import MailReader

    async with opened as mailbox:
        yield MailReader(
            mailbox,
            kind=kind,
            rules=rules_for(source.config),
            mail_text=switch(source.config, "mail_text", default=False),
            largest=source.settings.max_upload_bytes,
            memory=source.memory,
        )
