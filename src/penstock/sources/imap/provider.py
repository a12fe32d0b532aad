"""The provider of plain mailboxes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.sources.imap.server import server_of
from penstock.sources.mail.config import folders_of, only, switch
from penstock.sources.mail.opening import open_mails
from penstock.sources.mail.relevance import RELEVANCE, relevance_of

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.imap.mailbox import ImapMailbox
    from penstock.sources.mail.reader import MailReader
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.oauth.app import OAuthApp
    from penstock.sources.protocol import OpenSource


class ImapProvider:
    """One mailbox of any mail server; its password is in the vault."""

    kind: ClassVar[str] = "imap"
    title: ClassVar[str] = "IMAP"
    maps: ClassVar[Mapping[str, FieldMap]] = {}

    def oauth(self, settings: Settings) -> OAuthApp | None:
        return None

    def account_of(self, config: Mapping[str, Any]) -> str:
        return server_of(config).account

    def place_of(self, config: Mapping[str, Any]) -> str:
        return server_of(config).place

    def host_of(self, config: Mapping[str, Any]) -> str:
        return server_of(config).host

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        names = ("host", "port", "user", "security", "ca", "folders", "mail_text")
        only(self.title, config, *names, *RELEVANCE)
        server = server_of(config)
        checked: dict[str, Any] = {
            "host": server.host,
            "port": server.port,
            "user": server.user,
            "security": server.security,
            "folders": folders_of(config),
            "mail_text": switch(config, "mail_text", default=False),
            **relevance_of(config),
        }
        if server.ca is not None:
            checked["ca"] = server.ca
        return checked

    def open(self, source: OpenSource) -> AbstractAsyncContextManager[MailReader]:
        return open_mails(self.kind, source, self.open_mailbox(source))

    @asynccontextmanager
    async def open_mailbox(self, source: OpenSource) -> AsyncIterator[ImapMailbox]:
        from penstock.sources.imap.mailbox import ImapMailbox
        from penstock.sources.imap.session import open_session

        server, settings = server_of(source.config), source.settings
        password = source.password or ""
        mailbox = ImapMailbox(
            lambda: open_session(server, password, allow_private=settings.allow_private_addresses),
            folders=folders_of(source.config),
            user=server.user,
            look_back=timedelta(days=settings.mail_look_back_days),
            most=settings.mail_initial_sync_max_messages,
            largest=settings.max_upload_bytes,
        )
        try:
            yield mailbox
        finally:
            await mailbox.close()
