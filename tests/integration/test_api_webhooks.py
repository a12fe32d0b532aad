"""Deliveries to a tenant's webhook: accepted by their signature, once."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from penstock.simulators.faults import busy
from penstock.simulators.serving import serving
from penstock.simulators.webhook_receiver import WebhookReceiver
from penstock.webhooks.signature import generate_secret, sign, verify
from tests.integration.api_server import TEXT, api_server, assert_problem, form
from tests.plugins.database import Database
from tests.plugins.workers import eventually

if TYPE_CHECKING:
    import httpx2

BODY = TEXT.encode()


def signed(
    secret: str, body: bytes = BODY, *, at: datetime | None = None, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    kind = {"Content-Type": "text/plain"}
    return {**kind, **(more or {}), **sign(secret, str(uuid4()), at or datetime.now(UTC), body)}


async def make(client: httpx2.AsyncClient) -> str:
    made = await client.post("/v1/sources/webhook")
    assert made.status_code == 201, made.text
    assert made.json()["path"] == "/webhook/acme"
    secret: str = made.json()["secret"]
    return secret


async def test_a_signed_delivery_becomes_a_document(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        server.client("") as sender,
    ):
        secret = await make(client)
        named = {"Content-Disposition": 'attachment; filename="mill.txt"'}
        answer = await sender.post("/webhook/acme", content=BODY, headers=signed(secret, more=named))
        assert answer.status_code == 202, answer.text
        assert set(answer.json()) == {"ingestion_id", "document_id", "created", "skipped", "status"}
        path = f"/v1/documents/{answer.json()['document_id']}"
        assert (await client.get(path)).json()["filename"] == "mill.txt"
        assert (await client.get(f"{path}/content")).content == BODY
        ingestion = (await client.get(f"{path}/ingestions")).json()["items"][0]
        assert ingestion["source_metadata"]["webhook_path"] == "/webhook/acme"
        assert ingestion["source_metadata"]["source_ip"] == "127.0.0.1"
        assert ingestion["uploaded_by"] is None


async def test_a_form_is_signed_as_it_is_sent(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        server.client("") as sender,
    ):
        secret = await make(client)
        body = (
            b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n%b\r\n'
            b'--XX\r\nContent-Disposition: form-data; name="order"\r\n\r\n17\r\n--XX--\r\n' % BODY
        )
        kind = {"Content-Type": "multipart/form-data; boundary=XX"}
        answer = await sender.post("/webhook/acme", content=body, headers=signed(secret, body, more=kind))
        assert answer.status_code == 202, answer.text
        path = f"/v1/documents/{answer.json()['document_id']}"
        assert (await client.get(f"{path}/content")).content == BODY
        ingestion = (await client.get(f"{path}/ingestions")).json()["items"][0]
        assert ingestion["source_metadata"]["fields"] == {"order": "17"}


async def test_a_delivery_with_an_invalid_signature_is_refused(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        server.client("") as sender,
    ):
        secret = await make(client)
        now = datetime.now(UTC)
        good = signed(secret)
        for headers, body in (
            ({}, BODY),
            ({name: value for name, value in good.items() if name != "webhook-signature"}, BODY),
            (good, BODY + b"!"),
            (signed(generate_secret()), BODY),
            (signed(secret, at=now - timedelta(seconds=400)), BODY),
            (signed(secret, at=now + timedelta(seconds=400)), BODY),
            ({**good, "webhook-signature": "v1,nonsense"}, BODY),
            ({**good, "webhook-timestamp": "soon"}, BODY),
        ):
            answer = await sender.post("/webhook/acme", content=body, headers=headers)
            assert answer.status_code == 401, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
        assert (await sender.post("/webhook/nobody", content=BODY, headers=good)).status_code == 401
        assert_problem(await sender.post("/webhook/No", content=BODY, headers=good), 422, "tenant_slug")
        assert await server.count("ingest.document") == 0


async def test_a_webhook_does_not_reveal_which_tenants_exist(database: Database, tmp_path: Path) -> None:
    big = b"x" * 50_000
    async with (
        api_server(database, tmp_path, max_upload_bytes=60_000) as server,
        server.client() as client,
        server.client("") as sender,
    ):
        await make(client)
        _, small_key = await server.another_tenant("small", max_upload_bytes=10)
        await server.another_tenant("without")
        async with server.client(small_key) as small:
            assert (await small.post("/v1/sources/webhook")).status_code == 201
        now = datetime.now(UTC)
        wrong = generate_secret()
        for body, headers in (
            (BODY, signed(wrong)),
            (b"", signed(wrong, b"")),
            (big, signed(wrong, big)),
            (big + big, signed(wrong, big + big)),
            (BODY, signed(wrong, at=now - timedelta(seconds=400))),
            (BODY, {**signed(wrong), "webhook-signature": "v1,nonsense"}),
            (BODY, {}),
            (BODY, {**signed(wrong), "Content-Type": "multipart/form-data; boundary=nonsense"}),
        ):
            answers = []
            for slug in ("acme", "small", "without", "nobody"):
                answer = await sender.post(f"/webhook/{slug}", content=body, headers=headers)
                problem = answer.json()
                assert problem.pop("instance") == f"/webhook/{slug}"
                problem.pop("request_id")
                problem["detail"] = re.sub(r"\d+ s old", "… s old", problem["detail"])  # time goes on
                told = {name for name in answer.headers if name not in ("date", "x-request-id")}
                answers.append((answer.status_code, problem, told))
            assert all(answer == answers[0] for answer in answers), "\n".join(map(repr, answers))
            assert answers[0][0] == (413 if len(body) > 60_000 else 401)


async def test_a_wrong_signature_is_refused_in_the_same_time_for_every_tenant(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        server.client("") as sender,
    ):
        await make(client)
        loop = asyncio.get_running_loop()
        for slug in ("acme", "nobody"):
            began = loop.time()
            answer = await sender.post(f"/webhook/{slug}", content=BODY, headers=signed(generate_secret()))
            assert answer.status_code == 401
            assert loop.time() - began >= 0.1


async def test_nothing_of_a_delivery_is_stored_before_its_headers_are_checked(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        secret = await make(client)
        old = signed(secret, at=datetime.now(UTC) - timedelta(seconds=400))
        address = server.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(address[0], int(address[1]))
        lines = [f"{name}: {value}" for name, value in old.items()]
        writer.write(
            "\r\n".join(
                ["POST /webhook/acme HTTP/1.1", "Host: localhost", "Content-Length: 90000000", *lines, "", ""]
            ).encode()
        )
        # The answer comes though not one byte of the body was sent.
        assert b" 401 " in await asyncio.wait_for(reader.readline(), 5)
        writer.close()


async def test_a_delivery_is_accepted_once(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        server.client("") as sender,
    ):
        headers = signed(await make(client))
        assert (await sender.post("/webhook/acme", content=BODY, headers=headers)).status_code == 202
        again = await sender.post("/webhook/acme", content=BODY, headers=headers)
        assert_problem(again, 409, "webhook-signature")
        assert await server.count("ingest.ingestion") == 1


async def test_two_secrets_are_valid_after_a_rotation_and_the_first_is_not_after_a_second(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        server.client("") as sender,
    ):
        first = await make(client)
        assert_problem(await client.post("/v1/sources/webhook"), 409, "source")
        second = (await client.post("/v1/sources/webhook/rotate")).json()["secret"]
        for secret in (first, second):
            answer = await sender.post("/webhook/acme", content=BODY, headers=signed(secret))
            assert answer.status_code == 202, answer.text
        third = (await client.post("/v1/sources/webhook/rotate")).json()["secret"]
        statuses = [
            (await sender.post("/webhook/acme", content=BODY, headers=signed(secret))).status_code
            for secret in (first, second, third)
        ]
        assert statuses == [401, 202, 202]
        rows = ""
        async with database.connect("admin") as admin:
            rows = str(await admin.fetch("select * from vault.secret"))
        assert third not in rows


@pytest.mark.parametrize("size", [10_000, 3_000_000])
async def test_a_body_over_the_tenants_limit_is_refused(
    size: int, database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client("") as sender:
        _, key = await server.another_tenant("small", max_upload_bytes=size - 1)
        async with server.client(key) as client:
            secret = (await client.post("/v1/sources/webhook")).json()["secret"]
        body = b"x" * size
        answer = await sender.post("/webhook/small", content=body, headers=signed(secret, body))
        assert answer.status_code == 413
        fine = body[:-1]
        answer = await sender.post("/webhook/small", content=fine, headers=signed(secret, fine))
        assert answer.status_code == 202, answer.text


async def test_the_address_of_the_completion_webhook_can_be_set_and_removed(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        put = await client.put("/v1/webhook", json={"url": "http://127.0.0.1:9/hook"})
        assert put.status_code == 200, put.text
        assert put.json()["secret"].startswith("whsec_")
        off = await client.put("/v1/webhook", json={"url": None})
        assert off.json() == {"url": None, "secret": None, "secret_note": None}
        for wrong, field in (
            ({"url": "ftp://example.com"}, "url"),
            ({"url": "nonsense"}, "url"),
            ({"url": "http://a\u0000"}, "url"),
            ({"url": "http://169.254.169.254/"}, "url"),
            ({"url": "http://127.0.0.1/", "secret": "short"}, "secret"),
        ):
            assert_problem(await client.put("/v1/webhook", json=wrong), 422, field)


async def test_a_completion_webhook_is_signed_and_retried_until_it_is_accepted(
    database: Database, tmp_path: Path
) -> None:
    receiver = WebhookReceiver()
    receiver.faults.add(busy("1"))
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        serving(receiver.app) as url,
    ):
        put = await client.put("/v1/webhook", json={"url": f"{url}/hook"})
        secret = put.json()["secret"]
        async with server.working():
            taken = (await client.post("/v1/documents/upload", files=form())).json()
            await eventually(lambda: len(receiver.received) == 2, within=60, what="the second delivery")
        for message in receiver.received:
            verified = verify([secret], message.headers, message.body, datetime.now(UTC))
            assert verified.message_id == taken["ingestion_id"]
        told = json.loads(receiver.received[-1].body)
        assert told["type"] == "ingestion.indexed"
        assert told["data"]["document_id"] == taken["document_id"]
