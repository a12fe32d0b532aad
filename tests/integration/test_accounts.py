"""Accounts, stored replies and webhook sources through their Python classes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest

from penstock.accounts import Accounts, Caller, IdempotentReplies, Reply
from penstock.accounts.rows import SCOPES
from penstock.documents.rows import Taken
from penstock.errors import Conflict, InvalidArgument, KeyRefused, NotFound, PenstockError, TenantClosed
from penstock.model import KeyId, uuid7
from penstock.settings import Settings
from penstock.sources.registry import Providers
from penstock.sources.sources import Sources
from penstock.sources.webhook.webhook_source import WebhookSources
from penstock.vault import Secrets, Vault
from penstock.webhooks.signature import sign, verify
from tests.integration.intake_services import IntakeServices, intake_services, pieces
from tests.plugins.database import Database

REQUEST = b"\1" * 32
BODY = b"a delivery"


async def test_a_tenant_is_made_found_listed_and_changed(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        made = await here.accounts.create_tenant("other", "Other Ltd", monthly_token_budget=5)
        assert await here.accounts.find_tenant("other") == made
        assert [tenant.slug for tenant in await here.accounts.list_tenants()] == ["acme", "other"]
        changed = await here.accounts.set_tenant(made.tenant_id, monthly_token_budget=None, name="Renamed")
        assert (changed.name, changed.monthly_token_budget) == ("Renamed", None)
        assert (await here.accounts.show_tenant(here.acme)).name == "acme"
        with pytest.raises(Conflict):
            await here.accounts.create_tenant("other")
        with pytest.raises(NotFound):
            await here.accounts.find_tenant("nobody")
        with pytest.raises(InvalidArgument):
            await here.accounts.create_tenant("Not A Slug")


async def test_only_the_hash_of_a_key_is_at_rest(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        key = await here.accounts.create_key(here.acme, "ci", ["search", "documents:read"])
        assert key.secret.startswith("pk_")
        assert key.secret not in repr(key)
        kept = await here.value("select string_agg(k::text, ' ') from accounts.api_key k")
        assert key.secret not in kept
        assert key.secret[8:] not in kept
        (listed,) = await here.accounts.list_keys(here.acme)
        assert (listed.prefix, listed.scopes) == (key.secret[:8], ["search", "documents:read"])
        assert not hasattr(listed, "secret")


async def test_a_key_gives_access_to_its_tenant_with_its_scopes(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        runtime = Accounts(here.tenants, here.settings)
        await here.accounts.set_tenant(here.acme, requests_per_minute=7)
        key = await runtime.create_key(here.acme, "ci", ["search"])
        caller = await runtime.authenticate(key.secret)
        assert (caller.tenant_id, caller.tenant_slug, caller.requests_per_minute) == (here.acme, "acme", 7)
        assert [scope for scope in SCOPES if caller.may(scope)] == ["search"]
        admin = await runtime.authenticate((await runtime.create_key(here.acme, "root", ["admin"])).secret)
        assert all(admin.may(scope) for scope in SCOPES)


async def test_a_key_that_is_unknown_expired_or_revoked_is_refused(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        accounts = here.accounts
        for secret in ("", "pk_", "pk_unknown", "\ud800", "x" * 100_000):
            with pytest.raises(KeyRefused, match="no such key"):
                await accounts.authenticate(secret)
        expiring = await accounts.create_key(
            here.acme, "short", ["search"], datetime.now(UTC) + timedelta(hours=1)
        )
        await here.admin.execute(
            "update accounts.api_key set expires_at = now() where key_id = $1", expiring.key_id
        )
        with pytest.raises(KeyRefused, match="expired"):
            await accounts.authenticate(expiring.secret)
        key = await accounts.create_key(here.acme, "ci", ["search"])
        await accounts.authenticate(key.secret)
        await accounts.revoke_key(here.acme, key.key_id)
        with pytest.raises(KeyRefused, match="revoked"):
            await accounts.authenticate(key.secret)
        with pytest.raises(NotFound):
            await accounts.revoke_key(here.acme, KeyId(uuid7()))


async def test_a_key_of_a_deleted_tenant_is_refused(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        key = await here.accounts.create_key(here.acme, "ci", ["search"])
        await here.admin.execute("update accounts.tenant set status = 'deleted', deleted_at = now()")
        with pytest.raises(TenantClosed):
            await here.accounts.authenticate(key.secret)


async def test_a_key_without_a_scope_or_with_a_past_expiry_is_not_created(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        for scopes in ([], ["everything"]):
            with pytest.raises(InvalidArgument) as refused:
                await here.accounts.create_key(here.acme, "ci", scopes)  # type: ignore[arg-type]  # that is the point
            assert refused.value.field == "scopes"
        with pytest.raises(InvalidArgument):
            await here.accounts.create_key(here.acme, "ci", ["search"], datetime.now(UTC))
        assert await here.accounts.list_keys(here.acme) == []


async def test_a_project_keeps_its_settings_and_refuses_invalid_ones(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        accounts = here.accounts
        made = await accounts.create_project(
            here.acme, "mail", "Mail", text_config="german", chunk_tokens=100
        )
        assert (made.embedder, made.text_config, made.chunk_tokens) == (here.settings.embedder, "german", 100)
        assert await accounts.show_project(here.acme, made.project_id) == made
        assert [project.slug for project in await accounts.list_projects(here.acme)] == ["default", "mail"]
        changed = await accounts.set_project(here.acme, "mail", chunk_overlap=50, name="Post")
        assert (changed.chunk_overlap, changed.chunk_tokens, changed.name) == (50, 100, "Post")
        for change in (
            {"chunk_overlap": 51},
            {"chunk_tokens": 15},
            {"chunk_strategy": "magic"},
            {"text_config": "klingon"},
        ):
            with pytest.raises(InvalidArgument) as refused:
                await accounts.set_project(here.acme, "mail", **change)
            assert refused.value.field == next(iter(change))
        with pytest.raises(NotFound):
            await accounts.show_project(here.acme, "nowhere")
        assert await accounts.show_project(here.acme, "mail") == changed


async def test_an_embedder_of_the_settings_that_cannot_be_used_is_refused_by_the_settings_name(
    database: Database, tmp_path: Path
) -> None:
    def unknown(name: str) -> None:
        raise InvalidArgument(f"there is no embedder {name!r}", "embedder", "Use another")

    async with intake_services(database, tmp_path) as here:
        pool = here.accounts._tenants
        accounts = Accounts(pool, Settings(embedder="nope"), unknown)
        for refused in (accounts.create_tenant("other"), accounts.create_project(here.acme, "second")):
            with pytest.raises(InvalidArgument, match=r"^PENSTOCK_EMBEDDER: there is no embedder 'nope'"):
                await refused
        with pytest.raises(InvalidArgument, match=r"^there is no embedder 'own'"):
            await accounts.create_project(here.acme, "second", embedder="own")


async def test_usage_is_reported_by_month_and_model(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        async with here.tenants.transaction(here.acme) as conn:
            await conn.execute("select accounts.note_usage('minilm', 30, 2, 10, 5)")
        (used,) = await here.accounts.usage(here.acme)
        assert (used.model, used.tokens, used.calls, used.texts, used.reused) == ("minilm", 30, 2, 10, 5)
        assert await here.accounts.usage(here.acme, date(2001, 1, 1)) == []


async def caller_of(here: IntakeServices) -> Caller:
    return await here.accounts.authenticate(
        (await here.accounts.create_key(here.acme, "c", ["search"])).secret
    )


async def test_a_request_sent_twice_is_done_once(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        replies = IdempotentReplies(here.tenants)
        caller = await caller_of(here)

        async def begin(request: bytes = REQUEST) -> Reply | None:
            return await replies.begin(caller, "key", request)

        assert await begin() is None
        with pytest.raises(Conflict):
            await begin()
        await replies.keep(caller, "key", None)
        assert await begin() is None
        await replies.keep(caller, "key", Reply(202, {"ingestion_id": "1"}))
        assert await begin() == Reply(202, {"ingestion_id": "1"})
        with pytest.raises(InvalidArgument) as refused:
            await begin(b"\2" * 32)
        assert refused.value.field == "Idempotency-Key"
        other = await caller_of(here)
        assert await replies.begin(other, "key", REQUEST) is None, "another API key asks for itself"


async def test_of_many_requests_with_one_key_only_one_continues(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        replies = IdempotentReplies(here.tenants)
        caller = await caller_of(here)
        ends = await asyncio.gather(
            *(replies.begin(caller, "key", REQUEST) for _ in range(30)), return_exceptions=True
        )
        assert ends.count(None) == 1
        assert sum(isinstance(end, Conflict) for end in ends) == 29


@asynccontextmanager
async def webhooks(database: Database, folder: Path) -> AsyncIterator[tuple[IntakeServices, WebhookSources]]:
    async with intake_services(database, folder) as here:
        secrets = Secrets(Vault.from_settings(here.settings))
        yield (
            here,
            WebhookSources(
                here.tenants,
                Sources(
                    here.tenants,
                    lambda: secrets,
                    Providers(here.settings),
                    lambda: pytest.fail("nothing is connected here"),
                    here.settings,
                    lambda: pytest.fail("nothing logs in here"),
                ),
                secrets,
            ),
        )


async def deliver(
    here: IntakeServices, sources: WebhookSources, secret: str, message_id: str, body: bytes = BODY
) -> Taken:
    headers = sign(secret, message_id, datetime.now(UTC), body)
    source = await sources.find(here.acme)
    message = verify(source.secrets, headers, body, datetime.now(UTC))
    return await here.intake.take_in(
        here.acme,
        pieces(body),
        filename="d.txt",
        **source.provenance(message, path="/webhook/acme", source_ip="192.0.2.1"),
    )


async def test_a_signed_delivery_becomes_a_document_of_its_source(database: Database, tmp_path: Path) -> None:
    async with webhooks(database, tmp_path) as (here, sources):
        with pytest.raises(NotFound):
            await sources.find(here.acme)
        made = await sources.rotate(here.acme)
        taken = await deliver(here, sources, made.secret, "m1")
        ingestion = await here.documents.ingestion(here.acme, taken.ingestion_id)
        assert (ingestion.source_id, ingestion.uploaded_by) == (made.source_id, None)
        assert ingestion.source_metadata == {
            "webhook_path": "/webhook/acme", "source_ip": "192.0.2.1", "message_id": "m1",
            "filename": "d.txt",
        }  # fmt: skip
        kept = await here.value("select string_agg(s::text, ' ') from vault.secret s")
        assert made.secret not in kept
        assert made.secret.encode().hex() not in kept


async def test_two_secrets_are_valid_and_a_third_invalidates_the_first(
    database: Database, tmp_path: Path
) -> None:
    async with webhooks(database, tmp_path) as (here, sources):
        first, second = await sources.rotate(here.acme), await sources.rotate(here.acme)
        await deliver(here, sources, first.secret, "m1")
        await deliver(here, sources, second.secret, "m2")
        third = await sources.rotate(here.acme)
        assert first.source_id == second.source_id == third.source_id
        for made, good in ((first, False), (second, True), (third, True)):
            try:
                await deliver(
                    here, sources, made.secret, f"again {good}".replace(" ", "-") + made.secret[-5:-1]
                )
                assert good
            except PenstockError:
                assert not good
        assert await here.value("select count(*) from vault.secret") == 2
        assert (await sources.find(here.acme)).secrets == (third.secret, second.secret)


async def test_creating_a_webhook_many_times_at_once_creates_one_source(
    database: Database, tmp_path: Path
) -> None:
    async with webhooks(database, tmp_path) as (here, sources):
        made = await asyncio.gather(*(sources.rotate(here.acme) for _ in range(5)))
        assert len({one.source_id for one in made}) == 1
        assert set((await sources.find(here.acme)).secrets) <= {one.secret for one in made}
        assert await here.value("select count(*) from vault.secret") == 2


async def test_a_delivery_sent_twice_is_refused_unless_the_first_failed(
    database: Database, tmp_path: Path
) -> None:
    async with webhooks(database, tmp_path) as (here, sources):
        made = await sources.rotate(here.acme)
        moment = datetime.now(UTC)
        source = await sources.find(here.acme)
        message = verify(source.secrets, sign(made.secret, "m1", moment, BODY), BODY, moment)

        async def send() -> Taken:
            return await here.intake.take_in(
                here.acme, pieces(BODY), **source.provenance(message, path="/webhook/acme", source_ip=None)
            )

        here.blobs.error = OSError("the disk is full")
        with pytest.raises(OSError, match="the disk is full"):
            await send()
        await send()
        with pytest.raises(InvalidArgument, match="already received"):
            await send()
        assert await here.value("select count(*) from ingest.ingestion") == 1
        other = (await here.accounts.create_tenant("other")).tenant_id
        await sources.rotate(other)
        with pytest.raises(PenstockError):
            await here.intake.take_in(
                other, pieces(BODY), **source.provenance(message, path="/webhook/other", source_ip=None)
            )


async def test_the_runtime_login_makes_no_tenant(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await Accounts(here.tenants, here.settings).create_tenant("another")
