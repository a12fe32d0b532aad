"""The tokens of a source: in the vault as generations, and which of them the source points at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from penstock.db import Connection
from penstock.model import SourceId, TenantId
from penstock.sources.errors import RefreshTokenInvalid
from penstock.sources.oauth.answers import Granted
from penstock.vault.secrets import ACCESS_TOKEN, REFRESH_TOKEN, Secrets

READ: Final = "select * from ingest.tokens_of($1)"
POINT: Final = "select ingest.set_tokens($1, $2, $3, $4, $5, $6)"
REJECTED: Final = "refresh_token_invalid: "
"""How the status message of a source begins that has to be connected again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenState:
    """What `ingest.tokens_of` knows: no tokens, but which secrets hold them; `now` is the database's time."""

    kind: str
    account: str | None
    status: str
    status_message: str | None
    access_id: UUID | None
    access_generation: int | None
    refresh_id: UUID | None
    refresh_generation: int | None
    expires_at: datetime | None
    newest_access_id: UUID | None
    newest_access_generation: int | None
    newest_refresh_id: UUID | None
    newest_refresh_generation: int | None
    now: datetime

    def is_fresh(self, skew: timedelta) -> bool:
        """Whether the access token is valid for longer than this."""
        return (
            self.access_id is not None and self.expires_at is not None and self.expires_at - self.now > skew
        )

    @property
    def next_generation(self) -> int:
        return max(self.newest_access_generation or 0, self.newest_refresh_generation or 0) + 1

    @property
    def has_unclaimed_tokens(self) -> bool:
        """Tokens were stored, but their process died before it could point the source at them."""
        return (self.newest_access_generation or 0) > (self.access_generation or 0)

    def require_grant(self) -> None:
        """Raises RefreshTokenInvalid if the provider has already rejected the refresh token."""
        if self.status == "error" and (self.status_message or "").startswith(REJECTED):
            assert self.status_message is not None
            raise RefreshTokenInvalid(self.kind, self.status_message.removeprefix(REJECTED))


@dataclass(frozen=True, slots=True)
class StoredTokens:
    """The secrets of a new generation; without a refresh token the source keeps the one it has."""

    access_id: UUID
    refresh_id: UUID | None
    expires_at: datetime


class TokenStore:
    """Reads and writes in the caller's transaction, which must be the tenant's."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    async def state(self, conn: Connection, source_id: SourceId) -> TokenState:
        row = await conn.fetchrow(READ, source_id)
        assert row is not None, "the function raises when there is no such source"
        return TokenState(**dict(row))

    async def access_token(self, conn: Connection, tenant_id: TenantId, secret_id: UUID) -> str:
        return (await self._access(conn, tenant_id, secret_id))[0]

    async def refresh_token(self, conn: Connection, tenant_id: TenantId, secret_id: UUID) -> str:
        return (await self._secrets.get(conn, tenant_id, secret_id)).decode()

    async def put(
        self,
        conn: Connection,
        tenant_id: TenantId,
        source_id: SourceId,
        tokens: Granted,
        generation: int,
        since: datetime,
        *,
        previous_refresh_token: str | None = None,
        in_database: bool = False,
    ) -> StoredTokens:
        """Store a new generation; `since` is when the tokens were asked for, by the database's time.

        `in_database`: even if refresh tokens are kept in the Parameter Store.
        """
        refresh_id = None
        if tokens.refresh_token is not None and tokens.refresh_token != previous_refresh_token:
            refresh_id = await self._secrets.put_generation(
                conn,
                tenant_id,
                source_id,
                REFRESH_TOKEN,
                generation,
                tokens.refresh_token.encode(),
                in_database=in_database,
            )
        expires_at = since + timedelta(seconds=tokens.seconds)
        # The expiry is stored with the token, so that a later process can adopt both.
        access = json.dumps({"access_token": tokens.access_token, "expires_at": expires_at.isoformat()})
        access_id = await self._secrets.put_generation(
            conn, tenant_id, source_id, ACCESS_TOKEN, generation, access.encode()
        )
        return StoredTokens(access_id, refresh_id, expires_at)

    async def point(
        self, conn: Connection, source_id: SourceId, state: TokenState, stored: StoredTokens
    ) -> bool:
        """Point the source at stored tokens; False if it no longer points at those of `state`."""
        pointed = await conn.fetchval(
            POINT,
            source_id,
            stored.access_id,
            stored.refresh_id,
            stored.expires_at,
            state.access_id,
            state.expires_at,
        )
        return pointed is True

    async def adopt(
        self, conn: Connection, tenant_id: TenantId, source_id: SourceId, state: TokenState
    ) -> bool:
        """Point the source at tokens that a dead process has stored."""
        assert state.newest_access_id is not None
        _, expires_at = await self._access(conn, tenant_id, state.newest_access_id)
        rotated = (state.newest_refresh_generation or 0) > (state.refresh_generation or 0)
        stored = StoredTokens(
            state.newest_access_id, state.newest_refresh_id if rotated else None, expires_at
        )
        return await self.point(conn, source_id, state, stored)

    async def _access(self, conn: Connection, tenant_id: TenantId, secret_id: UUID) -> tuple[str, datetime]:
        stored = json.loads(await self._secrets.get(conn, tenant_id, secret_id))
        return stored["access_token"], datetime.fromisoformat(stored["expires_at"])
