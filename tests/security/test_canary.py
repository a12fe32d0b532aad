"""Nothing a tenant ever stored is left after its deletion: not in a table, a file, an index or a log."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.observe import configure
from penstock.simulators import serving
from tests.integration.deleting import ended, hurried, replaced
from tests.plugins.database import Database
from tests.plugins.documents import Works
from tests.plugins.smtp import mail_server
from tests.security.canary import Canary, columns_with, files_with
from tests.security.canary_planting import NO_TENANT_TEXT, Judge, Sync, planted, text_columns

pytestmark = pytest.mark.timeout(300)

ECHO = "begin raise exception '%', (select t.name from accounts.tenant t where t.status = 'deleted'); end"


@pytest.fixture
def logs() -> Iterator[io.StringIO]:
    """Everything logged, as an installation logs it."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure("info", "json", stream=stream)
    yield stream
    for handler in [known for known in root.handlers if known not in before]:
        root.removeHandler(handler)
    root.setLevel(level)


@asynccontextmanager
async def tenant_with(
    database: Database, folder: Path, canary: Canary, **settings: Any
) -> AsyncIterator[tuple[Works, Sync]]:
    async with (
        mail_server() as mail,
        hurried(
            database, folder, slug=canary.mark("slug"), classifier=Judge(), **mail.settings, **settings
        ) as works,
        planted(works, mail, canary) as sync,
    ):
        yield works, sync


@asynccontextmanager
async def qdrant_at(folder: Path, index: str) -> AsyncIterator[dict[str, str]]:
    """The settings of this index; for Qdrant, of a server with its files in this folder."""
    if index == "pgvector":
        yield {}
        return
    from penstock.simulators.qdrant import QdrantSimulator

    folder.mkdir()
    server = QdrantSimulator(folder)
    try:
        async with serving(server.app) as url:
            yield {"index": "qdrant", "qdrant_url": url}
            assert [shard.shard.info().points_count for shard in server.shards.values()] == [0]
    finally:
        server.close()


def files_naming(folder: Path, tenant_id: UUID) -> list[Path]:
    """The files in which there are points of this tenant."""
    wanted = str(tenant_id).encode()
    return [path for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]


@pytest.mark.parametrize("index", ["pgvector", "qdrant"])
async def test_nothing_a_tenant_stored_is_left_after_its_deletion(
    database: Database, tmp_path: Path, logs: io.StringIO, index: str
) -> None:
    canary = Canary()
    async with (
        qdrant_at(tmp_path / "qdrant", index) as settings,
        tenant_with(database, tmp_path, canary, **settings) as (works, sync),
        database.connect("admin") as admin,
    ):
        there = await columns_with(admin, canary)
        columns = await text_columns(admin)
        assert columns - there - NO_TENANT_TEXT.keys() == set(), "plant these, or say why no text gets there"
        assert NO_TENANT_TEXT.keys() <= columns, "these are no columns any more"
        assert NO_TENANT_TEXT.keys() & there == set(), "these do hold what a tenant wrote"
        assert "pg_statistic.stavalues1" in there
        stored = files_with(tmp_path, canary)
        # Qdrant's files keep what was deleted for long: no text gets there in the first place.
        assert {name.split("/")[0] for name in stored} == {"blobs"}
        if index == "qdrant":
            assert files_naming(tmp_path / "qdrant", works.tenant_id)

        # The first request fails with an error that echoes the name; that is kept, and must go as well.
        async with replaced(database, "accounts.anonymize_account", ECHO):
            await works.engine.deletions.request(works.tenant_id)
            assert sync.started.is_set()
            failed = await ended(works)
        assert failed.status == "failed"
        assert canary.is_in(failed.error or "")
        assert sync.cancelled.is_set()
        await works.engine.deletions.request(works.tenant_id)
        assert (await ended(works)).status == "succeeded"

        assert await columns_with(admin, canary) == set()
        assert files_with(tmp_path, canary) == set()
    assert [line for line in logs.getvalue().splitlines() if canary.is_in(line)] == []
    assert "worker_started" in logs.getvalue()


async def test_the_search_finds_what_is_not_overwritten(database: Database, tmp_path: Path) -> None:
    canary = Canary()
    async with (
        tenant_with(database, tmp_path, canary) as (works, _),
        database.connect("admin") as admin,
        replaced(database, "accounts.overwrite_personal", "begin return '{}'; end"),
    ):
        await works.engine.deletions.request(works.tenant_id)
        assert (await ended(works)).status == "succeeded"
        left = await columns_with(admin, canary)
        assert left >= {
            "accounts.tenant.name",
            "accounts.project.slug",
            "ingest.document.metadata",
            "ingest.document.warnings",
            "ingest.document.content_sha256",
            "ingest.ingestion.skip_reason",
            "ingest.client_intelligence.key_facts",
            "ingest.source.config",
            "comms.email_message.to_addresses",
            "pg_statistic.stavalues1",
        }
        assert (
            not {"ingest.chunk.text", "queues.dead_letter.payload", "comms.email_attachment.content"} & left
        )


def test_a_canary_is_found_in_every_form() -> None:
    canary, text = Canary(), "dear {}, yours"
    whole = text.format(canary.mark("field"))
    forms = {whole, whole.upper(), whole.encode().hex(), f"\\x{whole.encode('utf-16-le').hex()}"}
    for before in ("", "a", "ab"):
        encoded = base64.b64encode((before + whole).encode())
        forms |= {encoded.decode(), f"\\x{encoded.hex()}"}
    assert [form for form in forms if not canary.is_in(form)] == []
    assert canary.is_in_bytes(b"\0" + whole.encode("utf-16-be"))
    assert not canary.is_in(text.format(Canary().mark("field")))
