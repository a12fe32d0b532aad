"""Messages of SQS become tasks, exactly once, in the order of their groups; what cannot goes back."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from penstock import Context, Penstock
from penstock.aws import AwsRefused
from penstock.errors import InvalidArgument
from penstock.inlets.sqs_queue import QueueUnavailable, SqsQueue, queue_of
from penstock.settings import Settings
from tests.integration.moving import add_inlet, figures, moving
from tests.plugins.database import Database
from tests.plugins.objects import BUCKET, Objects
from tests.plugins.workers import Crew, ended, eventually

POINTS = ("inlet.received", "inlet.committed", "inlet.acknowledged")
FIFO = {"FifoQueue": "true", "ContentBasedDeduplication": "true"}


def settings_of(database: Database, objects: Objects) -> Settings:
    return Settings(_env_file=None, database_url=database.runtime_url, **objects.settings)


async def payloads(database: Database) -> list[Any]:
    """What became tasks, in their order."""
    async with database.connect("admin") as admin:
        rows = await admin.fetch(
            "select coalesce(payload, large_payload::jsonb) as payload from queues.task"
            " where task_type = 'job' order by task_id"
        )
    return [json.loads(row["payload"]) for row in rows]


async def count(database: Database, wanted: int) -> None:
    async def are_there() -> bool:
        return len(await payloads(database)) >= wanted

    await eventually(are_there, within=60)


async def test_each_message_becomes_one_task_and_is_deleted(database: Database, objects: Objects) -> None:
    url = objects.queue("jobs")
    for n in range(25):
        named = {"priority": {"DataType": "Number", "StringValue": "1"}} if n == 3 else {}
        objects.send(url, {"n": n}, MessageAttributes=named)
    await add_inlet(database, "sqs", url, task_type="job")
    async with moving(settings_of(database, objects)) as mover:
        await count(database, 25)
        await eventually(lambda: objects.left(url) == 0)
        assert mover.error is None
    assert sorted(each["n"] for each in await payloads(database)) == list(range(25))
    counted = await figures(database)
    again = counted["duplicates"]  # SQS may deliver a message twice, and does on a busy machine
    assert counted == {"received": 25 + again, "taken": 25, "duplicates": again, "refused": 0}
    async with database.connect("admin") as admin:
        assert await admin.fetchval("select count(*) from queues.task where priority = 1") == 1


async def test_a_message_that_comes_as_the_inlet_stops_is_shown_to_others_at_once(
    database: Database, objects: Objects
) -> None:
    """The long poll that the inlet gave up goes on at SQS, and takes the message."""
    url = objects.queue("jobs")
    await add_inlet(database, "sqs", url, task_type="job")
    async with moving(settings_of(database, objects)):
        objects.send(url, {"n": 1})
        await count(database, 1)
        await eventually(lambda: objects.left(url) == 0)
    objects.send(url, {"n": 2})

    await eventually(lambda: all(each.name != "penstock-inlet" for each in threading.enumerate()))
    assert "Messages" in objects.sqs.receive_message(QueueUrl=url)


@pytest.mark.parametrize("point", POINTS)
async def test_kill_9_at_any_point_loses_and_doubles_nothing(
    point: str, database: Database, objects: Objects, crew: Crew
) -> None:
    url = objects.queue("jobs")
    for n in range(30):
        objects.send(url, {"n": n})
    await add_inlet(database, "sqs", url, task_type="job", visibility_seconds=2)
    for time in (1, 2):
        member = crew.spawn("tests.integration.moving", "events", fault=f"{point}@{time}", **objects.settings)
        assert await ended(member, within=60) == -9, crew.log_of(member)
    async with moving(settings_of(database, objects)):
        await eventually(lambda: objects.left(url) == 0, within=60)
    assert sorted(each["n"] for each in await payloads(database)) == list(range(30))
    assert (await figures(database))["taken"] == 30


async def test_a_bad_message_goes_to_the_queues_own_dead_letters_with_a_reason_and_blocks_nobody(
    database: Database, objects: Objects
) -> None:
    dead = objects.queue("dead")
    redrive = json.dumps({"deadLetterTargetArn": objects.arn(dead), "maxReceiveCount": "2"})
    url = objects.queue("jobs", RedrivePolicy=redrive)
    bad: Sequence[tuple[str, dict[str, str], str]] = (
        ("not json", {}, "its payload is not a JSON object"),
        ("[1]", {}, "its payload is not a JSON object"),
        ("{}", {"task_type": "unknown"}, "there is no task type 'unknown'"),
        ("{}", {"tenant": "nobody"}, "its tenant is unknown"),
        ("{}", {"priority": "soon"}, "priority: 'soon' is not a number from 0 to 9"),
        (json.dumps({"x": "y" * 20_000}), {}, "exceeds the limit"),
    )
    async with database.connect("admin") as admin:
        await admin.execute("update queues.queue set payload_limit = 10000")
    for body, named, _ in bad:
        attributes = {name: {"DataType": "String", "StringValue": each} for name, each in named.items()}
        objects.send(url, body, MessageAttributes=attributes)
    objects.send(url, {"n": 1})
    await add_inlet(database, "sqs", url, task_type="job", visibility_seconds=1)
    async with moving(settings_of(database, objects)):
        await count(database, 1)
        await eventually(lambda: objects.left(dead) == len(bad), within=60)
    assert await payloads(database) == [{"n": 1}]
    async with database.connect("admin") as admin:
        reasons = [row[0] for row in await admin.fetch("select reason from queues.inlet_refusal")]
        assert await admin.fetchval("select count(*) from accounts.tenant where slug = 'nobody'") == 0
    for _, _, expected in bad:
        assert any(expected in reason for reason in reasons), (expected, reasons)
    assert (await figures(database))["refused"] == len(bad), "each counts once, though it was received twice"


async def test_a_payload_in_a_bucket_is_fetched_from_the_inlets_own_bucket_only(
    database: Database, objects: Objects
) -> None:
    def pointer(bucket: str, key: str) -> str:
        place = {"s3BucketName": bucket, "s3Key": key}
        return json.dumps(["software.amazon.payloadoffloading.PayloadS3Pointer", place])

    objects.put("large", json.dumps({"n": 1, "text": "x" * 300_000}))
    objects.put("huge", json.dumps({"text": "x" * 1_100_000}))
    url = objects.queue("jobs")
    for bucket, key in ((BUCKET, "large"), (BUCKET, "huge"), (BUCKET, "none"), ("another", "large")):
        objects.send(url, pointer(bucket, key))
    objects.send(url, '["software.amazon.payloadoffloading.PayloadS3Pointer", {}]')
    await add_inlet(database, "sqs", url, task_type="job", payload_bucket=BUCKET)
    async with moving(settings_of(database, objects)):
        await count(database, 1)
        await eventually(lambda: _refused(database, 4))
    assert [each["n"] for each in await payloads(database)] == [1]
    async with database.connect("admin") as admin:
        reasons = {row[0] for row in await admin.fetch("select reason from queues.inlet_refusal")}
    assert reasons == {
        "its payload is larger than the limit of 1048576 bytes",
        "its payload cannot be read: NoSuchKey",
        "its payload is not in the bucket that this inlet reads",
        "it points at a payload without s3BucketName and s3Key",
    }
    assert objects.left(url) == 4


async def _refused(database: Database, wanted: int) -> bool:
    return (await figures(database))["refused"] >= wanted


async def test_messages_of_a_fifo_group_run_in_their_order_though_tasks_fail_and_workers_are_many(
    database: Database, objects: Objects
) -> None:
    url = objects.queue("jobs.fifo", **FIFO)
    for n in range(36):
        objects.send(url, {"group": n % 3, "n": n}, MessageGroupId=f"g{n % 3}")
    started: dict[int, list[int]] = {0: [], 1: [], 2: []}
    app = Penstock(settings=settings_of(database, objects))
    from penstock import Table

    @app.task("job", retry=Table((0.05, 0.05)), max_attempts=2)
    async def job(payload: dict[str, int], ctx: Context) -> None:
        started[payload["group"]].append(payload["n"])
        await asyncio.sleep(0)
        if payload["n"] % 5 == 0 and ctx.attempt == 1:
            raise RuntimeError("once")
        if payload["n"] == 7:
            raise RuntimeError("for good")

    async with app:
        await add_inlet(database, "sqs", url, task_type="job")
        workers = [app.worker(["default"], name=f"w{number}") for number in range(2)]
        for worker in workers:
            await worker.start()
        try:
            async with moving(settings_of(database, objects)):
                await eventually(lambda: len({n for ran in started.values() for n in ran}) == 36, within=60)
        finally:
            for worker in workers:
                await worker.stop()
    for group, ran in started.items():
        assert ran == sorted(ran), (group, ran)
    assert started[1].count(7) == 2, "it failed for good, and then those behind it ran"
    assert objects.left(url) == 0


async def test_nothing_of_a_fifo_group_overtakes_a_message_that_was_refused(
    database: Database, objects: Objects
) -> None:
    dead = objects.queue("dead.fifo", **FIFO)
    redrive = json.dumps({"deadLetterTargetArn": objects.arn(dead), "maxReceiveCount": "3"})
    url = objects.queue("jobs.fifo", **FIFO, RedrivePolicy=redrive)
    objects.send(url, {"n": 1}, MessageGroupId="g")
    objects.send(url, "not json", MessageGroupId="g")
    for n in (2, 3):
        objects.send(url, {"n": n}, MessageGroupId="g")
    await add_inlet(database, "sqs", url, task_type="job", visibility_seconds=5)
    async with moving(settings_of(database, objects)):
        await eventually(lambda: _refused(database, 1), within=30)
        assert await payloads(database) == [{"n": 1}], "2 and 3 wait until it is a dead letter"
        await count(database, 3)
    assert await payloads(database) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert objects.left(dead) == 1


async def test_an_absent_sqs_is_waited_for(
    database: Database, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = objects.queue("jobs")
    await add_inlet(database, "sqs", url, task_type="job")
    real, is_away, asked = SqsQueue._call, True, 0

    async def call(self: SqsQueue, operation: str, **parameters: object) -> dict[str, Any]:
        nonlocal asked
        if is_away:
            asked += 1
            raise AwsRefused("sqs", operation, "EndpointConnectionError")
        return await real(self, operation, **parameters)

    monkeypatch.setattr(SqsQueue, "_call", call)
    async with moving(settings_of(database, objects)) as mover:
        await eventually(lambda: asked >= 3)
        assert "EndpointConnectionError" in str(mover.error)
        is_away = False
        objects.send(url, {"n": 1})
        await count(database, 1)
        await eventually(lambda: mover.error is None)


class Answers:
    """A client that answers as told, and keeps what it was asked."""

    def __init__(self, *failures: dict[str, str]) -> None:
        self.failures = list(failures)
        self.asked: list[list[str]] = []

    def call_here(self, operation: str, **parameters: Any) -> dict[str, Any]:
        self.asked.append([each["ReceiptHandle"] for each in parameters["Entries"]])
        told = self.failures.pop(0) if self.failures else {}
        failed = [
            {"Id": each["Id"], "Code": told[each["ReceiptHandle"]], "SenderFault": False}
            for each in parameters["Entries"]
            if each["ReceiptHandle"] in told
        ]
        return {"Failed": failed}


def queue_with(client: Answers) -> SqsQueue:
    queue = SqsQueue(Settings(_env_file=None), "https://sqs.eu-central-1.amazonaws.com/1/jobs")
    queue._client = client  # type: ignore[assignment]  # as much of a client as the queue needs
    return queue


async def test_entries_of_a_batch_that_failed_alone_are_sent_again_alone() -> None:
    handles = [str(n) for n in range(12)]
    client = Answers({"3": "InternalError", "4": "ReceiptHandleIsInvalid"}, {}, {"3": "InternalError"})
    await queue_with(client).delete(handles)
    assert client.asked == [handles[:10], handles[10:], ["3"], ["3"]]
    client = Answers(*[{"0": "InternalError"}] * 9)
    with pytest.raises(QueueUnavailable, match="InternalError"):
        await queue_with(client).delete(["0"])
    assert len(client.asked) == 4


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({}, "queue_url"),
        ({"queue_url": "jobs"}, "queue_url"),
        ({"queue_url": "file:///etc/passwd"}, "queue_url"),
        ({"queue_url": "https://sqs/1/q", "visibility_seconds": 0}, "visibility_seconds"),
        ({"queue_url": "https://sqs/1/q", "visibility_seconds": "x"}, "visibility_seconds"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        queue_of(Settings(_env_file=None), config)
    assert refused.value.field == field
