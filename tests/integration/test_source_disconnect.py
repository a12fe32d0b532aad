"""A disconnected source is gone at once; its tokens are revoked, its documents kept or deleted as asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import InvalidArgument, NotFound
from penstock.model import SourceId
from tests.integration.connecting_sources import Connections, connections
from tests.integration.deleting import ended
from tests.plugins.database import Database
from tests.plugins.scripted_source import settled
from tests.plugins.workers import eventually
from tests.security.canary import Canary, columns_with, files_with


async def fill(here: Connections, source_id: SourceId, documents: int) -> None:
    """Documents and facts as a sync leaves them."""
    async with here.works.database.connect("admin") as admin:
        await admin.execute(
            """
            with made as (
              insert into ingest.document (
                document_id, tenant_id, project_id, source_id, external_id, identity, content_sha256,
                size_bytes, mime_type, status, live_generation, created_at, updated_at)
              select internal.uuid7(), s.tenant_id, s.project_id, s.source_id, 'contacts/' || n, 'item',
                sha256(n::text::bytea), 1, 'text/plain', 'indexed', 1, now(), now()
              from ingest.source s, generate_series(1, $2) n where s.source_id = $1
              returning *)
            insert into ingest.source_document (
              source_id, external_id, tenant_id, stream, document_type, document_id, raw_payload,
              payload_sha256, pass, created_at, updated_at)
            select m.source_id, m.external_id, m.tenant_id, 'contacts', 'hubspot.contact', m.document_id,
              '{}', m.content_sha256, 1, now(), now()
            from made m
            """,
            source_id,
            documents,
        )
        await admin.execute(
            "insert into ingest.source_stream (source_id, stream, tenant_id, cursor, updated_at)"
            " values ($1, 'contacts', $2, '{}', now())",
            source_id,
            here.works.tenant_id,
        )


async def left(here: Connections, table: str, source_id: SourceId) -> int:
    return int(await here.works.value(f"select count(*) from {table} where source_id = $1", source_id))


async def test_disconnecting_revokes_the_token_and_then_deletes_it(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect("quickbooks")
        (grant,) = here.simulators.quickbooks.oauth.grants.grants
        sources, tenant_id = here.works.engine.sources, here.works.tenant_id
        done = await sources.disconnect(tenant_id, source_id, documents="keep")
        assert done.revoking
        assert not done.deleted
        assert await sources.list(tenant_id) == []
        with pytest.raises(NotFound):
            await here.token(source_id)
        async with here.works.working():
            await eventually(lambda: _gone(here, source_id), what="the tokens are deleted")
        assert grant.revoked
        assert await here.works.value("select outcome from ingest.revocation") == "revoked"


async def test_a_provider_that_is_down_is_asked_again_and_the_source_is_gone_meanwhile(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        fault = here.simulators.fail("server_error", "hubspot", surface="revoke")
        await here.works.engine.sources.disconnect(here.works.tenant_id, source_id, documents="keep")
        async with here.works.working():
            await eventually(
                lambda: here.works.value(
                    "select exists (select from queues.attempt where outcome = 'failed')"
                ),
                what="the revocation failed",
            )
            assert fault.hits == 1
            assert await left(here, "vault.secret", source_id) == 2
            assert await here.works.engine.sources.list(here.works.tenant_id) == []
            await here.works.value("update queues.waiting set due_at = now() returning true")
            await eventually(lambda: _gone(here, source_id), what="the tokens are deleted")
        assert here.simulators.hubspot.oauth.grants.grants[0].revoked


async def test_a_source_connected_again_meanwhile_keeps_its_new_grant(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect("google_drive")
        await here.works.engine.sources.disconnect(here.works.tenant_id, source_id, documents="keep")
        assert await here.connect("google_drive") == source_id
        async with here.works.working():
            await eventually(
                lambda: here.works.value("select ended_at is not null from ingest.revocation"),
                what="the revocation ends",
            )
        assert await here.works.value("select outcome from ingest.revocation") == "not_needed"
        assert here.simulators.ledger.count("google_drive", "revoke") == 0
        await here.expire(source_id)
        await here.token(source_id)


async def test_documents_are_kept_or_deleted_as_asked(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        sources, tenant_id = here.works.engine.sources, here.works.tenant_id
        source_id = await here.connect()
        await fill(here, source_id, 450)
        await sources.disconnect(tenant_id, source_id, documents="keep")
        live = "ingest.document where deleted_at is null and live_generation > 0 and source_id"
        assert await here.works.value(f"select count(*) from {live} = $1", source_id) == 450

        assert await here.connect() == source_id, "what was kept belongs to the same source again"
        done = await sources.disconnect(tenant_id, source_id, documents="delete")
        assert (done.documents, done.deleted, done.deleting) == (450, True, True)
        assert await here.works.value(f"select count(*) from {live} = $1", source_id) == 0, "hidden at once"
        async with here.works.working():
            await eventually(lambda: _emptied(here, source_id), what="the rest is deleted by the queue")
        assert await left(here, "ingest.source_document", source_id) == 0

        assert await here.connect() != source_id


async def test_disconnecting_stops_the_sync_and_asks_what_happens_to_the_documents(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        sources, tenant_id = here.works.engine.sources, here.works.tenant_id
        source_id = await here.connect()
        async with here.works.engine.tenants.transaction(tenant_id) as conn:
            await conn.fetchval("select ingest.begin_sync($1, 1)", source_id)
        with pytest.raises(InvalidArgument, match="documents"):
            await sources.remove(tenant_id, source_id)
        with pytest.raises(InvalidArgument, match="documents"):
            await sources.disconnect(tenant_id, source_id, documents="burn")  # type: ignore[arg-type]  # wrong on purpose
        await sources.disconnect(tenant_id, source_id, documents="keep")
        assert await left(here, "ingest.pending_sync", source_id) == 0
        assert await here.works.value("select status::text from ingest.ingestion_job") == "cancelled"
        with pytest.raises(NotFound):
            await sources.disconnect(tenant_id, source_id, documents="keep")


async def test_a_deleted_tenants_tokens_are_revoked_first_and_the_receipt_says_so(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        for provider in ("hubspot", "quickbooks"):
            await here.connect(provider)
        await here.works.engine.deletions.request(here.works.tenant_id)
        async with here.works.working():
            deletion = await ended(here.works)
        receipt = deletion.receipt
        assert receipt is not None
        assert receipt["removed"]["tokens_revoked"] == 2
        assert receipt["removed"]["tokens_not_revoked"] == 0
        for simulated in (here.simulators.hubspot, here.simulators.quickbooks):
            assert all(grant.revoked for grant in simulated.oauth.grants.grants)
        assert await here.works.value("select count(*) from vault.secret") == 0
        assert await here.works.value("select count(*) from ingest.source where account is not null") == 0


async def test_a_canary_finds_nothing_of_a_deleted_tenants_sources(
    database: Database, tmp_path: Path
) -> None:
    canary = Canary()
    async with connections(database, tmp_path) as here, database.connect("admin") as admin:
        world = here.simulators.world
        company = next(iter(world.hubspot.companies.live()))
        world.hubspot.companies.change(company.id, {"description": f"It builds {canary.mark('sluices')}."})
        here.simulators.change("threads", "add", fields={"subject": canary.mark("subject")})
        async with here.works.working():
            for provider in ("hubspot", "gmail"):
                job = await settled(here.works, await here.connect(provider))
                failed = await admin.fetch("select error_code, error_message from queues.error")
                assert (job["status"], job["items_failed"]) == ("completed", 0), f"{dict(job)} {failed}"
            there = await columns_with(admin, canary)
            assert {"ingest.source_document.raw_payload", "ingest.chunk.text"} <= there
            assert any(name.startswith("ingest.client") for name in there)
            tokens = [Canary(token) for name in ("hubspot", "gmail") for token in here.secrets_of(name)]
            await here.works.engine.deletions.request(here.works.tenant_id)
            assert (await ended(here.works)).status == "succeeded"
        await admin.execute("analyze")
        for each in (canary, *tokens):
            assert await columns_with(admin, each) == set()
            assert files_with(tmp_path, each) == set()
        for simulated in (here.simulators.hubspot, here.simulators.gmail):
            assert all(grant.revoked for grant in simulated.oauth.grants.grants)


async def _gone(here: Connections, source_id: SourceId) -> bool:
    return await left(here, "vault.secret", source_id) == 0


async def _emptied(here: Connections, source_id: SourceId) -> bool:
    live = "select count(*) from ingest.document where source_id = $1 and deleted_at is null"
    return (
        await here.works.value(live, source_id) == 0
        and await left(here, "ingest.source_stream", source_id) == 0
    )
