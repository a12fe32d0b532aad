"""The benchmark of notifications at its smallest: it runs, and what does not depend on time is correct."""

from __future__ import annotations

from pathlib import Path

from bench.documents.place import Place
from bench.push.__main__ import child, subscribe
from bench.push.load import notify
from tests.plugins.database import Database
from tests.plugins.workers import eventually


async def test_every_notification_is_accepted_and_the_mailboxes_are_synced(
    database: Database, tmp_path: Path
) -> None:
    place = Place(database.admin_url, database.runtime_url, database.operator_url, str(tmp_path))
    async with child("worker", place), child("api", place) as told, database.connect("admin") as admin:
        items = await subscribe(place, 2)
        answers = await notify(told["url"], items, rate=20, seconds=1)
        assert (len(answers.seconds), answers.statuses[202]) == (20, 20)
        assert 0 < answers.percentile(0.5) <= answers.percentile(0.99)
        synced = "select count(*) = 2 from ingest.source where synced_at is not null"
        await eventually(lambda: admin.fetchval(synced), within=60, what="both mailboxes are synced")
