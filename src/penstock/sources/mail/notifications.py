"""Reads what providers send to our webhooks: bounded, and without trusting any of it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

MOST_BYTES: Final = 1_048_576
MOST_ITEMS: Final = 1_000
LONGEST_ID: Final = 200
LONGEST_STATE: Final = 128
LONGEST_ADDRESS: Final = 320
EVENTS: Final = frozenset({"reauthorizationRequired", "subscriptionRemoved"})
"""Lifecycle events that are about the subscription; any other notification wakes a sync."""


class NotReadable(Exception):
    """This is not what the provider sends."""


@dataclass(frozen=True, slots=True)
class OutlookNotification:
    """One item of a request of Microsoft Graph; one request may mix subscriptions."""

    subscription_id: str
    client_state_sha256: bytes = field(repr=False)
    event: str | None


def read_outlook(body: bytes) -> Sequence[OutlookNotification]:
    """The different notifications of a request, without items that no subscription of ours can have sent."""
    items = _json_object(body).get("value")
    if not isinstance(items, list) or len(items) > MOST_ITEMS:
        raise NotReadable
    found = dict.fromkeys(item for item in map(_outlook_item, items) if item is not None)
    return list(found)


def _outlook_item(item: object) -> OutlookNotification | None:
    if not isinstance(item, dict):
        return None
    subscription_id, state = item.get("subscriptionId"), item.get("clientState")
    if not is_plain(subscription_id, LONGEST_ID) or not is_plain(state, LONGEST_STATE):
        return None
    event = item.get("lifecycleEvent")
    known = event if isinstance(event, str) and event in EVENTS else None
    return OutlookNotification(subscription_id, client_state_sha256(state), known)


def client_state_sha256(state: str) -> bytes:
    """What is stored of a client state, and what a notification is found by."""
    return hashlib.sha256(state.encode()).digest()


def read_gmail(body: bytes) -> str:
    """The address that a Pub/Sub message of Gmail is about."""
    message = _json_object(body).get("message")
    data = message.get("data") if isinstance(message, dict) else None
    if not isinstance(data, str):
        raise NotReadable
    try:
        decoded = base64.b64decode(data.replace("-", "+").replace("_", "/") + "=" * (-len(data) % 4))
    except (ValueError, binascii.Error):
        raise NotReadable from None
    address = _json_object(decoded).get("emailAddress")
    if not is_plain(address, LONGEST_ADDRESS):
        raise NotReadable
    return address.lower()


def is_plain(value: object, longest: int) -> TypeGuard[str]:
    """A short text of visible characters, which Postgres can store."""
    return isinstance(value, str) and 0 < len(value) <= longest and value.isprintable()


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise NotReadable from None
    if not isinstance(value, dict):
        raise NotReadable
    return value
