"""What a repeated request is recognised by says nothing to a reader of the database."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Any

from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.plugins.database import Database
from tests.plugins.dovecot import USER

PASSWORD = "5ecret-Heron-77"


async def stored(server: ApiServer, path: str) -> list[bytes]:
    """Every hash of the database, among them the fingerprint of a change of the password."""
    async with server.database.connect("admin") as admin:
        rows = await admin.fetch("select request_sha256, key_sha256 from accounts.kept_reply")
        keys = await admin.fetch("select key_sha256 from accounts.api_key")
    assert rows, path
    return [bytes(value) for row in (*rows, *keys) for value in tuple(row)]


async def test_a_reader_of_the_database_cannot_try_passwords_against_a_stored_reply(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        given = {"host": "imap.example.com", "user": USER, "password": "first"}
        added = await client.post("/v1/sources/imap", json=given)
        path = f"/v1/sources/{added.json()['source_id']}/password"
        body = f'{{"password": "{PASSWORD}"}}'
        sent: dict[str, Any] = {
            "content": body,
            "headers": {"Idempotency-Key": "p-1", "Content-Type": "application/json"},
        }
        assert (await client.put(path, **sent)).status_code == 200
        again = await client.put(path, **sent)
        assert again.headers["idempotent-replayed"] == "true"
        other = await client.put(path, **{**sent, "content": body.replace("77", "78")})
        assert assert_problem(other, 422, "Idempotency-Key")["type"].endswith("key-reused")

        hashes = await stored(server, path)
        guess = f"PUT {path}?\n{body}".encode()
        assert hashlib.sha256(guess).digest() not in hashes
        assert not {hmac.digest(known, guess, "sha256") for known in hashes} & set(hashes)


async def test_without_sign_in_a_repeated_request_is_still_recognised(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, console_auth="off") as server, server.client("") as client:
        sent: dict[str, Any] = {
            "json": {"slug": "papers"},
            "headers": {
                "Idempotency-Key": "k-1",
                "X-Penstock-Tenant": "acme",
                "Sec-Fetch-Site": "same-origin",
            },
        }
        first = await client.post("/v1/projects", **sent)
        assert first.status_code == 201, first.text
        again = await client.post("/v1/projects", **sent)
        assert (again.headers["idempotent-replayed"], again.json()) == ("true", first.json())
        guess = b'POST /v1/projects?\n{"slug":"papers"}'
        assert hashlib.sha256(guess).digest() not in await stored(server, "/v1/projects")
