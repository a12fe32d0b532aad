"""Hands out valid access tokens of sources; of many that find a token stale, one refreshes it."""

from __future__ import annotations

import asyncio
import hmac
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from penstock.aws import AwsRefused
from penstock.db import Connection
from penstock.db.connect import CONNECTION_LOST
from penstock.db.tenancy import TenantPool
from penstock.errors import Conflict, NotFound
from penstock.model import SourceId, TenantId
from penstock.observe import get_logger
from penstock.sources.errors import GrantRejected, ProviderUnavailable, RefreshTokenInvalid, SourceError
from penstock.sources.oauth.answers import Granted
from penstock.sources.oauth.app import OAuthApp
from penstock.sources.oauth.endpoint import OAuthEndpoints
from penstock.sources.oauth.token_store import StoredTokens, TokenState, TokenStore

log = get_logger(__name__)

# It ends with the transaction: no crash can leave it behind, and it works behind a pooler.
TRY_LOCK: Final = "select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtext('refresh:' || $1::text))"
PATIENT: Final = "select set_config('idle_in_transaction_session_timeout', $1, true)"
SPARE_SECONDS: Final = 10.0
"""How much longer than a call to the provider the lock is waited for."""
STORE_SECONDS: Final = 90.0
"""How much longer than that call the lock may be held: AWS's Parameter Store may answer late."""
FIRST_WAIT: Final = 0.05
LONGEST_WAIT: Final = 0.5
STORE_TRIES: Final = 4


class TokenBroker:
    """`app_of` gives the OAuth app of a kind of source. `open_pool` opens the pool of the transactions that
    stay open during a call to the provider: few, and of its own, so that they take nobody else's connection.
    """

    def __init__(
        self,
        *,
        tenants: TenantPool,
        open_pool: Callable[[], Awaitable[TenantPool]],
        store: TokenStore,
        endpoints: OAuthEndpoints,
        app_of: Callable[[str], OAuthApp],
        skew_seconds: float,
    ) -> None:
        self._tenants = tenants
        self._open_pool = open_pool
        self._pool: TenantPool | None = None
        self._opening = asyncio.Lock()
        self._store = store
        self._endpoints = endpoints
        self._app_of = app_of
        self._skew = timedelta(seconds=skew_seconds)

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()

    async def access_token(self, tenant_id: TenantId, source_id: SourceId) -> str:
        """A token that is valid for longer than the skew; a stale one is refreshed first, by one process.

        Raises RefreshTokenInvalid if the source has to be connected again, ClientMissing and ClientRejected
        if the operator has to act, ProviderUnavailable and Throttled if a later try may succeed.
        """
        async with self._tenants.transaction(tenant_id) as conn:
            seen = await self._store.state(conn, source_id)
            seen.require_grant()
            if seen.is_fresh(self._skew):
                assert seen.access_id is not None
                return await self._store.access_token(conn, tenant_id, seen.access_id)
        deadline = asyncio.get_running_loop().time() + self._endpoints.seconds + SPARE_SECONDS
        wait = FIRST_WAIT
        while True:
            result = await _finished(self._refresh_if_first(tenant_id, source_id, seen))
            if isinstance(result, SourceError):
                raise result
            if result is not None:
                return result
            if asyncio.get_running_loop().time() > deadline:
                raise ProviderUnavailable(
                    seen.kind, "another process has been refreshing the token for too long"
                )
            await asyncio.sleep(wait * random.uniform(0.5, 1))
            wait = min(2 * wait, LONGEST_WAIT)

    async def reject(self, tenant_id: TenantId, source_id: SourceId, access_token: str) -> None:
        """The provider rejected this access token: if it is still the source's, it is refreshed next."""
        async with self._tenants.transaction(tenant_id) as conn:
            state = await self._store.state(conn, source_id)
            if state.access_id is None:
                return
            current = await self._store.access_token(conn, tenant_id, state.access_id)
            if hmac.compare_digest(current.encode(), access_token.encode("utf-8", "replace")):
                await conn.execute("select ingest.expire_token($1, $2)", source_id, state.access_id)

    async def _refresh_if_first(
        self, tenant_id: TenantId, source_id: SourceId, seen: TokenState
    ) -> str | SourceError | None:
        """The token, or what is wrong; None if somebody else is refreshing it.

        Errors are returned: raised, they would roll back what was noted about the source.
        """
        pool = await self._refreshing()
        held = f"{self._endpoints.seconds + STORE_SECONDS:.0f}s"
        async with pool.transaction(tenant_id) as conn:
            await conn.execute(PATIENT, held)
            if not await conn.fetchval(TRY_LOCK, str(source_id)):
                return None
            try:
                return await self._refresh(conn, tenant_id, source_id, seen)
            except SourceError as error:
                return error

    async def _refresh(
        self, conn: Connection, tenant_id: TenantId, source_id: SourceId, seen: TokenState
    ) -> str:
        state = await self._current(conn, tenant_id, source_id)
        moved_on = state.access_id != seen.access_id and state.is_fresh(timedelta())
        if moved_on or state.is_fresh(self._skew):
            assert state.access_id is not None
            return await self._store.access_token(conn, tenant_id, state.access_id)
        app = self._app_of(state.kind)
        if state.refresh_id is None:
            raise await self._failed(conn, source_id, state, GrantRejected(app.title, "no_refresh_token"))
        refresh_token = await self._store.refresh_token(conn, tenant_id, state.refresh_id)
        try:
            tokens = await self._endpoints.refresh(app, refresh_token)
        except GrantRejected as rejected:
            # Dead, or somebody who does not take our lock has rotated it: look once more before giving up.
            newer = await self._current(conn, tenant_id, source_id)
            if newer.access_id != state.access_id and newer.is_fresh(timedelta()):
                assert newer.access_id is not None
                return await self._store.access_token(conn, tenant_id, newer.access_id)
            raise await self._failed(conn, source_id, newer, rejected) from None
        try:
            stored = await self._stored(tenant_id, source_id, state, tokens, refresh_token)
        except NotFound:  # the source was disconnected meanwhile; its new tokens must not outlive it
            await self._endpoints.revoke(app, tokens.refresh_token or tokens.access_token)
            raise
        log.info("token_refreshed", source_id=str(source_id), rotated=stored.refresh_id is not None)
        return await self._pointed(conn, tenant_id, source_id, state, stored, tokens.access_token)

    async def _current(self, conn: Connection, tenant_id: TenantId, source_id: SourceId) -> TokenState:
        """The newest state, after adopting what a process stored that died before it could point at it."""
        state = await self._store.state(conn, source_id)
        state.require_grant()
        if state.has_unclaimed_tokens:
            adopted = await self._store.adopt(conn, tenant_id, source_id, state)
            log.warning("tokens_adopted", source_id=str(source_id), adopted=adopted)
            state = await self._store.state(conn, source_id)
        return state

    async def _stored(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        state: TokenState,
        tokens: Granted,
        refresh_token: str,
    ) -> StoredTokens:
        """Store the tokens in a transaction of their own: from here on, a crash loses nothing.

        Before, it may lose a rotated refresh token for good, so a lost connection is not the end, and what
        the Parameter Store refuses goes into the database, encrypted like every secret.
        """
        generation, in_database = state.next_generation, False
        for tried in range(1, STORE_TRIES + 1):
            try:
                async with self._tenants.transaction(tenant_id) as own:
                    return await self._store.put(
                        own,
                        tenant_id,
                        source_id,
                        tokens,
                        generation,
                        state.now,
                        previous_refresh_token=refresh_token,
                        in_database=in_database,
                    )
            except AwsRefused as refused:
                if in_database:
                    raise
                log.error("token_not_in_parameter_store", source_id=str(source_id), code=refused.code)
                in_database = True
            except Conflict:
                # Only a broken lock leads here. The tokens are still the only valid ones: keep both.
                log.error("refresh_lock_broken", source_id=str(source_id), generation=generation)
                generation += 1
            except CONNECTION_LOST:
                if tried == STORE_TRIES:
                    raise
                await asyncio.sleep(0.25 * 2**tried)
        raise AssertionError("every try returns or raises, or meets another generation")

    async def _pointed(
        self,
        conn: Connection,
        tenant_id: TenantId,
        source_id: SourceId,
        state: TokenState,
        stored: StoredTokens,
        access_token: str,
    ) -> str:
        """Point the source at the new tokens, unless it has got others in the meantime."""
        while not await self._store.point(conn, source_id, state, stored):
            newer = await self._store.state(conn, source_id)
            if (
                newer.access_id != state.access_id
            ):  # connected again meanwhile: those tokens are the newer ones
                assert newer.access_id is not None
                return await self._store.access_token(conn, tenant_id, newer.access_id)
            state = newer  # the old token was rejected meanwhile, which changed its expiry
        return access_token

    async def _failed(
        self, conn: Connection, source_id: SourceId, state: TokenState, rejected: GrantRejected
    ) -> RefreshTokenInvalid:
        """Note it while the lock is held, or everybody who waits for it would ask the provider again."""
        await conn.execute(
            "select ingest.fail_refresh($1, $2, $3)", source_id, state.refresh_id, rejected.reason
        )
        log.warning("refresh_token_rejected", source_id=str(source_id), code=rejected.reason)
        return RefreshTokenInvalid(state.kind, rejected.reason)

    async def _refreshing(self) -> TenantPool:
        async with self._opening:
            if self._pool is None:
                self._pool = await self._open_pool()
        return self._pool


async def _finished(work: Awaitable[str | SourceError | None]) -> str | SourceError | None:
    """The result. A caller that is cancelled waits for the end: tokens on their way must reach the vault."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
        raise
