"""The provider of Outlook."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.sources.mail.config import folders_of, mailbox_of, only, switch
from penstock.sources.mail.opening import open_mails
from penstock.sources.mail.relevance import RELEVANCE, relevance_of

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.mail.reader import MailReader
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.oauth.app import OAuthApp
    from penstock.sources.outlook.mailbox import OutlookMailbox
    from penstock.sources.protocol import OpenSource


class OutlookProvider:
    """One mailbox of Microsoft 365 or outlook.com: the account's own, or one that is shared with it."""

    kind: ClassVar[str] = "outlook"
    title: ClassVar[str] = "Outlook"
    maps: ClassVar[Mapping[str, FieldMap]] = {}

    def oauth(self, settings: Settings) -> OAuthApp | None:
        from penstock.sources.oauth.built_in import oauth_app

        return oauth_app(settings, self.kind)

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        only(self.title, config, "folders", "mailbox", "mail_text", *RELEVANCE)
        checked: dict[str, Any] = {
            "folders": folders_of(config),
            "mail_text": switch(config, "mail_text", default=False),
            **relevance_of(config),
        }
        if (mailbox := mailbox_of(config)) is not None:
            checked["mailbox"] = mailbox
        return checked

    def open(self, source: OpenSource) -> AbstractAsyncContextManager[MailReader]:
        return open_mails(self.kind, source, self.open_mailbox(source))

    @asynccontextmanager
    async def open_mailbox(self, source: OpenSource) -> AsyncIterator[OutlookMailbox]:
        """The mailbox itself, for subscriptions."""
        from penstock.sources.outlook.graph import open_graph
        from penstock.sources.outlook.mailbox import OutlookMailbox

        shared = mailbox_of(source.config)
        async with open_graph(source, shared) as graph:
            yield OutlookMailbox(
                graph,
                folders=folders_of(source.config),
                mailbox=shared,
                look_back=timedelta(days=source.settings.mail_look_back_days),
                most=source.settings.mail_initial_sync_max_messages,
            )
