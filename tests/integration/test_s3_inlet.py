"""Events of a bucket: each has the object looked at as it is now, whatever their order and number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.accounts.accounts import Accounts
from penstock.db.reconnecting import ReconnectingConnection
from penstock.db.tenancy import TenantPool
from penstock.db.types import Record
from penstock.inlets import s3, sqs
from tests.integration.moving import add_inlet, figures, moving
from tests.integration.test_s3_source import LIVE, add, become, text_of
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.objects import BUCKET, Objects, event, record
from tests.plugins.workers import Crew, ended, eventually

POINTS = ("inlet.received", "inlet.committed", "inlet.acknowledged")
LOOKS = "select count(*) from queues.task where task_type = 'read-item'"
OPEN_LOOKS = """
  select count(*) from queues.task t where t.task_type = 'read-item'
    and queues.task_state(t.task_id) in ('ready', 'waiting', 'parked', 'running')
"""


async def quiet(works: Works, objects: Objects, url: str) -> None:
    """Wait until every event was looked at."""

    async def is_quiet() -> bool:
        return objects.left(url) == 0 and await works.value(OPEN_LOOKS) == 0

    await eventually(is_quiet, within=60)


async def test_objects_come_change_and_go_with_their_events(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    async with works_on(database, tmp_path, **objects.settings) as works, works.working():
        await add(works, f"{BUCKET}/in/")
        url = objects.queue()
        objects.notify(url)  # the bucket sends a test first
        await add_inlet(database, "s3", url)
        async with moving(works.engine.settings):
            objects.put("in/one + é.txt", "The first paper is about sluices.")
            objects.put("in/two.txt", "The second paper is about spillways.")
            objects.put("out/three.txt", "Outside of the prefix.")
            await become(works, "in/one + é.txt", "in/two.txt")
            objects.put("in/two.txt", "The second paper is about fish ladders now.")
            objects.delete("in/one + é.txt")
            await become(works, "in/two.txt")

            async def is_changed() -> bool:
                return "fish ladders" in await text_of(works, "in/two.txt")

            await eventually(is_changed, within=60)
            await quiet(works, objects, url)
        counted = await figures(database)
        assert (counted["taken"], counted["refused"]) == (4, 0), "the test and the third paper are no tasks"


async def test_the_order_of_events_does_not_matter(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    """Deleted and created again, told in the wrong order; a deletion told before the creation; copies."""
    async with works_on(database, tmp_path, **objects.settings) as works, works.working():
        await add(works)
        url = objects.queue()
        await add_inlet(database, "s3", url)
        objects.put("again.txt", "This paper was created again.")
        told = [
            event("again.txt", "ObjectCreated:Put", sequencer="0055AED6DCD90281E7"),
            event("again.txt", "ObjectRemoved:Delete", sequencer="0055AED6DCD90281E6"),
            event("again.txt", "ObjectCreated:Put", sequencer="0055AED6DCD90281E5"),
            event("gone.txt", "ObjectRemoved:Delete", sequencer="0055AED6DCD90281E9"),
            event("gone.txt", "ObjectCreated:Put", sequencer="0055AED6DCD90281E8"),
        ]
        async with moving(works.engine.settings):
            for each in (*told, *told):
                objects.send(url, each)
                await quiet(works, objects, url)
        await become(works, "again.txt")
        counted = await figures(database)
        assert (counted["taken"], counted["duplicates"]) == (3, 2), "what was seen already is no task"
        assert await works.value("select count(*) from ingest.ingestion") == 1, "it was read once"
        kept = await works.value("select sequencer from ingest.source_document")
        assert kept == "0055AED6DCD90281E7"


async def test_a_newer_event_that_joins_a_waiting_late_one_is_looked_at(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    """Event 3 was taken in while the look at event 5 ran, and still waits when event 7 comes."""
    async with works_on(database, tmp_path, **objects.settings) as works:
        url = objects.queue()
        await add_inlet(database, "s3", url)
        objects.put("one.txt", "The paper as it was after event five.")
        async with works.working():
            source_id = await add(works)
            async with moving(works.engine.settings):
                objects.send(url, event("one.txt", sequencer="05"))
                await become(works, "one.txt")
                await quiet(works, objects, url)
        async with database.connect("admin") as admin:
            await admin.execute("update ingest.source_document set sequencer = '05'")
            await admin.execute(
                "select queues.enqueue('read-item', $1, _tenant_id => $2, _unique_key => $3,"
                " _on_duplicate => 'coalesce')",
                json.dumps(
                    {
                        "source_id": str(source_id),
                        "stream": "objects",
                        "item": "one.txt",
                        "sequencer": "03",
                    }
                ),
                works.tenant_id,
                f"{source_id}/objects/one.txt",
            )
        objects.put("one.txt", "The paper is about fish ladders since event seven.")
        objects.send(url, event("one.txt", sequencer="07"))
        async with moving(works.engine.settings):
            await eventually(lambda: objects.left(url) == 0, within=30)
        async with works.working():
            await quiet(works, objects, url)
            await eventually(lambda: _is_about(works, "one.txt", "fish ladders"), within=30)


async def _is_about(works: Works, key: str, words: str) -> bool:
    return words in await text_of(works, key)


async def test_sequencers_are_compared_from_the_left(database: Database) -> None:
    async with database.connect("admin") as admin:
        for sequencer, known, newer in (
            ("0055AED6DCD90281E6", "0055AED6DCD90281E5", True),
            ("0055AED6DCD90281E5", "0055AED6DCD90281E5", False),
            ("0055aed6dcd90281e6", "0055AED6DCD90281E5", True),
            ("01", "0055AED6DCD90281E5", True),
            ("0055", "0055AED6DCD90281E5", False),
            ("0055", "005500", False),
            (None, "0055", True),
            ("0055", None, True),
        ):
            found = await admin.fetchval("select ingest.is_newer_event($1, $2)", sequencer, known)
            assert found is newer, (sequencer, known)


async def test_a_delete_marker_of_a_versioned_bucket_deletes(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    versioned = {"Status": "Enabled"}
    objects.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration=versioned)
    objects.put("one.txt", "The first version.")
    objects.put("one.txt", "The second version.")
    async with works_on(database, tmp_path, **objects.settings) as works, works.working():
        await add(works)
        await become(works, "one.txt")
        assert "second version" in await text_of(works, "one.txt")
        url = objects.queue()
        await add_inlet(database, "s3", url)
        objects.delete("one.txt")
        objects.send(url, event("one.txt", "ObjectRemoved:DeleteMarkerCreated", versionId="m1"))
        async with moving(works.engine.settings):
            await eventually(lambda: _is_empty(works), within=30)
            marker = objects.s3.list_object_versions(Bucket=BUCKET)["DeleteMarkers"][0]["VersionId"]
            objects.s3.delete_object(Bucket=BUCKET, Key="one.txt", VersionId=marker)
            objects.send(url, event("one.txt", "ObjectRemoved:Delete", versionId=marker))
            await become(works, "one.txt")


async def _is_empty(works: Works) -> bool:
    return await works.value(LIVE) is None


async def test_an_event_reaches_each_tenant_that_reads_the_object_and_no_other(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    async with works_on(database, tmp_path, **objects.settings) as works:
        operators = await TenantPool.open(database.operator_url, application_name="operator", size=1)
        other = await Accounts(operators, works.engine.settings).create_tenant("beta")
        await operators.close()
        await works.engine.sources.add(works.tenant_id, "s3", {"path": f"{BUCKET}/shared/"})
        await works.engine.sources.add(other.tenant_id, "s3", {"path": BUCKET})
        url, only = objects.queue(), objects.queue("only")
        await add_inlet(database, "s3", url)
        await add_inlet(database, "s3", only, name="only", tenant="acme")
        both, beta = event("shared/a.txt"), event("b.txt")
        objects.send(url, both)
        objects.send(url, beta)
        objects.send(only, both)
        objects.send(only, event("a.txt", bucket="nobodys"))
        async with moving(works.engine.settings), moving(works.engine.settings, "only"):
            await eventually(lambda: _counted(works, 4))
            await eventually(lambda: objects.left(only) == 1, within=30)
        async with database.connect("admin") as admin:
            rows = await admin.fetch(
                "select t.slug, k.payload ->> 'item' as item from queues.task k join accounts.tenant t using"
                " (tenant_id) where k.task_type = 'read-item' order by 1, 2"
            )
            reason = await admin.fetchval("select reason from queues.inlet_refusal")
        assert [tuple(row) for row in rows] == [
            ("acme", "shared/a.txt"),
            ("acme", "shared/a.txt"),
            ("beta", "b.txt"),
            ("beta", "shared/a.txt"),
        ]
        assert reason == "no S3 source reads its bucket; add one: penstock source add s3 BUCKET/PREFIX"
        assert (await figures(database, "only"))["refused"] == 1


async def _counted(works: Works, wanted: int) -> bool:
    return bool(await works.value(LOOKS) == wanted)


async def test_a_message_of_which_one_part_is_refused_stays_and_its_other_parts_are_taken_once(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    async with works_on(database, tmp_path, **objects.settings) as works:
        await works.engine.sources.add(works.tenant_id, "s3", {"path": BUCKET})
        dead = objects.queue("dead")
        redrive = json.dumps({"deadLetterTargetArn": objects.arn(dead), "maxReceiveCount": "2"})
        url = objects.queue(RedrivePolicy=redrive)
        await add_inlet(database, "s3", url, visibility_seconds=1)
        parts = [record("a.txt"), record("b.txt", bucket="nobodys"), record("c.txt")]
        objects.send(url, {"Records": parts})
        objects.send(url, "not an event")
        async with moving(works.engine.settings):
            await eventually(lambda: objects.left(dead) == 2, within=60)
        assert await works.value(LOOKS) == 2
        counted = await figures(database)
        assert (counted["taken"], counted["refused"]) == (2, 2)


async def test_a_message_of_too_many_events_is_refused_and_holds_up_no_other(
    database: Database, tmp_path: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqs, "MOST_PARTS", 20)
    async with works_on(database, tmp_path, **objects.settings) as works:
        await works.engine.sources.add(works.tenant_id, "s3", {"path": BUCKET})
        url = objects.queue()
        await add_inlet(database, "s3", url)
        objects.send(url, {"Records": [record(f"{n}.txt") for n in range(21)]})
        for n in range(3):
            objects.send(url, {"Records": [record(f"{n}/{part}.txt") for part in range(10)]})
        async with moving(works.engine.settings):
            await eventually(lambda: _counted(works, 30), within=60)
            await eventually(lambda: _refused(database, 1), within=60)
        async with database.connect("admin") as admin:
            reason = await admin.fetchval("select reason from queues.inlet_refusal")
        assert reason == "it would make 21 tasks, more than 20: send fewer events in a message"
        assert objects.left(url) == 1, "it is left to its queue's redrive policy"


async def _refused(database: Database, wanted: int) -> bool:
    return (await figures(database))["refused"] == wanted


async def test_the_sources_of_many_events_are_asked_for_in_several_calls(
    database: Database, tmp_path: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "MOST_AT_ONCE", 4)
    asked: list[int] = []
    fetch = ReconnectingConnection.fetch

    async def fetching(self: ReconnectingConnection, query: str, *given: Any) -> list[Record]:
        if query == s3.ROUTE:
            asked.append(len(given[0]))
        return await fetch(self, query, *given)

    monkeypatch.setattr(ReconnectingConnection, "fetch", fetching)
    async with works_on(database, tmp_path, **objects.settings) as works:
        await works.engine.sources.add(works.tenant_id, "s3", {"path": BUCKET})
        url = objects.queue()
        await add_inlet(database, "s3", url)
        objects.send(url, {"Records": [record(f"{n}.txt") for n in range(10)]})
        async with moving(works.engine.settings):
            await eventually(lambda: objects.left(url) == 0, within=60)
        items = await works.value(
            "select count(distinct payload ->> 'item') from queues.task where task_type = 'read-item'"
        )
    assert items == 10
    assert asked == [4, 4, 2]


async def test_events_whose_sources_cannot_be_asked_for_are_kept_and_not_received_again(
    database: Database, tmp_path: Path, objects: Objects
) -> None:
    """As while the function's privileges are missing, or an upgrade is in progress."""
    rename = "alter function all_tenants.{} rename to {}"
    async with works_on(database, tmp_path, **objects.settings) as works:
        await works.engine.sources.add(works.tenant_id, "s3", {"path": BUCKET})
        url = objects.queue()
        await add_inlet(database, "s3", url, visibility_seconds=600)
        for n in range(3):
            objects.send(url, event(f"{n}.txt"))
        async with database.connect("admin") as admin:
            await admin.execute(rename.format("sources_of_objects", "away"))
            async with moving(works.engine.settings) as mover:
                await eventually(lambda: mover.failures >= 3, within=60)
                assert "sources_of_objects" in str(mover.error)
                await admin.execute(rename.format("away", "sources_of_objects"))
                await eventually(lambda: _counted(works, 3), within=60)
                await admin.execute(rename.format("sources_of_objects", "away"))
                objects.send(url, event("4.txt"))
                await eventually(lambda: mover.failures >= 2, within=60)
        names = ["ApproximateNumberOfMessages"]
        found = objects.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        assert found == {"ApproximateNumberOfMessages": "1"}, "a stop gives back what is kept"


@pytest.mark.parametrize("point", POINTS)
async def test_kill_9_at_any_point_loses_no_event_and_reads_nothing_twice(
    point: str, database: Database, tmp_path: Path, objects: Objects, crew: Crew
) -> None:
    async with works_on(database, tmp_path, **objects.settings) as works:
        await works.engine.sources.add(works.tenant_id, "s3", {"path": BUCKET})
        url = objects.queue()
        await add_inlet(database, "s3", url, visibility_seconds=2)
        sent: list[dict[str, Any]] = [
            event(f"{n}.txt", sequencer=f"{n:016X}") if n % 2 else event(f"{n}.txt") for n in range(20)
        ]
        for each in sent:
            objects.send(url, each)
        for time in (1, 2):
            settings = {**objects.settings, "fault": f"{point}@{time}"}
            member = crew.spawn("tests.integration.moving", "events", **settings)
            assert await ended(member, within=60) == -9, crew.log_of(member)
        async with moving(works.engine.settings):
            await eventually(lambda: objects.left(url) == 0, within=60)
        assert await works.value(LOOKS) == 20
        keys = await works.value(
            "select count(distinct payload ->> 'item') from queues.task where task_type = 'read-item'"
        )
        assert keys == 20
