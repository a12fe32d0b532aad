"""The services that commands, the API and workers share; each is imported and made when it is first used."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.db.tenancy import TenantPool
from penstock.settings import Settings

if TYPE_CHECKING:
    import httpx2

    from penstock.accounts import AccountDeletions, Accounts, CompletionWebhooks, KeptReplies
    from penstock.channels import Messages
    from penstock.index import Index
    from penstock.intake import Blobs, Documents, Intake, WebhookSources
    from penstock.pipeline.outages import Outages
    from penstock.product.embedders import Embedders
    from penstock.search import Search
    from penstock.vault import Secrets


class Services:
    """`connect` comes first and `close` last; `close` also closes whatever was made in between."""

    tenants: TenantPool

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opened = AsyncExitStack()

    async def connect(self, url: str) -> None:
        """Open the pool of tenants' transactions; it connects with the first of them."""
        settings = self.settings
        self.tenants = await TenantPool.open(
            url,
            application_name="penstock documents",
            size=max(settings.pool_size, settings.ingest_concurrency + 5),
            statement_cache=settings.statement_cache,
            quotas=settings.quotas,
        )
        self._opened.push_async_callback(self.tenants.close)

    async def close(self) -> None:
        await self._opened.aclose()

    @cached_property
    def accounts(self) -> Accounts:
        from penstock.accounts import Accounts

        return Accounts(self.tenants, self.settings, self._check_embedder)

    def _check_embedder(self, name: str) -> None:
        from penstock.pipeline.embed.registry import check_configured

        check_configured(name, self.settings)

    @cached_property
    def deletions(self) -> AccountDeletions:
        from penstock.accounts import AccountDeletions

        return AccountDeletions(self.tenants, self.settings)

    @cached_property
    def replies(self) -> KeptReplies:
        from penstock.accounts import KeptReplies

        return KeptReplies(self.tenants)

    @cached_property
    def blobs(self) -> Blobs:
        """Making it blocks for a moment: a folder is created, or certificates are read."""
        from penstock.intake import Blobs

        return Blobs.open(self.settings)

    @cached_property
    def secrets(self) -> Secrets:
        """Making it blocks for a moment: the vault's key is read from a file."""
        from penstock.vault import Secrets, Vault

        return Secrets(Vault.from_settings(self.settings))

    @cached_property
    def intake(self) -> Intake:
        from penstock.intake import Intake
        from penstock.pipeline.version import CODE_VERSION

        return Intake(self.tenants, self.blobs, self.settings, CODE_VERSION)

    @cached_property
    def documents(self) -> Documents:
        from penstock.intake import Documents

        return Documents(self.tenants, self.blobs, self._check_embedder)

    @cached_property
    def webhooks(self) -> WebhookSources:
        from penstock.intake import WebhookSources

        return WebhookSources(self.tenants, self.intake, self.secrets)

    @cached_property
    def completion_webhooks(self) -> CompletionWebhooks:
        from penstock.accounts import CompletionWebhooks

        return CompletionWebhooks(
            self.tenants, self.secrets, allow_private=self.settings.allow_private_addresses
        )

    @cached_property
    def embedders(self) -> Embedders:
        from penstock.product.embedders import Embedders

        made = Embedders(self.settings, self.tenants.pool)
        self._opened.push_async_callback(made.close)
        return made

    @cached_property
    def index(self) -> Index:
        from penstock.index import open_index

        made = open_index(self.settings, self.tenants)
        self._opened.push_async_callback(made.close)
        return made

    @cached_property
    def search(self) -> Search:
        from penstock.search import Search

        return Search(
            self.tenants, self.embedders, self.index, embed_seconds=self.settings.search_embed_seconds
        )

    @cached_property
    def outages(self) -> Outages:
        from penstock.pipeline.outages import Outages

        return Outages(
            self.tenants,
            self.embedders,
            fallback=self.settings.embedder_fallback,
            fallback_after=self.settings.embedder_fallback_after_seconds,
        )

    @cached_property
    def http(self) -> httpx2.AsyncClient:
        from penstock.net.outbound import open_client

        made = open_client(allow_private=self.settings.allow_private_addresses)
        self._opened.push_async_callback(made.aclose)
        return made

    @cached_property
    def messages(self) -> Messages:
        from penstock.channels import Messages

        return Messages(self.tenants)
