"""Keeps a mailbox subscribed at its provider: creates, renews, replaces and drops subscriptions."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.model import SourceId, TenantId, uuid7
from penstock.observe import get_logger
from penstock.sources.errors import SourceError, Throttled, TokenRejected
from penstock.sources.mail.mailbox import Subscription, SubscriptionLost
from penstock.sources.mail.notifications import client_state_sha256
from penstock.sources.mail.push import RENEW_EVERY, PushProvider, target_of, why_off
from penstock.sources.protocol import OpenSource

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.queue.task_run import TaskRun
    from penstock.settings import Settings
    from penstock.sources.mail.mailbox import NotifiedMailbox
    from penstock.sources.protocol import Provider
    from penstock.sources.sync.sync import Tokens

log = get_logger(__name__)

MAX_ATTEMPTS: Final = 5
ROUNDS: Final = 3
"""A lost subscription is replaced, and a rejected token refreshed, in the same run."""
BEGIN: Final = "select ingest.begin_subscription($1, $2, $3)"
PUT: Final = "select ingest.put_subscription($1, $2, $3, $4, $5)"
END: Final = "select ingest.end_subscription($1, $2)"
FAIL: Final = "select ingest.fail_subscription($1, $2, $3, $4)"


class SubscribeSource(BaseModel):
    """The payload of `subscribe-source`."""

    model_config = ConfigDict(frozen=True)

    source_id: SourceId


@dataclass(frozen=True, slots=True)
class _Wanted:
    mode: str
    subscription_id: UUID
    state: str = field(repr=False)
    source: OpenSource
    present: Subscription | None


class Subscribing:
    """The handler of `subscribe-source`. What the provider refuses is noted and tried again by schedule."""

    def __init__(
        self,
        *,
        tenants: TenantPool,
        settings: Settings,
        provider: Callable[[str], Provider],
        tokens: Tokens,
    ) -> None:
        self._tenants = tenants
        self._settings = settings
        self._provider = provider
        self._tokens = tokens

    async def __call__(self, payload: SubscribeSource, run: TaskRun) -> None:
        assert run.tenant_id is not None, "a source's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        for last in (*(False,) * (ROUNDS - 1), True):
            if await self._is_settled(tenant_id, payload.source_id, last=last):
                return

    async def unsubscribe(
        self, tenant_id: TenantId, source_id: SourceId, wanted: Mapping[str, Any], access_token: str
    ) -> None:
        """Drop what a disconnected source was subscribed to."""
        source = OpenSource(
            tenant_id,
            source_id,
            wanted["kind"],
            wanted["account"],
            wanted["config"],
            self._settings,
            access_token,
        )
        present = subscription_from(wanted["subscription"])
        assert present is not None
        provider = cast("PushProvider", self._provider(source.kind))
        try:
            async with provider.open_mailbox(source) as mailbox:
                await mailbox.drop_subscription(present)
        except SubscriptionLost:
            return
        log.info("subscription_ended", source_id=str(source_id), reason="disconnected")

    async def _is_settled(self, tenant_id: TenantId, source_id: SourceId, *, last: bool) -> bool:
        wanted = await self._begin(tenant_id, source_id)
        if wanted is None:
            return True
        try:
            await self._carry_out(tenant_id, wanted)
        except SubscriptionLost:
            await self._end(tenant_id, wanted, "lost")
            return False
        except TokenRejected as rejected:
            token = wanted.source.access_token
            if last or token is None:
                await self._fail(tenant_id, wanted, rejected)
                return True
            await self._tokens.reject(tenant_id, source_id, token)
            return False
        except SourceError as error:
            await self._fail(tenant_id, wanted, error)
        return True

    async def _begin(self, tenant_id: TenantId, source_id: SourceId) -> _Wanted | None:
        state = secrets.token_urlsafe(32)
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchval(BEGIN, source_id, uuid7(), client_state_sha256(state))
        found: Mapping[str, Any] = json.loads(row)
        if found["mode"] == "none":
            return None
        source = OpenSource(
            tenant_id, source_id, found["kind"], found["account"], found["config"], self._settings
        )
        wanted = _Wanted(
            found["mode"], UUID(found["subscription_id"]), state, source, subscription_from(found)
        )
        if not found["has_token"]:
            return wanted
        try:
            token = await self._tokens.access_token(tenant_id, source_id)
        except SourceError as error:
            await self._fail(tenant_id, wanted, error)
            return None
        return _Wanted(wanted.mode, wanted.subscription_id, state, with_token(source, token), wanted.present)

    async def _carry_out(self, tenant_id: TenantId, wanted: _Wanted) -> None:
        kind = wanted.source.kind
        if wanted.mode == "create" and why_off(self._settings, kind) is not None:
            await self._end(tenant_id, wanted, "off")
            return
        provider = cast("PushProvider", self._provider(kind))
        async with provider.open_mailbox(wanted.source) as mailbox:
            if wanted.mode == "drop":
                assert wanted.present is not None
                await mailbox.drop_subscription(wanted.present)
                await self._end(tenant_id, wanted, "dropped")
                return
            await self._put(tenant_id, wanted, mailbox)

    async def _put(self, tenant_id: TenantId, wanted: _Wanted, mailbox: NotifiedMailbox) -> None:
        kind = wanted.source.kind
        if wanted.mode == "renew":
            assert wanted.present is not None
            made = await mailbox.renew_subscription(wanted.present)
        else:
            made = await mailbox.create_subscription(target_of(self._settings, kind), wanted.state)
        async with self._tenants.transaction(tenant_id) as conn:
            kept = await conn.fetchval(
                PUT,
                wanted.subscription_id,
                made.provider_id,
                made.expires_at,
                json.dumps(made.details),
                RENEW_EVERY.get(kind),
            )
        if kept:
            log.info(
                "subscription_renewed" if wanted.mode == "renew" else "subscription_created",
                source_id=str(wanted.source.source_id),
                kind=kind,
                expires_at=made.expires_at.isoformat(),
            )
        else:  # disconnected, or removed by the provider, while it was asked
            await mailbox.drop_subscription(made)

    async def _end(self, tenant_id: TenantId, wanted: _Wanted, reason: str) -> None:
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute(END, wanted.subscription_id, reason)
        log.info("subscription_ended", source_id=str(wanted.source.source_id), reason=reason)

    async def _fail(self, tenant_id: TenantId, wanted: _Wanted, error: SourceError) -> None:
        wait = error.retry_after if isinstance(error, Throttled) else 0.0
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute(FAIL, wanted.subscription_id, error.code, error.message, wait)
        log.warning(
            "subscription_failed",
            source_id=str(wanted.source.source_id),
            kind=wanted.source.kind,
            mode=wanted.mode,
            code=error.code,
        )


def subscription_from(found: Mapping[str, Any]) -> Subscription | None:
    """The present subscription, as its provider described it; None if it has not been created."""
    if found["expires_at"] is None:
        return None
    return Subscription(
        provider_id=found["provider_id"],
        expires_at=datetime.fromisoformat(found["expires_at"]),
        details=found["details"],
    )


def with_token(source: OpenSource, token: str) -> OpenSource:
    return OpenSource(
        source.tenant_id, source.source_id, source.kind, source.account, source.config, source.settings, token
    )
