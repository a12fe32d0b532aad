"""Ends the grant of a disconnected source: drops its subscription, revokes its tokens, then deletes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.errors import NotFound
from penstock.model import Snooze, SourceId, TenantId
from penstock.observe import get_logger
from penstock.queue.task_run import TaskRun
from penstock.sources.errors import SourceError, Throttled, TokenRejected
from penstock.sources.oauth.app import OAuthApp
from penstock.sources.oauth.endpoint import OAuthEndpoints
from penstock.sources.oauth.token_store import TokenStore

log = get_logger(__name__)

REVOKE: Final = "revoke-tokens"
MAX_ATTEMPTS: Final = 9
"""With waits of 5 s, 20 s, 80 s … it is tried for about a day and a half."""
READ: Final = "select ingest.revocation_of($1)"
END: Final = "select ingest.end_revocation($1, $2, $3)"


class RevokeTokens(BaseModel):
    """The payload of `revoke-tokens`."""

    model_config = ConfigDict(frozen=True)

    source_id: SourceId


class Unsubscribe(Protocol):
    """Drops what a disconnected source was subscribed to; a protocol, since mailboxes are not known here."""

    async def __call__(
        self, tenant_id: TenantId, source_id: SourceId, wanted: dict[str, Any], access_token: str
    ) -> None: ...


class Revoking:
    """The handler of `revoke-tokens`; the queue retries."""

    def __init__(
        self,
        *,
        tenants: TenantPool,
        store: TokenStore,
        endpoints: OAuthEndpoints,
        app_of: Callable[[str], OAuthApp],
        unsubscribe: Unsubscribe,
    ) -> None:
        self._tenants = tenants
        self._store = store
        self._endpoints = endpoints
        self._app_of = app_of
        self._unsubscribe = unsubscribe

    async def __call__(self, payload: RevokeTokens, run: TaskRun) -> Snooze | None:
        assert run.tenant_id is not None, "a source's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval(READ, payload.source_id)
        if row is None:
            return None
        wanted = json.loads(row)
        error_code = None
        try:
            outcome = await self._revoke(tenant_id, payload.source_id, wanted)
        except Throttled as throttled:
            return Snooze(throttled.retry_after)
        except SourceError as error:
            if run.attempt < MAX_ATTEMPTS:
                raise
            outcome, error_code = "failed", error.code
        async with run.transaction() as conn:
            await conn.execute(END, payload.source_id, outcome, error_code)
        log.info("tokens_revoked", source_id=str(payload.source_id), outcome=outcome, code=error_code)
        return None

    async def _revoke(self, tenant_id: TenantId, source_id: SourceId, wanted: dict[str, Any]) -> str:
        if wanted["in_use"]:
            return "not_needed"
        access = refresh = None
        try:
            async with self._tenants.transaction(tenant_id) as conn:
                if wanted["access_id"] is not None:
                    access = await self._store.access_token(conn, tenant_id, UUID(wanted["access_id"]))
                if wanted["refresh_id"] is not None:
                    refresh = await self._store.refresh_token(conn, tenant_id, UUID(wanted["refresh_id"]))
        except NotFound:  # deleted since it was read
            return "not_needed"
        if (token := refresh or access) is None:
            return "not_needed"
        app = self._app_of(wanted["kind"])
        if wanted["subscription"] is not None:
            await self._drop(tenant_id, source_id, wanted, app, access, refresh)
        return "revoked" if await self._endpoints.revoke(app, token) else "unsupported"

    async def _drop(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        wanted: dict[str, Any],
        app: OAuthApp,
        access: str | None,
        refresh: str | None,
    ) -> None:
        """Drop the subscription. One that stays expires within days; what it sends until then is ignored."""
        try:
            try:
                if access is None:
                    raise TokenRejected(app.title)
                await self._unsubscribe(tenant_id, source_id, wanted, access)
            except TokenRejected:
                if refresh is None:
                    raise
                tokens = await self._endpoints.refresh(app, refresh)
                await self._unsubscribe(tenant_id, source_id, wanted, tokens.access_token)
        except SourceError as error:
            log.warning("subscription_left", source_id=str(source_id), code=error.code)
