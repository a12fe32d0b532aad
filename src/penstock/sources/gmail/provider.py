"""The provider of Gmail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.errors import InvalidArgument
from penstock.source_settings import provider_settings
from penstock.sources.mail.config import switch
from penstock.sources.mail.relevance import RELEVANCE, relevance_of
from penstock.sources.mail.rules_of import rules_for
from penstock.sources.reading.provider import ConnectedProvider

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls
    from penstock.sources.gmail.mailbox import GmailMailbox
    from penstock.sources.mail.mailbox import NotifiedMailbox
    from penstock.sources.protocol import OpenSource, Reader

DEFAULTS: Final = {"threads": True, "attachments": True, "mail_text": False}


class GmailProvider(ConnectedProvider):
    """One mailbox: its threads as documents, and the attachments of its mails."""

    kind: ClassVar[str] = "gmail"
    title: ClassVar[str] = "Gmail"
    package: ClassVar[str] = __package__ or ""

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        self._known(config, "bindings", *DEFAULTS, *RELEVANCE)
        chosen = {name: switch(config, name, default=default) for name, default in DEFAULTS.items()}
        if not any(chosen.values()):
            raise InvalidArgument(
                "a source with neither threads nor attachments nor mail_text reads nothing",
                "threads",
                "Set one of them to true",
            )
        given = {name: value for name, value in chosen.items() if name in config}
        return {**given, **relevance_of(config), **self._bindings_in(config)}

    def most_bytes(self, source: OpenSource) -> int:
        """Attachments come as base64."""
        return source.settings.max_upload_bytes // 3 * 4 + 65_536

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[Reader]:
        from penstock.sources.gmail.reader import GmailReader
        from penstock.sources.gmail.streams import GmailStreams
        from penstock.sources.mail.reader import MailReader

        chosen = {name: switch(source.config, name, default=each) for name, each in DEFAULTS.items()}
        async with self._open_calls(source) as calls:
            threads = mails = None
            if chosen["threads"]:
                threads = GmailReader(calls, most=source.settings.gmail_initial_sync_max_threads)
            # MCP servers know neither headers nor a history: without REST there are only threads.
            if (chosen["attachments"] or chosen["mail_text"]) and calls.has("gmail.messages.list"):
                mails = MailReader(
                    self._mailbox(source, calls),
                    kind=self.kind,
                    rules=rules_for(source.config),
                    attachments=chosen["attachments"],
                    mail_text=chosen["mail_text"],
                    largest=source.settings.max_upload_bytes,
                    memory=source.memory,
                )
            yield GmailStreams(threads, mails)

    @asynccontextmanager
    async def open_mailbox(self, source: OpenSource) -> AsyncIterator[NotifiedMailbox]:
        """The mailbox itself, for notifications."""
        async with self._open_calls(source) as calls:
            yield self._mailbox(source, calls)

    @asynccontextmanager
    async def _open_calls(self, source: OpenSource) -> AsyncIterator[Calls]:
        version = provider_settings(source.settings, self.kind).api_version
        async with self.calls(source, version=version) as calls:
            yield calls

    def _mailbox(self, source: OpenSource, calls: Calls) -> GmailMailbox:
        from penstock.sources.gmail.mailbox import GmailMailbox

        settings = source.settings
        return GmailMailbox(
            calls,
            look_back=timedelta(days=settings.mail_look_back_days),
            most=settings.mail_initial_sync_max_messages,
        )
