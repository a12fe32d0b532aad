"""The objects of a bucket as a source: listed in full, looked at one by one, reconciled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import Conflict, InvalidArgument
from penstock.model import SourceId
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.objects import BUCKET, Objects
from tests.plugins.scripted_source import settled, synced
from tests.plugins.workers import eventually

LIVE = """
  select array_agg(path order by path) from ingest.document where deleted_at is null and status = 'indexed'
"""


async def add(works: Works, path: str = BUCKET, **options: Any) -> SourceId:
    added = await works.engine.sources.add(works.tenant_id, "s3", {"path": path}, **options)
    await settled(works, added.source_id)
    return added.source_id


async def become(works: Works, *keys: str) -> None:
    """Wait until exactly these objects are indexed documents."""

    async def are_there() -> bool:
        return sorted(await works.value(LIVE) or ()) == sorted(keys)

    await eventually(are_there, within=60)


async def text_of(works: Works, key: str) -> str:
    found = await works.value(
        "select string_agg(c.text, ' ') from ingest.chunk c join ingest.document d using (document_id)"
        " where d.path = $1 and d.deleted_at is null and c.generation = d.live_generation",
        key,
    )
    return str(found)


async def test_lost_events_cost_hours_and_never_a_document(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    """No event arrives: the first listing takes everything in, each reconciliation finds the rest."""
    strange = "in/a+b é%20//two#?.txt"
    objects.put("in/one.txt", "The first paper is about sluices.")
    objects.put(strange, "The second paper is about spillways.")
    objects.put("out/other.txt", "Outside of the prefix.")
    objects.put("in/folder/", "")
    async with works_on(database, tmp_path, **objects.settings) as works, works.working():
        source_id = await add(works, f"{BUCKET}/in/")
        await become(works, "in/one.txt", strange)

        objects.put("in/one.txt", "The first paper is about fish ladders now.")
        objects.put("in/new.txt", "A new paper is about weirs.")
        objects.delete(strange)
        job = await synced(works, source_id)
        assert (job["items_written"], job["items_removed"], job["kind"]) == (2, 1, "delta_sync")
        await become(works, "in/one.txt", "in/new.txt")
        await eventually(lambda: _contains(works, "in/one.txt", "fish ladders"), within=60)

        job = await synced(works, source_id)
        assert (job["items_written"], job["items_unchanged"], job["items_removed"]) == (0, 2, 0)
        shown = await works.engine.sources.show(works.tenant_id, source_id)
        assert (shown.health.state, shown.documents) == ("healthy", 2)
        assert shown.sync_every_seconds == 86_400, "every night"


async def _contains(works: Works, key: str, text: str) -> bool:
    return text in await text_of(works, key)


async def test_a_bucket_that_cannot_be_read_is_not_an_empty_one(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    objects.put("one.txt", "The first paper is about sluices.")
    async with works_on(database, tmp_path, **objects.settings) as works, works.working():
        source_id = await add(works)
        await become(works, "one.txt")
        objects.delete("one.txt")
        objects.s3.delete_bucket(Bucket=BUCKET)
        await works.engine.sources.sync(works.tenant_id, source_id)

        async def is_retrying() -> bool:
            health = (await works.engine.sources.show(works.tenant_id, source_id)).health
            return health.state == "retrying" and "there is no such bucket" in (health.reason or "")

        await eventually(is_retrying)
        assert await works.value(LIVE) == ["one.txt"]


async def test_an_object_that_cannot_become_a_document_is_told_and_read_once(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    objects.put("empty.txt", "")
    objects.put("large.txt", "x" * 2_000)
    objects.put("cold.txt", "Frozen.", StorageClass="GLACIER")
    objects.put("was.txt", "This one was a paper before.")
    settings = {**objects.settings, "max_upload_bytes": 1_000}
    async with works_on(database, tmp_path, **settings) as works, works.working():
        source_id = await add(works)
        await become(works, "was.txt")
        await eventually(lambda: _are_known(works, 4))
        objects.put("was.txt", "")
        job = await synced(works, source_id)
        assert (job["items_written"], job["items_failed"]) == (1, 4)
        assert {each["code"] for each in json.loads(job["error_details"])} == {
            "empty",
            "too_large",
            "archived",
        }
        await eventually(lambda: _is_empty(works))
        job = await synced(works, source_id)
        assert (job["items_written"], job["items_unchanged"]) == (0, 4), "none is read again"
        reasons = await works.value(
            "select array_agg(raw_payload ->> 'unusable' order by external_id) from ingest.source_document"
        )
        assert [each.partition(":")[0] for each in reasons] == [
            "it is in an archive",
            "the object is empty",
            "the object has 2000 bytes; PENSTOCK_MAX_UPLOAD_BYTES is 1000",
            "the object is empty",
        ]


async def _are_known(works: Works, count: int) -> bool:
    return bool(await works.value("select count(*) = $1 from ingest.source_document", count))


async def _is_empty(works: Works) -> bool:
    return await works.value(LIVE) is None


async def test_what_a_source_reads_is_the_operators_to_say(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    async with works_on(database, tmp_path, **objects.settings) as works:
        sources = works.engine.sources
        added = await sources.add(works.tenant_id, "s3", {"path": f"s3://{BUCKET}/in/"})
        with pytest.raises(Conflict):
            await sources.add(works.tenant_id, "s3", {"bucket": BUCKET, "prefix": "in/"})
        with pytest.raises(InvalidArgument, match="the bucket of a source cannot be changed"):
            await sources.configure(works.tenant_id, added.source_id, {"bucket": "another-tenants"})
        with pytest.raises(InvalidArgument, match="the prefix of a source cannot be changed"):
            await sources.configure(works.tenant_id, added.source_id, {"prefix": None})
        await sources.configure(works.tenant_id, added.source_id, {"region": "eu-central-1"})
        for config, field in (
            ({}, "bucket"),
            ({"path": "UPPER/x"}, "bucket"),
            ({"path": "papers/" + "x" * 1_000}, "prefix"),
            ({"bucket": BUCKET, "region": "moon"}, "region"),
            ({"bucket": BUCKET, "endpoint": "http://169.254.169.254"}, "endpoint"),
        ):
            with pytest.raises(InvalidArgument) as refused:
                await sources.add(works.tenant_id, "s3", config)
            assert refused.value.field == field
