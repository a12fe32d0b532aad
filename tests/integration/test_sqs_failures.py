"""What fails on the way from SQS to the ledger costs its own message time, and no group its order."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from math import ceil
from typing import Any

import pytest

from penstock.aws import AwsRefused
from penstock.inlets.calls import InletCalls, Outcome
from penstock.inlets.daemon_threads import in_daemon_thread
from penstock.inlets.protocol import Incoming
from penstock.inlets.sqs import SqsMessage, TaskDecoder
from penstock.inlets.sqs_payloads import LargePayloads, StoreUnavailable
from penstock.inlets.sqs_queue import SqsQueue
from penstock.settings import Settings
from tests.integration.moving import add_inlet, figures, moving
from tests.integration.test_sqs_inlet import FIFO, count, payloads, settings_of
from tests.plugins.busy import stretched
from tests.plugins.database import Database
from tests.plugins.objects import BUCKET, Objects
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(120)


def pointer(key: str) -> str:
    place = {"s3BucketName": BUCKET, "s3Key": key}
    return json.dumps(["software.amazon.payloadoffloading.PayloadS3Pointer", place])


class Once:
    """Fails for the message that has this number, the first time it comes."""

    def __init__(self, number: int, error: Exception) -> None:
        self.mark = f'"n": {number}}}'
        self.error: Exception | None = error

    def reach(self, text: str) -> None:
        error = self.error
        if error is not None and self.mark in text:
            self.error = None
            raise error


def fail_at(point: str, once: Once, patch: pytest.MonkeyPatch) -> None:
    """Have one step of the way fail as `once` says."""
    body_of, decode, take_in = LargePayloads.body_of, TaskDecoder.__call__, InletCalls.take_in

    async def read(self: LargePayloads, body: str) -> str:
        once.reach(body)
        return await body_of(self, body)

    async def decoded(self: TaskDecoder, messages: Sequence[SqsMessage]) -> Sequence[Sequence[Incoming]]:
        once.reach(" ".join(each.body for each in messages))
        return await decode(self, messages)

    async def taken(self: InletCalls, inlet: str, batch: Sequence[Incoming]) -> list[Outcome]:
        once.reach(" ".join(each.payload for each in batch))
        return await take_in(self, inlet, batch)

    match point:
        case "payload":
            patch.setattr(LargePayloads, "body_of", read)
        case "decode":
            patch.setattr(TaskDecoder, "__call__", decoded)
        case _:
            patch.setattr(InletCalls, "take_in", taken)


@pytest.mark.parametrize("point", ["payload", "decode", "take_in"])
async def test_nothing_of_a_fifo_group_overtakes_a_message_that_failed_on_its_way(
    point: str, database: Database, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = objects.queue("jobs.fifo", **FIFO)
    for n in range(1, 5):
        objects.send(url, {"n": n}, MessageGroupId="g")
    error = StoreUnavailable(BUCKET, "SlowDown") if point == "payload" else RuntimeError("no")
    once = Once(2, error)
    fail_at(point, once, monkeypatch)
    # Long enough that what is received is handed over meanwhile: the simulated queue shows a group out of
    # order when several of its messages become visible at different times.
    visibility = ceil(stretched(2))
    await add_inlet(database, "sqs", url, task_type="job", visibility_seconds=visibility)
    async with moving(settings_of(database, objects)):
        await count(database, 4)
        await eventually(lambda: objects.left(url) == 0, within=30)
    assert once.error is None, "it failed"
    assert await payloads(database) == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]


async def test_a_payload_that_can_never_be_read_is_refused_alone(
    database: Database, objects: Objects
) -> None:
    url = objects.queue("jobs")
    objects.put("large", json.dumps({"n": 1}))
    for key in ("k" * 1_100, "\ud800", "large"):
        objects.send(url, pointer(key))
    objects.send(url, {"n": 2})
    await add_inlet(database, "sqs", url, task_type="job", payload_bucket=BUCKET)
    async with moving(settings_of(database, objects)):
        await count(database, 2)
        await eventually(lambda: _refused(database, 2))
    assert sorted(each["n"] for each in await payloads(database)) == [1, 2]
    assert objects.left(url) == 2


async def _refused(database: Database, wanted: int) -> bool:
    return (await figures(database))["refused"] == wanted


async def test_a_store_that_does_not_answer_leaves_only_the_message_that_needs_it(
    database: Database, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = objects.queue("jobs")
    objects.put("away", json.dumps({"n": 1}))
    objects.put("there", json.dumps({"n": 2}))
    read, is_away = LargePayloads._read, True

    def reading(self: LargePayloads, key: str) -> str:
        if is_away and key == "away":
            raise StoreUnavailable(BUCKET, "SlowDown")
        return read(self, key)

    monkeypatch.setattr(LargePayloads, "_read", reading)
    bodies: Sequence[Any] = (pointer("away"), pointer("there"), {"n": 3})
    for body in bodies:
        objects.send(url, body)
    await add_inlet(database, "sqs", url, task_type="job", payload_bucket=BUCKET, visibility_seconds=2)
    async with moving(settings_of(database, objects)) as mover:
        await count(database, 2)
        assert sorted(each["n"] for each in await payloads(database)) == [2, 3]
        await eventually(lambda: "SlowDown" in str(mover.error), within=30)
        is_away = False
        await count(database, 3)
        await eventually(lambda: objects.left(url) == 0 and mover.error is None, within=30)
    assert (await figures(database))["refused"] == 0


class Rounds:
    """A client: ten messages for each receive, and the call with this number `hangs` or `fails`."""

    def __init__(self, hangs: int = 0, fails: int = 0) -> None:
        self.hangs, self.fails = hangs, fails
        self.receives = 0
        self.given: set[str] = set()
        self.shown: set[str] = set()
        self.reached = threading.Event()
        self.go_on = threading.Event()
        self.lock = threading.Lock()

    def call_here(self, operation: str, **parameters: Any) -> dict[str, Any]:
        if operation != "receive_message":
            self.shown |= {each["ReceiptHandle"] for each in parameters["Entries"]}
            return {}
        with self.lock:
            self.receives += 1
            number = self.receives
        if number == self.hangs:
            self.reached.set()
            assert self.go_on.wait(60)
        if number == self.fails:
            raise AwsRefused("sqs", operation, "ServiceUnavailable")
        handles = [f"{number}.{n}" for n in range(10)]
        with self.lock:
            self.given |= set(handles)
        return {"Messages": [{"MessageId": each, "ReceiptHandle": each} for each in handles]}


def queue_of_rounds(client: Rounds) -> SqsQueue:
    queue = SqsQueue(Settings(_env_file=None), "https://sqs.eu-central-1.amazonaws.com/1/jobs")
    queue._client = client  # type: ignore[assignment]  # as much of a client as the queue needs
    return queue


async def test_a_receive_that_is_given_up_in_its_second_round_gives_everything_back() -> None:
    client = Rounds(hangs=3)
    receiving = asyncio.create_task(queue_of_rounds(client).receive(50, 0))
    await eventually(lambda: client.reached.is_set() and client.receives == 5)
    await eventually(lambda: len(client.given) == 40)
    receiving.cancel()
    await asyncio.wait([receiving])
    assert receiving.cancelled()
    client.go_on.set()
    await eventually(lambda: len(client.given) == 50 and client.shown == client.given)


async def test_a_call_that_fails_in_the_second_round_loses_nothing_of_the_others() -> None:
    found = await queue_of_rounds(client := Rounds(fails=4)).receive(50, 0)
    assert {each["ReceiptHandle"] for each in found} == client.given
    assert len(found) == 40


async def test_an_answer_that_comes_in_the_moment_of_the_cancellation_is_not_lost() -> None:
    answered, unwanted = threading.Event(), list[str]()

    def call() -> str:
        answered.set()
        return "messages"

    calling = asyncio.create_task(in_daemon_thread(call, unwanted.append))
    await asyncio.sleep(0)  # it runs up to where it waits for the answer
    assert answered.wait(60)
    for thread in threading.enumerate():
        if thread.name == "penstock-inlet":
            thread.join()
    # The answer stands in the loop's line by now, and what is called here comes right behind it.
    asyncio.get_running_loop().call_soon(calling.cancel)
    await asyncio.wait([calling])
    assert calling.cancelled()
    await eventually(lambda: unwanted == ["messages"])


@pytest.mark.parametrize("name", ["jobs", "jobs.fifo"])
@pytest.mark.parametrize("point", ["payload", "decode"])
async def test_what_is_received_goes_back_at_once_when_the_inlet_stops_before_it_is_decoded(
    name: str, point: str, database: Database, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_fifo = name.endswith(".fifo")
    url = objects.queue(name, **(FIFO if is_fifo else {}))
    for n in range(4):
        objects.send(url, {"n": n}, **({"MessageGroupId": f"g{n % 2}"} if is_fifo else {}))
    reached = asyncio.Event()

    async def hang(*_: object) -> Any:
        reached.set()
        await asyncio.Event().wait()

    place, method = (LargePayloads, "body_of") if point == "payload" else (TaskDecoder, "__call__")
    monkeypatch.setattr(place, method, hang)
    await add_inlet(database, "sqs", url, task_type="job", visibility_seconds=600)
    async with moving(settings_of(database, objects)):
        await asyncio.wait_for(reached.wait(), stretched(30))
    names = ["ApproximateNumberOfMessages"]
    found = objects.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    assert found == {"ApproximateNumberOfMessages": "4"}, "all of them are shown to others"
