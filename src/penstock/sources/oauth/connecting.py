"""Connects a source: sends its user to the provider's consent page, and makes tokens of what comes back."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from urllib.parse import urlencode
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.errors import NotFound, PenstockError
from penstock.model import ProjectId, SourceId, TenantId, uuid7
from penstock.model.rows import row_from_json
from penstock.observe import get_logger
from penstock.sources.errors import ConnectFailed, GrantRejected, SourceError
from penstock.sources.oauth.answers import Granted, clean_code
from penstock.sources.oauth.app import OAuthApp
from penstock.sources.oauth.endpoint import Account, OAuthEndpoints
from penstock.sources.oauth.token_store import TokenStore
from penstock.vault.secrets import Secrets

log = get_logger(__name__)

CALLBACK_PATH: Final = "/oauth/callback"
PKCE_VERIFIER: Final = "pkce_verifier"
LONGEST_CODE: Final = 4_096

BEGIN: Final = "select ingest.begin_connect($1, $2, $3, $4, $5, $6)"
CONNECT: Final = "select * from ingest.connect_source($1, $2, $3, $4, $5, $6, $7)"
SYNC: Final = "select ingest.request_sync(_source_id => $1, _full => $2, _reason => 'connected')"
SUBSCRIBE: Final = "select ingest.request_subscription($1)"
END: Final = "select ingest.end_connect($1, $2, $3, $4)"


@dataclass(frozen=True, slots=True)
class ConnectRequest:
    """Where to send the user; anyone who has `state` can follow the progress."""

    url: str = field(repr=False)
    state: str = field(repr=False)
    provider: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectProgress:
    """Until it is connected, failed or expired; then `health` says how the first sync is going."""

    status: Literal["waiting", "connecting", "connected", "failed", "expired"]
    source_id: SourceId | None
    error_code: str | None
    health: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Connected:
    """The source; `page` is the secret part of the address of the page that shows its first sync."""

    tenant_id: TenantId
    source_id: SourceId
    title: str
    is_new: bool
    page: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ConnectAttempt:
    """Somebody's wish to connect a source, whose state has been used up.

    `requested_by` is who asked: `key:` and its id, `session:` and a name, or another name; `key_name` is the
    key's.
    """

    state: bytes = field(repr=False)
    tenant_id: TenantId
    tenant: str
    project_id: ProjectId
    kind: str
    title: str
    requested_by: str
    key_name: str | None
    redirect_uri: str
    verifier_id: UUID


class Connecting:
    """`app_of` gives the OAuth app of a kind of source; `public_url` is the API's address for browsers.

    `sync_every` says how often a new source of a kind is synced, `is_pushed` whether its provider can notify
    us.
    """

    def __init__(
        self,
        *,
        tenants: TenantPool,
        secrets: Secrets,
        store: TokenStore,
        endpoints: OAuthEndpoints,
        app_of: Callable[[str], OAuthApp],
        public_url: str,
        sync_every: Callable[[str], timedelta],
        is_pushed: Callable[[str], bool],
    ) -> None:
        self._tenants = tenants
        self._secrets = secrets
        self._store = store
        self._endpoints = endpoints
        self._app_of = app_of
        self._sync_every = sync_every
        self._is_pushed = is_pushed
        self.redirect_uri = public_url.rstrip("/") + CALLBACK_PATH

    def check(self, provider: str) -> None:
        """Raise what begin() would for a provider that cannot be connected here."""
        self._app_of(provider)

    async def begin(
        self, tenant_id: TenantId, provider: str, *, project: str = "default", requested_by: str = "python"
    ) -> ConnectRequest:
        """The address of the provider's consent page, valid for ten minutes and one use."""
        app = self._app_of(provider)
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        async with self._tenants.transaction(tenant_id) as conn:
            verifier_id = await self._secrets.put(
                conn, tenant_id, PKCE_VERIFIER, verifier.encode(), purpose=PKCE_VERIFIER
            )
            expires_at = await conn.fetchval(
                BEGIN, _sha256(state), provider, project, requested_by, self.redirect_uri, verifier_id
            )
        challenge = base64.urlsafe_b64encode(_sha256(verifier)).rstrip(b"=").decode()
        query = {
            **app.extra,
            "client_id": app.client_id,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "scope": " ".join(app.scopes),
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return ConnectRequest(f"{app.authorize_url}?{urlencode(query)}", state, provider, expires_at)

    async def finish(self, parameters: Mapping[str, str], *, tenant_id: TenantId | None = None) -> Connected:
        """What the provider's redirect brings: a code or an error, and the state, which is used up.

        `tenant_id`: accept only an attempt of this tenant. ConnectFailed says why there is no source; nothing
        was written then but the reason.
        """
        attempt = await self.take(parameters)
        if tenant_id is not None and attempt.tenant_id != tenant_id:
            raise _unknown_state()
        return await self.complete(attempt, parameters)

    async def take(self, parameters: Mapping[str, str]) -> ConnectAttempt:
        """The first half of finish(): use up the state. Raises ConnectFailed for one that is not valid."""
        return await self._used(parameters.get("state", ""))

    async def complete(self, attempt: ConnectAttempt, parameters: Mapping[str, str]) -> Connected:
        """The second half of finish(): tokens for the code, and the source."""
        try:
            app, tokens, account = await self._granted(attempt, parameters)
            connected = await self._connected(attempt, app, tokens, account)
        except PenstockError as error:
            failed = _failed(attempt, error)
            async with self._tenants.transaction(attempt.tenant_id) as conn:
                await conn.execute(END, attempt.state, None, None, failed.reason)
            log.warning("source_not_connected", kind=attempt.kind, code=failed.reason)
            raise failed from None
        log.info(
            "source_connected", source_id=str(connected.source_id), kind=attempt.kind, new=connected.is_new
        )
        await self._subscribe(attempt, connected.source_id)
        return connected

    async def follow(self, tenant_id: TenantId, state: str) -> ConnectProgress:
        """How an attempt of this tenant is going, by its state."""
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval("select ingest.show_connect($1)", _sha256(state))
        if row is None:
            raise NotFound("there is no such attempt to connect a source", "state", "Start again")
        return row_from_json(ConnectProgress, row)

    async def show(self, page: str) -> Mapping[str, Any] | None:
        """What the page with this secret address shows; it needs no key and names no tokens."""
        async with self._tenants.all_tenants() as conn:
            row = await conn.fetchval("select all_tenants.show_connect($1)", _sha256(page))
        return None if row is None else json.loads(row)

    async def forget_old(self) -> None:
        """Remove attempts of yesterday, of every tenant."""
        async with self._tenants.all_tenants() as conn:
            await conn.execute("select all_tenants.forget_connects()")

    async def _subscribe(self, attempt: ConnectAttempt, source_id: SourceId) -> None:
        """Ask for notifications now; if that fails, maintenance does it within a minute."""
        if not self._is_pushed(attempt.kind):
            return
        try:
            async with self._tenants.transaction(attempt.tenant_id) as conn:
                await conn.execute(SUBSCRIBE, source_id)
        except PenstockError as error:
            log.info("subscription_left_to_maintenance", source_id=str(source_id), reason=error.message)

    async def _used(self, state: str) -> ConnectAttempt:
        async with self._tenants.all_tenants() as conn:
            row = await conn.fetchval("select all_tenants.use_state($1)", _sha256(state))
        if row is None:
            raise _unknown_state()
        found = json.loads(row)
        return ConnectAttempt(
            state=_sha256(state),
            tenant_id=TenantId(UUID(found["tenant_id"])),
            tenant=found["tenant"],
            project_id=ProjectId(UUID(found["project_id"])),
            kind=found["kind"],
            title=found["title"],
            requested_by=found["requested_by"],
            key_name=found["key_name"],
            redirect_uri=found["redirect_uri"],
            verifier_id=UUID(found["verifier_secret_id"]),
        )

    async def _granted(
        self, attempt: ConnectAttempt, parameters: Mapping[str, str]
    ) -> tuple[OAuthApp, Granted, Account]:
        async with self._tenants.transaction(attempt.tenant_id) as conn:
            verifier = await self._secrets.get(conn, attempt.tenant_id, attempt.verifier_id)
            await self._secrets.drop(conn, attempt.verifier_id)
        if "error" in parameters:
            code = clean_code(parameters["error"]) or "unknown_error"
            raise ConnectFailed(f"{attempt.title} was not connected", code)
        code = parameters.get("code", "")
        if not 0 < len(code) <= LONGEST_CODE:
            raise ConnectFailed(f"{attempt.title} was not connected", "code_missing")
        app = self._app_of(attempt.kind)
        issuer = parameters.get("iss")
        if app.issuer is not None and issuer is not None and issuer.rstrip("/") != app.issuer:
            raise ConnectFailed(f"{attempt.title} was not connected", "issuer_mismatch")
        tokens = await self._endpoints.exchange(app, code, verifier.decode(), attempt.redirect_uri)
        if tokens.refresh_token is None:
            raise ConnectFailed(f"{attempt.title} was not connected", "no_refresh_token")
        return app, tokens, await self._endpoints.identify(app, tokens.access_token, parameters)

    async def _connected(
        self, attempt: ConnectAttempt, app: OAuthApp, tokens: Granted, account: Account
    ) -> Connected:
        """One transaction: the source, its tokens, its sync and the end of the attempt, or nothing of it."""
        page = secrets.token_urlsafe(32)
        async with self._tenants.transaction(attempt.tenant_id) as conn:
            row = await conn.fetchrow(
                CONNECT,
                uuid7(),
                attempt.kind,
                account.account,
                account.label,
                attempt.project_id,
                account.label if "@" in account.label else None,
                self._sync_every(attempt.kind),
            )
            assert row is not None
            source_id = SourceId(row["source_id"])
            state = await self._store.state(conn, source_id)
            stored = await self._store.put(
                conn, attempt.tenant_id, source_id, tokens, state.next_generation, state.now
            )
            pointed = await self._store.point(conn, source_id, state, stored)
            assert pointed, "the source is locked against refreshes"
            await conn.execute(SYNC, source_id, row["is_new"])
            await conn.execute(END, attempt.state, _sha256(page), source_id, None)
        return Connected(attempt.tenant_id, source_id, app.title, row["is_new"], page)


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _unknown_state() -> ConnectFailed:
    # One answer for unknown, used and expired states, and those of other tenants.
    return ConnectFailed("this link has expired or was already used", "state_invalid")


def _failed(attempt: ConnectAttempt, error: PenstockError) -> ConnectFailed:
    """The same error without detail that is not the user's."""
    if isinstance(error, ConnectFailed):
        return error
    reason = error.code if isinstance(error, SourceError) else type(error).__name__
    if isinstance(error, GrantRejected):
        reason = error.reason
    return ConnectFailed(f"{attempt.title} was not connected", reason)
