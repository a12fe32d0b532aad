"""Workers killed in mid-listing of a bucket: at the end every object is exactly one document."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.s3.responses import S3Response

from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.objects import BUCKET, Objects
from tests.plugins.scripted_source import settled
from tests.plugins.workers import Crew, ended, eventually

PAPERS, PAGE = 12, 3
"""A listing of four pages and, as S3 may answer fewer keys than it was asked for, pages of three."""
INDEXED = """
  select coalesce(array_agg(path order by path), '{}') from ingest.document
  where deleted_at is null and status = 'indexed'
"""
TWICE = """
  select
    (select count(*) from (
      select from ingest.document where deleted_at is null group by path having count(*) > 1) d)
    + (select count(*) from (
      select from ingest.chunk c join ingest.document d using (document_id)
      where c.generation = d.live_generation group by c.document_id, c.ordinal having count(*) > 1) c)
"""


class Listing:
    """The listing as the server answers it: page by page, and held back at a chosen page."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []
        """After which key each page was asked for."""
        self._hold_at: int | None = None
        self.held = threading.Event()
        self._released = threading.Event()

    def hold(self, page: int) -> None:
        """Do not answer the request for this page of the bucket, the first being 0."""
        self._hold_at = page
        self.held.clear()
        self._released.clear()

    def release(self) -> None:
        self._hold_at = None
        self._released.set()

    def look(self, after: str | None) -> None:
        self.asked.append(after)
        page = 0 if after is None else (int(after[6:8]) + 1) // PAGE
        if page == self._hold_at:
            self.held.set()
            self._released.wait(60)


@pytest.fixture
def listing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listing]:
    made = Listing()
    answer = S3Response.list_objects_v2

    def answered(response: Any) -> Any:
        made.look(response.querystring.get("start-after", [None])[0])
        response.querystring["max-keys"] = [str(PAGE)]
        return answer(response)

    monkeypatch.setattr(S3Response, "list_objects_v2", answered)
    yield made
    made.release()


def key(number: int) -> str:
    return f"paper-{number:02}.txt"


async def killed_at(listing: Listing, page: int, worker: subprocess.Popen[bytes]) -> None:
    """Kill the worker while it waits for this page of the listing."""
    await eventually(listing.held.is_set, within=90, what=f"page {page} is asked for")
    worker.kill()
    await ended(worker)


async def are_indexed(works: Works, keys: list[str]) -> bool:
    return list(await works.value(INDEXED)) == keys


@pytest.mark.timeout(400)
async def test_a_worker_killed_in_mid_listing_loses_and_doubles_no_document(
    database: Database, tmp_path: Path, objects: Objects, listing: Listing, crew: Crew
) -> None:
    for number in range(PAPERS):
        objects.put(key(number), f"Paper {number} is about the sluice with the number {number}.")

    def start() -> subprocess.Popen[bytes]:
        return crew.spawn("penstock", "worker", data_dir=tmp_path, parse_processes=1, **objects.settings)

    async with works_on(database, tmp_path, **objects.settings) as works:
        # The first full listing, killed before its first page, in its middle and at its last page.
        listing.hold(0)
        worker = start()
        added = await works.engine.sources.add(works.tenant_id, "s3", {"path": BUCKET})
        for page, following in ((0, 2), (2, 3), (3, None)):
            await killed_at(listing, page, worker)
            listing.release()
            if following is not None:
                listing.hold(following)
            worker = start()
        job = await settled(works, added.source_id, within=90)
        assert (job["status"], job["items_failed"], job["items_removed"]) == ("completed", 0, 0)
        keys = [key(number) for number in range(PAPERS)]
        await eventually(lambda: are_indexed(works, keys), within=90)
        assert listing.asked.count(None) == 2, "the first page was asked for again only by the first heir"

        # The nightly reconciliation, killed twice; what was not listed yet must not be taken for deleted.
        objects.put(key(1), "Paper 1 is about fish ladders now.")
        objects.put(key(PAPERS), "A new paper is about weirs.")
        objects.delete(key(7))
        keys = [*(each for each in keys if each != key(7)), key(PAPERS)]
        listing.hold(1)
        await works.engine.sources.sync(works.tenant_id, added.source_id)
        await killed_at(listing, 1, worker)
        assert await works.value("select count(*) from ingest.document where deleted_at is not null") == 0
        listing.release()
        listing.hold(3)
        worker = start()
        await killed_at(listing, 3, worker)
        assert await works.value("select count(*) from ingest.document where deleted_at is not null") == 0
        listing.release()
        worker = start()
        job = await settled(works, added.source_id, within=90)
        assert (job["status"], job["items_removed"], job["items_failed"]) == ("completed", 1, 0)
        await eventually(lambda: are_indexed(works, keys), within=90)
        assert await works.value(TWICE) == 0
        texts = await works.value(
            "select string_agg(c.text, ' ') from ingest.chunk c join ingest.document d using (document_id)"
            " where d.path = $1 and d.deleted_at is null and c.generation = d.live_generation",
            key(1),
        )
        assert "fish ladders" in texts
        assert await works.value("select count(*) from queues.dead_letter") == 0
        worker.terminate()
        await ended(worker, within=40)
