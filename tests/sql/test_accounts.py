"""Tenants, projects, keys, usage, kept replies and webhook sources, as the SQL functions hold them."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import date, timedelta
from uuid import UUID

import asyncpg
import pytest

from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, Tenant, call, document_calls, tenant_transaction

KEY = hashlib.sha256(b"pk_secret").digest()


async def refused(calls: DocumentCalls, tenant: Tenant, function: str, *args: object) -> str | None:
    with pytest.raises(asyncpg.PostgresError) as error:
        await calls.of(tenant, function, *args)
    return error.value.sqlstate


async def test_a_new_tenant_has_a_project_and_its_own_slug(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme", "Acme Ltd", max_upload_bytes=10)
        (project,) = await calls.rows(acme, "accounts.list_projects")
        assert '"slug": "default"' in project[0]
        shown = await calls.of(acme, "accounts.show_tenant")
        assert (shown["name"], shown["max_upload_bytes"], shown["status"]) == ("Acme Ltd", 10, "active")
        for slug, state in (("acme", "PS014"), ("Acme", "PS005"), ("a b", "PS005"), ("", "PS005")):
            with pytest.raises(asyncpg.PostgresError) as error:
                await calls.create_tenant(slug)
            assert error.value.sqlstate == state, slug


async def test_only_operators_make_and_list_tenants(database: Database) -> None:
    async with document_calls(database) as calls:
        for function in ("all_tenants.list_tenants", "all_tenants.create_tenant"):
            args = () if function.endswith("s") else (uuid7(), uuid7(), "acme", "acme", "wordllama")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await call(calls.runtime, function, *args)


async def test_the_limits_of_a_tenant_change_one_by_one(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme", max_upload_bytes=10, requests_per_minute=5)
        other = await calls.create_tenant("other", max_upload_bytes=10)
        changed = await calls.of(
            acme, "accounts.set_tenant", {"max_upload_bytes": None, "monthly_token_budget": 7}
        )
        assert (changed["max_upload_bytes"], changed["monthly_token_budget"]) == (None, 7)
        assert changed["requests_per_minute"] == 5
        assert (await calls.of(other, "accounts.show_tenant"))["max_upload_bytes"] == 10


async def test_a_project_is_found_by_slug_and_by_id_only_by_its_tenant(database: Database) -> None:
    async with document_calls(database) as calls:
        acme, other = await calls.create_tenant("acme"), await calls.create_tenant("other")
        project = uuid7()
        made = await calls.of(acme, "accounts.create_project", project, "mail", None, "minilm", "german")
        assert (made["name"], made["embedder"], made["text_config"], made["documents"]) == (
            "mail", "minilm", "german", {},
        )  # fmt: skip
        for name in ("mail", str(project)):
            assert (await calls.of(acme, "accounts.show_project", name))["project_id"] == str(project)
            assert await refused(calls, other, "accounts.show_project", name) == "PS013"
            assert await refused(calls, other, "accounts.set_project", name, {"name": "stolen"}) == "PS013"
        again = (uuid7(), "mail", None, "minilm")
        assert await refused(calls, acme, "accounts.create_project", *again) == "PS014"
        assert (await calls.of(other, "accounts.create_project", *again))["slug"] == "mail"
        klingon = (uuid7(), "k", None, "minilm", "klingon")
        assert await refused(calls, acme, "accounts.create_project", *klingon) == "PS005"
        assert (
            await refused(calls, acme, "accounts.set_project", "mail", {"text_config": "klingon"}) == "PS005"
        )


async def test_a_project_counts_its_documents_by_status(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        await calls.index(acme, await calls.document(acme, b"one"))
        await calls.document(acme, b"two")
        await calls.of(acme, "ingest.delete_document", await calls.document(acme, b"three"))
        shown = await calls.of(acme, "accounts.show_project", "default")
        assert shown["documents"] == {"indexed": 1, "pending": 1}


async def put_key(calls: DocumentCalls, tenant: Tenant, expires_in: timedelta | None = None) -> UUID:
    expires = None if expires_in is None else calls.clock.now + expires_in
    made = await calls.of(
        tenant, "accounts.create_key", uuid7(), "ci", "pk_secr", KEY, ["search"], expires_at=expires
    )
    assert "key_sha256" not in made
    return UUID(made["key_id"])


async def find_key(calls: DocumentCalls, key: bytes = KEY) -> dict[str, object] | None:
    (row,) = await call(calls.runtime, "all_tenants.find_key", key)
    return None if row[0] is None else dict(json.loads(row[0]))


async def test_a_key_is_found_by_its_hash_with_its_tenant_scopes_and_limits(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme", requests_per_minute=5)
        key_id = await put_key(calls, acme)
        found = await find_key(calls)
        assert found == {
            "tenant_id": str(acme.tenant_id), "tenant_slug": "acme", "tenant_name": "acme",
            "status": "active", "key_id": str(key_id), "name": "ci", "scopes": ["search"],
            "expired": False, "revoked": False, "requests_per_minute": 5, "max_upload_bytes": None,
        }  # fmt: skip
        assert await find_key(calls, b"\0" * 32) is None


async def test_a_key_expires_by_the_clock_and_is_revoked_at_once(database: Database) -> None:
    async with document_calls(database) as calls:
        acme, other = await calls.create_tenant("acme"), await calls.create_tenant("other")
        key_id = await put_key(calls, acme, timedelta(minutes=5))
        await calls.clock.advance(minutes=5)
        found = await find_key(calls)
        assert found is not None
        assert (found["expired"], found["revoked"]) == (True, False)
        assert await refused(calls, other, "accounts.revoke_key", key_id) == "PS013"
        await calls.of(acme, "accounts.revoke_key", key_id)
        first = await calls.admin.fetchval("select revoked_at from accounts.api_key")
        await calls.clock.advance(minutes=1)
        await calls.of(acme, "accounts.revoke_key", key_id)
        assert await calls.admin.fetchval("select revoked_at from accounts.api_key") == first
        found = await find_key(calls)
        assert found is not None
        assert found["revoked"]


async def test_the_use_of_a_key_is_noted_once_a_minute(database: Database) -> None:
    async with document_calls(database) as calls:
        await put_key(calls, await calls.create_tenant("acme"))
        used = []
        for seconds in (0, 59, 2):
            await calls.clock.advance(seconds=seconds)
            await find_key(calls)
            used.append(await calls.admin.fetchval("select used_at from accounts.api_key"))
        assert used[0] == used[1] == calls.clock.start
        assert used[2] == calls.clock.now


async def test_usage_adds_up_by_month_and_model_and_the_budget_shrinks(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme", monthly_token_budget=100)
        other = await calls.create_tenant("other")
        await calls.of(acme, "accounts.note_usage", "minilm", 30, 2, 10, 5)
        await calls.of(acme, "accounts.note_usage", "minilm", 30, 1, 1, 0)
        await calls.of(acme, "accounts.note_usage", "wordllama", 50, 1, 1, 0)
        await calls.of(other, "accounts.note_usage", "minilm", 1000, 1, 1, 0)
        assert await calls.of(acme, "accounts.budget_left") == -10
        assert await calls.of(other, "accounts.budget_left") is None
        first, _ = await calls.rows(acme, "accounts.usage_of_month")
        used = {"model": "minilm", "tokens": 60, "calls": 3, "texts": 11, "reused": 5}
        assert json.loads(first[0]) == used
        await calls.clock.advance(days=32)
        assert await calls.of(acme, "accounts.budget_left") == 100
        assert await calls.rows(acme, "accounts.usage_of_month") == []
        month: date = calls.clock.start.date()
        assert len(await calls.rows(acme, "accounts.usage_of_month", month)) == 2


REQUEST, OTHER_REQUEST = b"\1" * 32, b"\2" * 32


async def test_a_request_with_a_known_key_gets_the_kept_reply(database: Database) -> None:
    async with document_calls(database) as calls:
        acme, other = await calls.create_tenant("acme"), await calls.create_tenant("other")

        async def begin(tenant: Tenant = acme, request: bytes = REQUEST) -> object:
            return await calls.of(tenant, "accounts.begin_reply", KEY, request)

        assert await begin() is None
        assert await begin() == {"in_flight": True}
        assert await begin(request=OTHER_REQUEST) == {"mismatch": True}
        assert await begin(other) is None
        await calls.of(acme, "accounts.keep_reply", KEY, 202, {"id": 1})
        assert await begin() == {"status": 202, "body": {"id": 1}}
        assert await begin(other) == {"in_flight": True}
        await calls.of(other, "accounts.keep_reply", KEY, None, None)
        assert await begin(other, OTHER_REQUEST) is None
        assert await begin() == {"status": 202, "body": {"id": 1}}


async def test_a_request_whose_process_died_is_taken_over_after_five_minutes(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        assert await calls.of(acme, "accounts.begin_reply", KEY, REQUEST) is None
        await calls.clock.advance(minutes=5)
        assert await calls.of(acme, "accounts.begin_reply", KEY, REQUEST) is None
        assert await calls.of(acme, "accounts.begin_reply", KEY, REQUEST) == {"in_flight": True}


async def test_of_two_simultaneous_requests_only_one_continues(database: Database) -> None:
    async with document_calls(database) as calls, database.connect("runtime", name="second") as second:
        acme = await calls.create_tenant("acme")

        async def answer() -> object:
            async with tenant_transaction(second, acme):
                return await second.fetchval("select accounts.begin_reply($1, $2)", KEY, REQUEST)

        async with tenant_transaction(calls.runtime, acme):
            await call(calls.runtime, "accounts.begin_reply", KEY, REQUEST)
            waiting = asyncio.create_task(answer())
            while not await calls.admin.fetchval(
                "select exists (select from pg_stat_activity"
                " where application_name = 'second' and wait_event_type = 'Lock'"
                " and datname = current_database())"
            ):
                assert not waiting.done()
        assert await waiting == '{"in_flight": true}'


async def test_replies_and_deliveries_are_forgotten_in_time(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        source = await calls.webhook(acme)
        await calls.of(acme, "accounts.begin_reply", KEY, REQUEST)
        assert await calls.of(acme, "ingest.note_webhook", source, KEY) is True
        forgotten = []
        for minutes in (19, 2, 24 * 60):
            await calls.clock.advance(minutes=minutes)
            forgotten.append((await call(calls.runtime, "all_tenants.forget_old"))[0][0])
        assert forgotten == [0, 1, 1]


async def test_a_webhook_rotates_two_secrets_and_names_the_dropped(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        secrets = [await calls.secret(acme) for _ in range(4)]
        answers = [await calls.of(acme, "ingest.put_webhook_source", uuid7(), secret) for secret in secrets]
        assert len({answer["source_id"] for answer in answers}) == 1
        first, second, third, fourth = (str(secret) for secret in secrets)
        assert [answer["secret_ids"] for answer in answers] == [
            [first], [second, first], [third, second], [fourth, third],
        ]  # fmt: skip
        assert [answer["dropped"] for answer in answers] == [[], [], [first], [second]]


async def test_a_delivery_is_noted_once_and_only_by_the_sources_tenant(database: Database) -> None:
    async with document_calls(database) as calls:
        acme, other = await calls.create_tenant("acme"), await calls.create_tenant("other")
        source = await calls.webhook(acme)
        assert await refused(calls, other, "ingest.note_webhook", source, KEY) == "PS013"
        assert await calls.of(acme, "ingest.note_webhook", source, KEY) is True
        assert await calls.of(acme, "ingest.note_webhook", source, KEY) is False


async def test_without_a_tenant_every_call_fails_with_an_explanation(database: Database) -> None:
    async with document_calls(database) as calls:
        for function in ("accounts.show_tenant", "accounts.list_keys", "accounts.list_projects",
                         "accounts.usage_of_month", "ingest.webhook_source"):  # fmt: skip
            with pytest.raises(asyncpg.PostgresError) as error:
                await call(calls.runtime, function)
            assert error.value.sqlstate == "PS012", function
