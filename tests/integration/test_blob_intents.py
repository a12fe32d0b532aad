"""Maintenance removes only blobs this database recorded before they were written, wherever an upload died."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from penstock.blobs.intents import Intents
from penstock.errors import InvalidMove
from penstock.index import Index
from penstock.pipeline.maintenance import ORPHAN_AGE, DocumentMaintenance
from tests.integration.crashing_upload import SWEEP, UPLOAD, NoIndex
from tests.integration.intake_services import IntakeServices, intake_services
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.forked import start
from tests.plugins.workers import ROOT, eventually

NOW = timedelta(seconds=-60)


def maintenance(here: IntakeServices) -> DocumentMaintenance:
    return DocumentMaintenance(here.tenants, here.blobs, cast("Index", NoIndex()))


async def crash(here: IntakeServices, moment: str) -> None:
    arguments = (moment, here.database.runtime_url, str(here.blobs.folder.parent), str(here.acme))
    child = start(
        ("tests.integration.crashing_upload", *arguments), ROOT, os.environ,
        stdin=None, stdout=None, stderr=None,
    )  # fmt: skip
    assert await asyncio.to_thread(child.wait) == -signal.SIGKILL

    async def gone() -> bool:
        count = await here.value("select count(*) from pg_stat_activity where application_name = 'crashing'"
                                 " and datname = current_database()")  # fmt: skip
        return int(count) == 0

    await eventually(gone, what="the server has noticed that the process died")


@pytest.mark.parametrize("moment", UPLOAD)
async def test_an_upload_killed_at_any_moment_leaves_its_document_or_an_intent(
    database: Database, tmp_path: Path, moment: str
) -> None:
    async with intake_services(database, tmp_path) as here:
        kept = await here.upload(b"another document")
        await crash(here, moment)
        orphans = await here.orphans()
        assert len(orphans) == (moment == "blob written")
        documents = 2 if moment == "committed" else 1
        assert await here.value("select count(*) from ingest.document") == documents
        assert await maintenance(here).remove_orphans() == 0
        assert len(here.blobs.files) == documents + len(orphans)
        await maintenance(here).remove_orphans(NOW)
        assert here.blobs.files == await here.live_blobs()
        assert len(here.blobs.files) == documents
        assert await here.blob_of(kept.document_id) in here.blobs.files
        assert await here.value("select count(*) from files.blob_intent") == 0


@pytest.mark.parametrize("moment", SWEEP)
async def test_a_sweep_killed_at_any_moment_is_finished_by_a_later_one(
    database: Database, tmp_path: Path, moment: str
) -> None:
    async with intake_services(database, tmp_path) as here:
        await here.upload(b"another document")
        await crash(here, "blob written")
        await crash(here, moment)
        assert await maintenance(here).remove_orphans(NOW) == 0, "the dead sweeper may still be at work"
        await here.admin.execute("update files.blob_intent set abandoned_at = now() - interval '11 minutes'")
        assert await maintenance(here).remove_orphans(NOW) >= 1
        assert here.blobs.files == await here.live_blobs()
        assert await here.value("select count(*) from files.blob_intent") == 0


async def test_maintenance_leaves_blobs_alone_that_this_database_did_not_write(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        strangers = [here.blobs.folder / "documents" / name for name in ("theirs.pdf", str(here.acme))]
        await here.upload(b"ours")
        for stranger in strangers:
            stranger.write_text("somebody else's original")
        await maintenance(here).remove_orphans(NOW)
        assert all(stranger.exists() for stranger in strangers)


async def test_an_original_in_use_is_not_removed_even_if_an_old_intent_names_it(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        kept = await here.upload(b"ours")
        await here.admin.execute(
            "insert into files.blob_intent (file_id, tenant_id, blob_path, origin, created_at)"
            " select gen_random_uuid(), f.tenant_id, f.blob_path, files.store_origin(),"
            " now() - interval '2 days' from files.file f"
        )
        assert await maintenance(here).remove_orphans(NOW) == 0
        assert await here.blob_of(kept.document_id) in here.blobs.files


async def test_a_restored_copy_of_the_database_removes_nothing_of_the_original(
    database: Database, tmp_path: Path
) -> None:
    """Intents that were open when the dump was made may be documents of the original by now."""
    async with intake_services(database, tmp_path) as here:
        await here.upload(b"ours")
        await crash(here, "blob written")
        (orphan,) = await here.orphans()
        await here.admin.execute("update files.blob_intent set origin = '7301.1/5/16402', created_at = "
                                 "now() - interval '1 day'")  # fmt: skip
        assert await maintenance(here).remove_orphans(NOW) == 0
        assert orphan in here.blobs.files
        await here.admin.execute("update files.blob_intent set created_at = now() - interval '8 days'")
        assert await maintenance(here).remove_orphans(NOW) == 0
        assert await here.value("select count(*) from files.blob_intent") == 0
        assert orphan in here.blobs.files


async def test_an_upload_in_progress_is_not_swept_however_old_its_intent_is(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        here.blobs.gate = asyncio.Event()
        upload = asyncio.create_task(here.upload(b"slow"))
        await eventually(lambda: here.blobs.written)
        assert await maintenance(here).remove_orphans(NOW) == 0
        here.blobs.gate.set()
        taken = await upload
        assert here.blobs.files == {await here.blob_of(taken.document_id)}


async def test_an_abandoned_intent_is_no_longer_used(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        await here.upload(b"one")
        await here.upload(b"two")  # recorded two
        await here.admin.execute("update files.blob_intent set abandoned_at = now()")
        with pytest.raises(InvalidMove, match="was abandoned"):
            await here.upload(b"three")
        assert len(here.blobs.files) == 2


async def test_intents_are_recorded_for_many_uploads_at_once_and_those_not_used_serve_the_next(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        intents = Intents(here.tenants)
        seen = []
        for _ in range(100):
            async with intents.take(here.acme) as intent:
                intent.used = True
                seen.append(intent.file_id)
        assert len(set(seen)) == 100
        assert await here.value("select count(distinct created_at) from files.blob_intent") <= 8
        for _ in range(100):
            async with intents.take(here.acme) as intent:
                pass
        assert await here.value("select count(distinct created_at) from files.blob_intent") <= 9


async def test_blobs_of_interrupted_uploads_of_a_deleted_tenant_are_removed_at_once(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        await crash(here, "blob written")
        assert await maintenance(here).remove_orphans(ORPHAN_AGE) == 0
        await here.admin.execute(
            "update accounts.tenant set status = 'deleted' where tenant_id = $1", here.acme
        )
        assert await maintenance(here).remove_orphans(ORPHAN_AGE) == 1
        assert here.blobs.files == set()


async def test_doctor_lists_unknown_and_missing_blobs_and_deletes_nothing(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    mill = penstock.with_variables(PENSTOCK_DATA_DIR=str(tmp_path))
    async with intake_services(database, tmp_path) as here:
        kept, lost = await here.upload(b"kept"), await here.upload(b"lost")
        replaced = await here.upload(b"first", external_id="x")
        await here.upload(b"second", external_id="x")
        await crash(here, "blob written")
        clean = await asyncio.to_thread(mill, "doctor", "--blobs", "--json")
        assert clean.code == 0, clean.err
        assert (clean.json["in_store"], clean.json["in_database"]) == (5, 3)
        assert (clean.json["unknown"]["count"], clean.json["missing"]["count"]) == (0, 0)

        (here.blobs.folder / "documents" / "theirs.pdf").write_text("somebody else's original")
        path = await here.blob_of(lost.document_id)
        (here.blobs.folder / path).unlink()
        before = here.blobs.files
        found = await asyncio.to_thread(mill, "doctor", "--blobs", "--json")
        assert found.code == 4
        assert found.json["unknown"] == {"count": 1, "paths": ["documents/theirs.pdf"]}
        assert found.json["missing"]["count"] == 1
        assert found.json["missing"]["blobs"] == [
            {"blob_path": path, "document_id": str(lost.document_id), "tenant_id": str(here.acme)}
        ]
        said = await asyncio.to_thread(mill, "doctor", "--blobs")
        assert "unknown   documents/theirs.pdf" in said.out
        assert f"missing   {path}  document {lost.document_id}" in said.out
        assert "\n2 in the store: uploads in progress or interrupted" in said.out, "the counts add up"
        assert here.blobs.files == before
        assert {await here.blob_of(each.document_id) for each in (kept, replaced)} < before
