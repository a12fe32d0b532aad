"""The services shared by commands, the API and workers; each is imported and created on first use."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.db.tenancy import TenantPool
from penstock.settings import Settings

if TYPE_CHECKING:
    import httpx2

    from penstock.accounts import AccountDeletions, Accounts, IdempotentReplies, InstallationKeys, Sessions
    from penstock.blobs.store import Blobs
    from penstock.documents.documents import Documents
    from penstock.documents.gates import Gates
    from penstock.documents.intake import Intake
    from penstock.documents.reindexes import Reindexes
    from penstock.embed.embedders import Embedders
    from penstock.index import Index
    from penstock.pipeline.outages import Outages
    from penstock.pipeline.page_images import PageImages
    from penstock.processes.messages import Messages
    from penstock.search import Search
    from penstock.search.reranking.ordering import Reranking
    from penstock.sources.clients.clients import Clients
    from penstock.sources.mail.subscribing import Subscribing
    from penstock.sources.mail.wake_ups import WakeUps
    from penstock.sources.oauth.app import OAuthApp
    from penstock.sources.oauth.broker import TokenBroker
    from penstock.sources.oauth.connecting import Connecting
    from penstock.sources.oauth.endpoint import OAuthEndpoints
    from penstock.sources.oauth.revoking import Revoking
    from penstock.sources.passwords import Passwords
    from penstock.sources.protocol import Provider
    from penstock.sources.registry import Providers
    from penstock.sources.sources import Sources
    from penstock.sources.webhook.webhook_source import WebhookSources
    from penstock.vault import Secrets
    from penstock.vault.parameters import ParameterStore
    from penstock.webhooks.completion import CompletionWebhooks
    from penstock.webhooks.google_push import GooglePush


class Services:
    """Call `connect` first and `close` last; `close` also closes everything created in between."""

    tenants: TenantPool

    own_providers: Mapping[str, Provider] | None = None
    """Sources of the program's own, by their kind."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opened = AsyncExitStack()

    async def connect(self, url: str) -> None:
        """Open the pool of tenants' transactions; it connects with the first of them."""
        settings = self.settings
        self._url = url
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
        from penstock.embed.registry import check_configured

        check_configured(name, self.settings)

    @cached_property
    def deletions(self) -> AccountDeletions:
        from penstock.accounts import AccountDeletions

        return AccountDeletions(self.tenants, self.settings)

    @cached_property
    def sessions(self) -> Sessions:
        from penstock.accounts import Sessions

        return Sessions(self.tenants)

    @cached_property
    def installation_keys(self) -> InstallationKeys:
        from penstock.accounts import InstallationKeys

        return InstallationKeys(self.tenants)

    @cached_property
    def replies(self) -> IdempotentReplies:
        from penstock.accounts import IdempotentReplies

        return IdempotentReplies(self.tenants)

    @cached_property
    def blobs(self) -> Blobs:
        """Creating it blocks for a moment: a folder is created, or certificates are read."""
        from penstock.blobs.store import Blobs

        return Blobs.open(self.settings)

    @cached_property
    def secrets(self) -> Secrets:
        """The master keys are read with the first secret, unless `secrets.keys` reads them before."""
        from penstock.vault import KeyRing, Secrets

        ring = KeyRing.from_settings(self.settings, self._url)
        outside = self.settings.secret_store == "ssm"  # noqa: S105  # a setting, not a secret
        return Secrets(ring, self.parameters, refresh_tokens_in_parameters=outside)

    @cached_property
    def parameters(self) -> ParameterStore:
        from penstock.vault.parameters import ParameterStore

        return ParameterStore(self.settings, self._url)

    @cached_property
    def intake(self) -> Intake:
        from penstock.documents.intake import Intake
        from penstock.pipeline.version import CODE_VERSION

        return Intake(self.tenants, self.blobs, self.settings, CODE_VERSION)

    @cached_property
    def documents(self) -> Documents:
        from penstock.documents.documents import Documents

        return Documents(self.tenants, lambda: self.blobs, self._check_embedder)

    @cached_property
    def reindexes(self) -> Reindexes:
        from penstock.documents.reindexes import Reindexes

        return Reindexes(
            self.tenants,
            self._check_embedder,
            price=self.settings.embedding_price_per_million_tokens,
            shard_documents=self.settings.reindex_shard_documents,
        )

    @cached_property
    def gates(self) -> Gates:
        from penstock.documents.gates import Gates

        return Gates(self.tenants)

    @cached_property
    def page_images(self) -> PageImages:
        """Its process starts with the first page that is drawn."""
        from penstock.pipeline.page_images import PageImages

        made = PageImages(self.settings, lambda: self.blobs)
        self._opened.push_async_callback(made.close)
        return made

    @cached_property
    def sources(self) -> Sources:
        from penstock.sources.sources import Sources

        return Sources(
            self.tenants,
            lambda: self.secrets,
            self.providers,
            lambda: self.connecting,
            self.settings,
            lambda: self.passwords,
        )

    @cached_property
    def passwords(self) -> Passwords:
        from penstock.sources.passwords import Passwords

        return Passwords(self.tenants, self.secrets)

    @cached_property
    def clients(self) -> Clients:
        from penstock.sources.clients.clients import Clients

        return Clients(self.tenants)

    @cached_property
    def providers(self) -> Providers:
        from penstock.sources.registry import Providers

        return Providers(self.settings, self.own_providers)

    @cached_property
    def webhooks(self) -> WebhookSources:
        from penstock.sources.webhook.webhook_source import WebhookSources

        return WebhookSources(self.tenants, self.sources, self.secrets)

    @cached_property
    def oauth_endpoints(self) -> OAuthEndpoints:
        from penstock.sources.oauth.endpoint import OAuthEndpoints

        made = OAuthEndpoints(allow_private=self.settings.allow_private_addresses)
        self._opened.push_async_callback(made.close)
        return made

    def oauth_app(self, kind: str) -> OAuthApp:
        """How a source of this kind is connected."""
        from penstock.errors import InvalidArgument

        app = self.providers.get(kind).oauth(self.settings)
        if app is None:
            raise InvalidArgument(
                f"a {kind} source needs no grant, so it is not connected",
                "provider",
                f"Add it instead: penstock source add {kind}",
            )
        return app

    @cached_property
    def tokens(self) -> TokenBroker:
        """Gives the access tokens of connected sources."""
        from penstock.sources.oauth.broker import TokenBroker
        from penstock.sources.oauth.token_store import TokenStore

        made = TokenBroker(
            tenants=self.tenants,
            open_pool=self._refresh_pool,
            store=TokenStore(self.secrets),
            endpoints=self.oauth_endpoints,
            app_of=self.oauth_app,
            skew_seconds=self.settings.token_refresh_skew_seconds,
        )
        self._opened.push_async_callback(made.close)
        return made

    async def _refresh_pool(self) -> TenantPool:
        return await TenantPool.open(
            self._url,
            application_name="penstock token refresh",
            size=4,
            statement_cache=self.settings.statement_cache,
        )

    @cached_property
    def connecting(self) -> Connecting:
        from penstock.sources.mail.push import default_sync_every, push_kinds
        from penstock.sources.oauth.connecting import Connecting
        from penstock.sources.oauth.token_store import TokenStore

        return Connecting(
            tenants=self.tenants,
            secrets=self.secrets,
            store=TokenStore(self.secrets),
            endpoints=self.oauth_endpoints,
            app_of=self.oauth_app,
            public_url=self.settings.api_url,
            sync_every=lambda kind: default_sync_every(self.settings, kind),
            is_pushed=lambda kind: kind in push_kinds(self.settings, self.providers),
        )

    @cached_property
    def revoking(self) -> Revoking:
        from penstock.sources.oauth.revoking import Revoking
        from penstock.sources.oauth.token_store import TokenStore

        return Revoking(
            tenants=self.tenants,
            store=TokenStore(self.secrets),
            endpoints=self.oauth_endpoints,
            app_of=self.oauth_app,
            unsubscribe=self.subscribing.unsubscribe,
        )

    @cached_property
    def subscribing(self) -> Subscribing:
        """Keeps mailboxes subscribed at their providers."""
        from penstock.sources.mail.subscribing import Subscribing

        return Subscribing(
            tenants=self.tenants,
            settings=self.settings,
            provider=self.providers.get,
            tokens=self.tokens,
        )

    @cached_property
    def wake_ups(self) -> WakeUps:
        """What notifications of providers lead to."""
        from penstock.sources.mail.wake_ups import WakeUps

        return WakeUps(self.tenants)

    @cached_property
    def google_push(self) -> GooglePush:
        """Verifies who sends notifications of Gmail."""
        from penstock.sources.mail.push import audience
        from penstock.webhooks.google_push import GooglePush
        from penstock.webhooks.public_keys import PublicKeys

        return GooglePush(
            PublicKeys(self.settings.gmail_certs_url, lambda: self.http),
            audience=audience(self.settings),
            service_account=self.settings.gmail_push_service_account or "",
        )

    @cached_property
    def completion_webhooks(self) -> CompletionWebhooks:
        from penstock.webhooks.completion import CompletionWebhooks

        return CompletionWebhooks(
            self.tenants, self.secrets, allow_private=self.settings.allow_private_addresses
        )

    @cached_property
    def embedders(self) -> Embedders:
        from penstock.embed.embedders import Embedders

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
            self.tenants,
            self.embedders,
            self.index,
            embed_seconds=self.settings.search_embed_seconds,
            reranking=self._reranking(),
        )

    def _reranking(self) -> Reranking | None:
        if self.settings.reranker is None:
            return None
        from penstock.search.reranking import make_reranker
        from penstock.search.reranking.ordering import Reranking

        made = make_reranker(self.settings)
        self._opened.push_async_callback(made.close)
        return Reranking(made, passages=self.settings.rerank_passages, seconds=self.settings.rerank_seconds)

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
        from penstock.processes.messages import Messages

        return Messages(self.tenants)
