"""Subscriptions at Microsoft Graph: it calls us when a mail arrives, until the subscription expires."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from penstock.sources.errors import ProviderUnavailable
from penstock.sources.mail.mailbox import Subscription, SubscriptionLost
from penstock.sources.outlook.graph import PROVIDER
from penstock.sources.reading.times import parse_time
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.outlook.graph import Graph

LIFETIME: Final = timedelta(minutes=10_065)
"""A little less than the 10,080 minutes that Graph allows for mail."""


async def create(graph: Graph, resource: str, *, callback_url: str, client_state: str) -> Subscription:
    """The address for lifecycle notifications can be given only now."""
    body = {
        "changeType": "created",
        "notificationUrl": callback_url,
        "lifecycleNotificationUrl": callback_url,
        "resource": resource,
        "expirationDateTime": _expiry(),
        "clientState": client_state,
    }
    return _subscription(await graph.send("POST", "/subscriptions", body), {"resource": resource})


async def renew(graph: Graph, subscription: Subscription) -> Subscription:
    try:
        answer = await graph.send("PATCH", _path(subscription), {"expirationDateTime": _expiry()})
    except CallRejected as rejected:
        if rejected.status in (404, 410):
            raise SubscriptionLost from None
        raise
    return _subscription({"id": subscription.provider_id, **answer}, subscription.details)


async def drop(graph: Graph, subscription: Subscription) -> None:
    try:
        await graph.send("DELETE", _path(subscription))
    except CallRejected as rejected:
        if rejected.status not in (404, 410):
            raise


def _path(subscription: Subscription) -> str:
    return f"/subscriptions/{quote(subscription.provider_id or '', safe='')}"


def _expiry() -> str:
    return f"{datetime.now(UTC) + LIFETIME:%Y-%m-%dT%H:%M:%SZ}"


def _subscription(answer: dict[str, Any], details: dict[str, Any]) -> Subscription:
    expires_at = parse_time(answer.get("expirationDateTime"))
    if not isinstance(answer.get("id"), str) or expires_at is None:
        raise ProviderUnavailable(PROVIDER, "the answer about a subscription has no id or no expiry")
    return Subscription(provider_id=answer["id"], expires_at=expires_at, details=dict(details))
