"""What fails on the way from SQS to the ledger costs its own message time, and no group its order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from typing import Any

import pytest

from penstock.inlets.calls import InletCalls, Outcome
from penstock.inlets.protocol import Incoming
from penstock.inlets.sqs import SqsMessage, TaskDecoder
from penstock.inlets.sqs_payloads import LargePayloads, StoreUnavailable
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
