"""Delivers one signed webhook and returns the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import httpx2

from penstock.net.errors import DeliveryFailed
from penstock.net.outbound import parse
from penstock.net.waiting import retry_after
from penstock.webhooks.signature import sign

_LATER: Final = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """`delivered`; `gone`: the receiver wants no more deliveries; `refused`: a retry would not help."""

    outcome: Literal["delivered", "gone", "refused"]
    status: int


async def deliver(
    client: httpx2.AsyncClient,
    url: str,
    secret: str | Sequence[str],
    message_id: str,
    payload: Mapping[str, object] | bytes,
) -> DeliveryResult:
    """Sign and post the payload; the same `message_id` on every try lets the receiver drop repeats.

    Redirects are not followed: the signature is for this address. Raises DeliveryFailed if a retry may help,
    AddressRefused if the URL is not allowed. The receiver's body is not read.
    """
    body = payload if isinstance(payload, bytes) else json.dumps(payload, separators=(",", ":")).encode()
    headers = {"content-type": "application/json", **sign(secret, message_id, datetime.now(UTC), body)}
    target = parse(url)
    try:
        async with client.stream(
            "POST", target, content=body, headers=headers, follow_redirects=False
        ) as response:
            status = response.status_code
            wait = retry_after(response.headers)
    except httpx2.HTTPError as error:
        raise DeliveryFailed(target.host, f"{type(error).__name__} ({error})") from error
    if 200 <= status < 300:
        return DeliveryResult("delivered", status)
    if status == 410:
        return DeliveryResult("gone", status)
    if status in _LATER or status >= 500:
        raise DeliveryFailed(target.host, f"it answered {status}", wait)
    return DeliveryResult("refused", status)
