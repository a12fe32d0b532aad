"""A completion webhook arrives signed, and its receiver's answer decides what comes next."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest

from penstock.net import AddressRefused, DeliveryFailed, open_client, retry_after
from penstock.simulators import Fault, WebhookReceiver, busy, serving
from penstock.webhooks.delivery import DeliveryResult, deliver
from penstock.webhooks.signature import generate_secret, verify

if TYPE_CHECKING:
    import httpx2

PAYLOAD = {"type": "document.indexed", "document_id": "0198", "title": "Mühle"}


@asynccontextmanager
async def receiving(
    total_seconds: float = 20,
) -> AsyncIterator[tuple[WebhookReceiver, str, httpx2.AsyncClient]]:
    receiver = WebhookReceiver()
    async with (
        serving(receiver.app) as address,
        open_client(allow_private=True, total_seconds=total_seconds) as client,
    ):
        yield receiver, f"{address}/hook", client


async def test_a_delivery_is_signed_json_that_the_receiver_can_verify() -> None:
    secret = generate_secret()
    async with receiving() as (receiver, url, client):
        assert await deliver(client, url, secret, "msg_1", PAYLOAD) == DeliveryResult("delivered", 204)
    (came,) = receiver.received
    assert json.loads(came.body) == PAYLOAD
    assert came.headers["content-type"] == "application/json"
    assert verify([secret], came.headers, came.body, datetime.now(UTC)).message_id == "msg_1"


@pytest.mark.parametrize("status", [200, 201, 202, 299])
async def test_any_2xx_is_delivered(status: int) -> None:
    async with receiving() as (receiver, url, client):
        receiver.faults.add(Fault("status", status))
        assert await deliver(client, url, generate_secret(), "m", PAYLOAD) == DeliveryResult(
            "delivered", status
        )


async def test_410_is_gone_for_good() -> None:
    async with receiving() as (receiver, url, client):
        receiver.faults.add(Fault("status", 410))
        assert await deliver(client, url, generate_secret(), "m", PAYLOAD) == DeliveryResult("gone", 410)


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 422])
async def test_other_4xx_and_redirects_are_refused_and_not_followed(status: int) -> None:
    async with receiving() as (receiver, url, client):
        receiver.faults.add(Fault("status", status, {"location": url}))
        assert await deliver(client, url, generate_secret(), "m", PAYLOAD) == DeliveryResult(
            "refused", status
        )
        assert len(receiver.received) == 1


@pytest.mark.parametrize("status", [408, 425, 500, 502, 503])
async def test_a_broken_receiver_is_tried_again(status: int) -> None:
    async with receiving() as (receiver, url, client):
        receiver.faults.add(Fault("status", status))
        with pytest.raises(DeliveryFailed, match=str(status)) as failed:
            await deliver(client, url, generate_secret(), "m", PAYLOAD)
        assert failed.value.retry_after is None


async def test_a_busy_receiver_is_tried_again_when_it_says() -> None:
    async with receiving() as (receiver, url, client):
        receiver.faults.add(busy("17"))
        with pytest.raises(DeliveryFailed) as failed:
            await deliver(client, url, generate_secret(), "m", PAYLOAD)
        assert failed.value.retry_after == 17.0


async def test_a_silent_or_unreachable_receiver_is_retried() -> None:
    async with receiving(total_seconds=0.3) as (receiver, url, client):
        receiver.faults.add(Fault("slow"))
        with pytest.raises(DeliveryFailed, match="ReadTimeout"):
            await deliver(client, url, generate_secret(), "m", PAYLOAD)
    async with open_client(allow_private=True) as client:
        with pytest.raises(DeliveryFailed, match="ConnectError"):
            await deliver(client, url, generate_secret(), "m", PAYLOAD)


async def test_an_endless_answer_does_not_block_a_delivery() -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 999999999\r\n\r\nxx")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(endless, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with open_client(allow_private=True) as client:
            result = await deliver(client, f"http://127.0.0.1:{port}/", generate_secret(), "m", PAYLOAD)
    assert result == DeliveryResult("delivered", 200)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://169.254.169.254/", "http://0177.0.0.1/", "ftp://x/"]
)
async def test_an_address_that_leads_inside_is_refused(url: str) -> None:
    async with open_client() as client:
        with pytest.raises(AddressRefused):
            await deliver(client, url, generate_secret(), "m", PAYLOAD)


NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "5"}, 5.0),
        ({"retry-after": " 5 "}, 5.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "99999999"}, 3_600.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"retry-after": "Mon, 04 May 2026 12:01:00 -0000"}, 60.0),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds
