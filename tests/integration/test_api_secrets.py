"""Secrets that the API shows: once, to the key that asked, and never from a stored reply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

from fastapi.routing import APIRoute
from pydantic import BaseModel

from penstock.api import create_app
from penstock.api.shown_once import secret_fields
from penstock.settings import Settings
from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.plugins.database import Database

SENSITIVE = re.compile(r"secret|token(?!s|_count|_budget)|password|receipt_url")
NO_SECRETS = {"secret_note"}
BODIES: dict[str, dict[str, Any] | None] = {
    "/v1/keys": {"name": "made", "scopes": ["admin"]},
    "/v1/webhook": {"url": "https://example.com/told"},
    "/v1/sources/webhook": None,
    "/v1/sources/webhook/rotate": None,
}
"""What each route that shows a secret is sent; a new route fails the test until it is here."""


def routes() -> Iterator[APIRoute]:
    from penstock.engine.engine import Engine

    app = create_app(Engine(Settings()))
    yield from (route for route in app.routes if isinstance(route, APIRoute))


def showing() -> list[tuple[str, str]]:
    """Method and path of every route that shows a secret and takes an Idempotency-Key."""
    return [
        (method, route.path)
        for route in routes()
        for method in sorted((route.methods or set()) & {"POST", "PUT"})
        if secret_fields(route.response_model)
    ]


def fields_of(model: type) -> dict[str, tuple[object, bool]]:
    """Type of each field, and whether its repr shows it; rows of the database are dataclasses."""
    if issubclass(model, BaseModel):
        return {name: (field.annotation, field.repr) for name, field in model.model_fields.items()}
    hints = get_type_hints(model)
    return {field.name: (hints[field.name], field.repr) for field in fields(cast("Any", model))}


def models(annotation: object, seen: set[type]) -> Iterator[type]:
    for part in (annotation, *get_args(annotation)):
        known = isinstance(part, type) and (issubclass(part, BaseModel) or is_dataclass(part))
        if isinstance(part, type) and known and part not in seen:
            seen.add(part)
            yield part
            for each, _ in fields_of(part).values():
                yield from models(each, seen)
        elif part is not annotation:
            yield from models(part, seen)


def test_every_secret_in_an_answer_is_marked_as_shown_once() -> None:
    checked = looked_at = 0
    for route in routes():
        outer = route.response_model
        for model in models(outer, set()):
            looked_at += 1
            for name, (_, shown) in fields_of(model).items():
                hidden = SENSITIVE.search(name) or not shown
                if name in NO_SECRETS or not hidden:
                    continue
                assert name in secret_fields(model), f"{route.path}: {model.__name__}.{name} is not marked"
                assert model is outer, f"{route.path}: {name} lies too deep to be left out of a kept answer"
                checked += 1
    assert checked >= 5
    assert looked_at >= 30, "rows of the database are answers too"


async def kept(server: ApiServer) -> str:
    async with server.database.connect("admin") as admin:
        return str(await admin.fetch("select body::text from accounts.kept_reply"))


async def test_a_kept_reply_is_given_to_the_same_key_only_and_without_the_secret(
    database: Database, tmp_path: Path
) -> None:
    paths = showing()
    assert {path for _, path in paths} == BODIES.keys(), "say in BODIES what a new route is sent"
    async with api_server(database, tmp_path) as server, server.client() as admin:
        reader = await server.another_key("documents:read", "documents:write", "search", "projects:write")
        second = await server.another_key("admin")
        secrets = []
        for number, (method, path) in enumerate(paths):
            sent: dict[str, Any] = {"headers": {"Idempotency-Key": f"k-{number}"}, "json": BODIES[path]}
            first = await admin.request(method, path, **sent)
            assert first.is_success, first.text
            secret = first.json()["secret"]
            assert secret
            assert first.json()["secret_note"] is None
            secrets.append(secret)

            async with server.client(reader) as thief:
                refused = await thief.request(method, path, **sent)
                assert_problem(refused, 403, "scope")
                assert secret not in refused.text
            async with server.client(second) as other:
                answer = await other.request(method, path, **sent)
                assert "idempotent-replayed" not in answer.headers
                assert secret not in answer.text
            again = await admin.request(method, path, **sent)
            assert again.headers["idempotent-replayed"] == "true"
            assert again.status_code == first.status_code
            assert again.json()["secret"] is None
            assert "shown once" in again.json()["secret_note"]
            changed = dict.fromkeys(("secret", "secret_note"))
            assert again.json() | changed == first.json() | changed
        stored = await kept(server)
        assert [secret for secret in secrets if secret in stored] == []


async def test_a_key_that_lost_its_scope_gets_no_kept_reply_of_an_upload(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        sent: dict[str, Any] = {
            "headers": {"Idempotency-Key": "u-1"},
            "files": {"file": ("a.txt", b"text", "text/plain")},
        }
        writer, reader = (
            await server.another_key("documents:write"),
            await server.another_key("documents:read"),
        )
        async with server.client(writer) as client:
            assert (await client.post("/v1/documents/upload", **sent)).status_code == 202
        async with server.client(reader) as client:
            assert_problem(await client.post("/v1/documents/upload", **sent), 403, "scope")


async def test_a_secret_that_an_older_process_sends_is_not_kept(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, database.connect("runtime") as runtime:
        async with runtime.transaction():
            await runtime.execute(
                "select set_config('penstock.tenant_id', $1, true)", str(server.tenant.tenant_id)
            )
            await runtime.execute("select accounts.begin_reply($1, $1)", b"\1" * 32)
            body = '{"secret": "pk_plain", "name": "n"}'
            await runtime.execute("select accounts.keep_reply($1, 201, $2)", b"\1" * 32, body)
        assert "pk_plain" not in await kept(server)
