"""A tenant's sources, whatever their provider: add, connect, list, sync, pause, remove."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument, NotFound
from penstock.model import SourceId, TaskId, TenantId, uuid7
from penstock.model.document_class import MAILBOXES
from penstock.model.rows import row_from_json
from penstock.sources.decisions import SourceDecisions
from penstock.sources.hosts import refuse_host
from penstock.sources.mail.push import PUSH_KINDS, default_sync_every, why_off
from penstock.sources.passwords import account_of, check_password, takes_password
from penstock.sources.registry import DECLARE, RESERVED
from penstock.vault.secrets import Secrets

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.oauth.connecting import Connecting, ConnectProgress, ConnectRequest
    from penstock.sources.passwords import Passwords
    from penstock.sources.protocol import Provider
    from penstock.sources.registry import Providers

S = TypeVar("S", bound="Source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """Whether the provider notifies us: none, pending, active, expired, failed, or off (`reason` says why).

    Without notifications a source is still synced by its schedule. `last_notified_at` is exact to ten
    seconds.
    """

    state: str
    reason: str | None = None
    code: str | None = None
    expires_at: datetime | None = None
    renew_at: datetime | None = None
    next_try_at: datetime | None = None
    last_notified_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a source is, derived from facts; `action` is what its user can do.

    `state` is never_synced, syncing (`seen` of about `expected`), healthy, degraded (synced, but without the
    notifications it should have), retrying (`reason`, `next_try_at`), needs_you, paused, or receiving for a
    source that others send to. `connection` is active, token_refresh_failed, subscription_expired or
    provider_error; None for a source that others send to. `push` is None if its provider sends no
    notifications.
    """

    state: str
    reason: str | None = None
    code: str | None = None
    action: str | None = None
    seen: int | None = None
    expected: int | None = None
    since: datetime | None = None
    next_try_at: datetime | None = None
    synced_at: datetime | None = None
    next_sync_at: datetime | None = None
    connection: str | None = None
    push: Push | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source; while `paused` it accepts nothing and is not synced."""

    source_id: SourceId
    kind: str
    name: str
    project: str
    status: str
    status_message: str | None
    account: str | None
    health: Health
    sync_every_seconds: int | None
    next_sync_at: datetime | None
    synced_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamState:
    """How far one kind of record was read; `left_out` is what the initial cap excluded."""

    stream: str
    items: int
    left_out: int
    expected: int | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionJob:
    """One sync with its counts; `error_details` are the last failures of items and of runs.

    `items_remapped` were mapped again because their field map changed, without asking the provider.
    `estimate` is what a first sync was expected to embed, where that costs money or there is a budget.
    """

    job_id: UUID
    source_id: SourceId
    kind: str
    reason: str
    status: str
    task_id: int | None
    items_expected: int | None
    items_seen: int
    items_written: int
    items_unchanged: int
    items_failed: int
    items_removed: int
    items_left_out: int
    items_remapped: int
    texts_embedded: int
    estimate: dict[str, Any] | None
    error_code: str | None
    error_message: str | None
    error_details: list[dict[str, Any]]
    next_try_at: datetime | None
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSource(Source):
    """A source in a list: with how many documents it has, and its last sync."""

    documents: int
    last_job: IngestionJob | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDetails(Source):
    """A source with its streams and its last syncs, newest first.

    `classifier` is what sorts a mailbox's documents, by its settings or the installation's; None for others.
    """

    config: dict[str, Any]
    documents: int
    streams: tuple[StreamState, ...]
    jobs: tuple[IngestionJob, ...]
    classifier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnected:
    """`documents` were kept or deleted; the queue may still be `deleting` them and `revoking` the tokens."""

    source_id: SourceId
    kind: str
    name: str
    documents: int
    deleted: bool
    deleting: bool
    revoking: bool


class Sources(SourceDecisions):
    """`connecting` is opened with the first source that is connected."""

    def __init__(
        self,
        tenants: TenantPool,
        secrets: Callable[[], Secrets],
        providers: Providers,
        connecting: Callable[[], Connecting],
        settings: Settings,
        passwords: Callable[[], Passwords],
    ) -> None:
        self._tenants = tenants
        self._secrets = secrets
        self._providers = providers
        self._connecting = connecting
        self._settings = settings
        self._passwords = passwords

    async def connect_url(
        self, tenant_id: TenantId, provider: str, *, project: str = "default"
    ) -> ConnectRequest:
        """Where to send the user to grant access; the provider sends them back to the API's callback."""
        return await self._connecting().begin(tenant_id, provider, project=project)

    async def connect_progress(self, tenant_id: TenantId, state: str) -> ConnectProgress:
        """How it is going, by the `state` that `connect_url` returned."""
        return await self._connecting().follow(tenant_id, state)

    async def disconnect(
        self, tenant_id: TenantId, source_id: SourceId, *, documents: Literal["keep", "delete"]
    ) -> Disconnected:
        """Stop its syncs, revoke its tokens at the provider, and keep or delete its documents."""
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval("select ingest.disconnect_source($1, $2)", source_id, documents)
        return row_from_json(Disconnected, row)

    async def find(self, tenant_id: TenantId, name: str) -> Source:
        """The source with this id, name or kind; InvalidArgument if several have it, NotFound if none."""
        sources = await self.list(tenant_id)
        asked = name.strip().lower()
        for names in (
            lambda source: str(source.source_id),
            lambda source: source.name.lower(),
            lambda source: source.kind,
        ):
            found = [source for source in sources if names(source) == asked]
            if len(found) > 1:
                ids = ", ".join(str(source.source_id) for source in found)
                raise InvalidArgument(
                    f"{len(found)} sources are called {name!r}", "source", f"Use an id: {ids}"
                )
            if found:
                return found[0]
        raise NotFound(f"there is no source {name!r}", "source", "List the sources: penstock source list")

    async def list(
        self, tenant_id: TenantId, chosen: Mapping[str, str | None] | None = None
    ) -> Sequence[ListedSource]:
        """The tenant's sources with their health, the oldest first; `chosen` filters as operations do."""
        given = {name: value for name, value in (chosen or {}).items() if value}
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch("select ingest.list_sources($1)", json.dumps(given))
        return [self._told(row_from_json(ListedSource, row[0])) for row in rows]

    async def show(self, tenant_id: TenantId, source_id: SourceId) -> SourceDetails:
        """One source with its streams and its last syncs."""
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval("select ingest.show_source($1)", source_id)
        return self._detailed(row)

    def check(
        self, kind: str, config: Mapping[str, Any], *, password: str | None = None
    ) -> tuple[Provider, Mapping[str, Any], str | None]:
        """What add() would store of these. Raises what it would: InvalidArgument, NotFound."""
        provider = self._providers.addable(kind)
        checked = provider.check_config(config)
        refuse_host(provider, checked, self._settings)
        if password is None and not takes_password(provider):
            return provider, checked, None
        return provider, checked, check_password(provider, password)

    async def add(
        self,
        tenant_id: TenantId,
        kind: str,
        config: Mapping[str, Any],
        *,
        name: str | None = None,
        project: str = "default",
        sync_every: timedelta | Literal["default"] | None = "default",
        password: str | None = None,
    ) -> Source:
        """Add a source that needs no grant, such as a folder, and start its first sync.

        By default a mailbox is synced every PENSTOCK_MAIL_SWEEP_SECONDS, others every night; None: only when
        asked. A mailbox at a mail server logs in with a `password`, which goes to the vault and is never
        shown.
        """
        every = default_sync_every(self._settings, kind) if sync_every == "default" else sync_every
        provider, checked, secret = self.check(kind, config, password=password)
        account = account_of(provider, checked)
        async with self._tenants.transaction(tenant_id) as conn:
            if kind not in RESERVED:  # no worker may have run since its package was installed
                await conn.execute(DECLARE, kind, provider.title)
            row = await conn.fetchval(
                "select ingest.add_source($1, $2, $3, $4, $5, $6, $7)",
                uuid7(),
                kind,
                name or provider.title,
                project,
                account if len(account) <= 500 else None,
                json.dumps(checked),
                every,
            )
            added = row_from_json(Source, row)
            if secret is not None:
                await self._passwords().set(conn, tenant_id, added.source_id, provider, checked, secret)
        return self._told(added)

    async def set_password(self, tenant_id: TenantId, source_id: SourceId, password: str) -> Source:
        """Give a source the password it logs in with from now on, and sync it."""
        async with self._tenants.transaction(tenant_id) as conn:
            found = row_from_json(
                SourceDetails, await conn.fetchval("select ingest.show_source($1)", source_id)
            )
            provider = self._providers.get(found.kind)
            secret = check_password(provider, password)
            await self._passwords().set(conn, tenant_id, source_id, provider, found.config, secret)
            row = await conn.fetchval("select ingest.show_source($1)", source_id)
        return self._told(row_from_json(Source, row))

    async def sync(self, tenant_id: TenantId, source_id: SourceId, *, full: bool = False) -> TaskId:
        """Ask for a sync; `full` reads everything again and finds deletions the provider never told."""
        async with self._tenants.transaction(tenant_id) as conn:
            return TaskId(await conn.fetchval("select ingest.request_sync($1, $2)", source_id, full))

    async def schedule(
        self, tenant_id: TenantId, source_id: SourceId, sync_every: timedelta | None
    ) -> Source:
        """Sync it this often; None: only when asked."""
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval(
                "select ingest.set_source($1, null, $2, $3)", source_id, sync_every, sync_every is None
            )
        return self._told(row_from_json(Source, row))

    async def configure(
        self, tenant_id: TenantId, source_id: SourceId, changes: Mapping[str, Any]
    ) -> SourceDetails:
        """Change settings of a source, such as a mailbox's folders; None goes back to the default.

        It holds from the next sync on. InvalidArgument names a setting that cannot be used, or cannot be
        changed: what a source of the operator's reads is for the operator to say.
        """
        async with self._tenants.transaction(tenant_id) as conn:
            found = json.loads(await conn.fetchval("select ingest.show_source($1)", source_id))
            fixed: Sequence[str] = getattr(self._providers.get(found["kind"]), "fixed", ())
            for name in fixed:
                if name in changes and changes[name] != found["config"].get(name):
                    raise InvalidArgument(
                        f"the {name} of a source cannot be changed",
                        name,
                        f"Add another source: penstock source add {found['kind']}",
                    )
            await self._change_config(
                conn,
                source_id,
                lambda config: {
                    name: each for name, each in {**config, **changes}.items() if each is not None
                },
            )
            row = await conn.fetchval("select ingest.show_source($1)", source_id)
        return self._detailed(row)

    async def pause(self, tenant_id: TenantId, source_id: SourceId) -> None:
        """Accept nothing from it and stop its sync, until it is resumed."""
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute("select ingest.pause_source($1, true)", source_id)

    async def resume(self, tenant_id: TenantId, source_id: SourceId) -> None:
        """Accept from it again, and continue its sync."""
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute("select ingest.pause_source($1, false)", source_id)

    async def remove(self, tenant_id: TenantId, source_id: SourceId) -> None:
        """Delete it with its secrets; its documents stay."""
        secrets = self._secrets()
        async with self._tenants.transaction(tenant_id) as conn:
            for secret_id in await conn.fetchval("select ingest.remove_source($1)", source_id):
                await secrets.drop(conn, secret_id)

    def _detailed(self, row: str) -> SourceDetails:
        source = self._told(row_from_json(SourceDetails, row))
        if source.kind not in MAILBOXES:
            return source
        chosen = source.config.get("classifier") or self._settings.classifier_of_mailboxes
        return replace(source, classifier=chosen)

    def _told(self, source: S) -> S:
        """The source, with the reason if the settings do not let its provider notify us."""
        push = source.health.push
        if push is None or push.state != "none":
            return source
        if source.kind not in PUSH_KINDS:
            push = None
        elif (off := why_off(self._settings, source.kind)) is not None:
            push = Push(state="off", reason=off)
        return replace(source, health=replace(source.health, push=push))
