"""Microsoft's notifications wake syncs; whatever is not genuine is rejected alike and writes nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.blobs.spool import SpoolBudget
from penstock.db import Connection
from penstock.model import SourceId
from penstock.sources.mail.subscribing import SubscribeSource
from tests.integration.api_server import ApiServer, api_server
from tests.plugins.database import Database
from tests.plugins.documents import Works
from tests.plugins.pushed_source import PushedProvider, add_mailbox, live_subscription, send
from tests.plugins.runs import NoRun
from tests.plugins.scripted_source import settled
from tests.plugins.workers import eventually

if TYPE_CHECKING:
    import httpx2

WRITTEN = """
select md5(coalesce((
    select string_agg(u::text, ',' order by u.subscription_id) from ingest.subscription u), ''))
  || md5(coalesce((select string_agg(p::text, ',' order by p.source_id) from ingest.pending_sync p), ''))
  || (select count(*) from queues.task)
"""


@dataclass(slots=True)
class Notified:
    server: ApiServer
    works: Works
    provider: PushedProvider
    admin: Connection

    async def mailbox(self, **options: Any) -> SourceId:
        """Subscribed, and its first sync done."""
        source_id = await add_mailbox(self.works, **options)
        owner = options.get("tenant_id", self.works.tenant_id)
        await self.works.engine.subscribing(SubscribeSource(source_id=source_id), NoRun(owner))
        return source_id

    async def quiet(self) -> None:
        """Nothing is wanted any more."""
        await self.admin.execute("delete from ingest.pending_sync")
        await self.admin.execute("delete from queues.waiting")

    async def jobs(self, source_id: SourceId) -> list[tuple[str, str]]:
        rows = await self.admin.fetch(
            "select reason, status::text from ingest.ingestion_job where source_id = $1 order by job_id",
            source_id,
        )
        return [tuple(row) for row in rows]

    async def written(self) -> str:
        return str(await self.admin.fetchval(WRITTEN))

    async def counted(self, outcome: str) -> float:
        async with self.server.client("") as client:
            text = (await client.get("/metrics")).text
        name = f'mail_notifications_total{{outcome="{outcome}",provider="outlook"}} '
        return sum(float(line.removeprefix(name)) for line in text.splitlines() if line.startswith(name))


@asynccontextmanager
async def notified(database: Database, folder: Path, **chosen: Any) -> AsyncIterator[Notified]:
    provider = PushedProvider()
    options = {"public_url": "http://penstock.example", **chosen}
    async with api_server(database, folder, providers={"outlook": provider}, **options) as server:
        async with server.working():
            pass  # the task types are declared
        async with database.connect("admin") as admin:
            yield Notified(server, Works(server.engine, database, server.tenant), provider, admin)


async def test_the_handshake_answers_the_decoded_token_as_plain_text(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        token = "Validation: Testing client <b>+/=&%"
        answer = await client.post("/webhooks/outlook", params={"validationToken": token})
        assert (answer.status_code, answer.text) == (200, token)
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.headers["x-content-type-options"] == "nosniff"
        plus = await client.post("/webhooks/outlook?validationToken=a+b%2Bc")
        assert plus.text == "a b+c"
        for bad in ("", "x" * 2_001, "a\nb"):
            answer = await client.post("/webhooks/outlook", params={"validationToken": bad})
            assert answer.status_code == 401, bad


async def test_many_notifications_cause_one_sync(database: Database, tmp_path: Path) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        source_id = await here.mailbox()
        await here.quiet()
        before = await here.server.count("queues.task")
        item = here.provider.notification()
        answers = await asyncio.gather(*(send(client, item, item) for _ in range(50)))
        assert {answer.status_code for answer in answers} == {202}
        assert all(answer.content == b"" for answer in answers)
        assert await here.server.count("queues.task") == before + 1, "one task, however many notifications"
        assert await here.counted("woken") == 1
        assert await here.counted("pending") == 49
        async with here.server.working():
            await settled(here.works, source_id)
        assert await here.jobs(source_id) == [("push", "completed")]
        live = await live_subscription(here.admin, source_id)
        assert live is not None
        assert live["last_notified_at"] is not None


async def test_a_notification_during_a_sync_causes_exactly_one_more(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        here.provider.put("001", "A mail about turbines.")
        source_id = await here.mailbox()
        going, reading = asyncio.Event(), asyncio.Event()

        async def on_page(number: int) -> None:
            if number == 1:
                reading.set()
                await going.wait()

        here.provider.on_page = on_page
        async with here.server.working():
            await asyncio.wait_for(reading.wait(), 60)
            here.provider.put("002", "A mail about penstocks.")
            for _ in range(5):
                assert (await send(client, here.provider.notification())).status_code == 202
            going.set()
            await settled(here.works, source_id)
            assert await here.jobs(source_id) == [("added", "completed"), ("push", "completed")]
        assert await here.server.count("ingest.source_document") == 2
        kinds = await here.admin.fetch("select kind from ingest.ingestion_job order by job_id")
        assert [row[0] for row in kinds] == ["full_sync", "delta_sync"], (
            "a full sync is not followed by another"
        )


async def test_a_sync_that_a_notification_caused_and_that_found_nothing_is_repeated_soon(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        here.provider.put("001", "A mail about turbines.")
        source_id = await here.mailbox()
        soon = "select next_sync_at < now() + interval '1 minute' from ingest.source where source_id = $1"
        async with here.server.working():
            await settled(here.works, source_id)
            assert not await here.admin.fetchval(soon, source_id)
            await send(client, here.provider.notification())
            await settled(here.works, source_id)
            assert await here.admin.fetchval(soon, source_id), "the list of changes may lag behind"
            here.provider.put("002", "A mail about penstocks.")
            await send(client, here.provider.notification())
            job = await settled(here.works, source_id)
            assert (job["reason"], job["kind"], job["items_seen"]) == ("push", "delta_sync", 1)
            assert not await here.admin.fetchval(soon, source_id)


async def test_a_wanted_sync_whose_task_is_gone_is_enqueued_again_after_a_minute(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        await here.mailbox()
        await here.quiet()
        await send(client, here.provider.notification())
        await here.admin.execute("delete from queues.waiting")
        await send(client, here.provider.notification())
        assert await here.server.count("queues.waiting") == 0
        await here.admin.execute("update ingest.pending_sync set requested_at = now() - interval '2 minutes'")
        await send(client, here.provider.notification())
        assert await here.server.count("queues.waiting") == 1


async def test_forged_notifications_are_refused_alike_and_write_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        await here.mailbox()
        await here.quiet()
        state = here.provider.created[0][1]
        digest = hashlib.sha256(state.encode()).hexdigest()
        changes: dict[str, dict[str, Any]] = {
            "wrong state": {"clientState": "x" * 43},
            "the hash itself": {"clientState": digest},
            "state in other case": {"clientState": state.swapcase()},
            "no state": {"clientState": None},
            "state is a list": {"clientState": [state]},
            "long state": {"clientState": state * 10},
            "wrong id": {"subscriptionId": "sub-9"},
            "no id": {"subscriptionId": None},
            "NUL in the id": {"subscriptionId": "sub-1\0"},
            "half a surrogate": {"clientState": "\ud800"},
            "removed without state": {"clientState": "", "lifecycleEvent": "subscriptionRemoved"},
        }
        forged = {
            name: json.dumps({"value": [here.provider.notification(**each)]}).encode()
            for name, each in changes.items()
        }
        forged |= {
            "garbage": b"\xff\x00garbage",
            "nothing": b"",
            "a list": b"[]",
            "no items": b'{"value": []}',
            "no value": b"{}",
            "items of no kind": b'{"value": [1, null, "a", []]}',
            "deep": b'{"value":' + b"[" * 100_000,
            "many": json.dumps({"value": [here.provider.notification()] * 1_001}).encode(),
            "oversized": json.dumps({"value": [here.provider.notification(x="y" * 1_100_000)]}).encode(),
        }
        before = await here.written()
        bodies = set()
        for name, body in forged.items():
            answer = await client.post("/webhooks/outlook", content=body)
            assert answer.status_code == 401, name
            problem = answer.json()
            del problem["request_id"]
            bodies.add(json.dumps(problem, sort_keys=True))
        assert len(bodies) == 1, "no hint which part was wrong"
        assert await here.written() == before
        assert await here.counted("refused") == len(forged)
        assert (await send(client, here.provider.notification())).status_code == 202, "the genuine one works"


async def test_one_request_may_mix_subscriptions_and_only_genuine_items_count(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        first = await here.mailbox(name="one")
        one = here.provider.notification()
        second = await here.mailbox(name="two")
        two = here.provider.notification()
        await here.quiet()
        assert (await send(client, one, {**one, "clientState": "forged"}, two)).status_code == 202
        rows = await here.admin.fetch("select source_id from ingest.pending_sync")
        assert {row[0] for row in rows} == {first, second}
        assert await here.counted("refused") == 1


async def test_another_tenants_state_does_not_wake_this_tenants_source(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        await here.mailbox()
        ours = here.provider.notification()
        other, _ = await here.server.another_tenant("other")
        theirs_id = await here.mailbox(tenant_id=other.tenant_id)
        theirs = here.provider.notification()
        await here.quiet()
        before = await here.written()
        mixed = [
            {**ours, "clientState": theirs["clientState"]},
            {**theirs, "clientState": ours["clientState"]},
        ]
        assert (await send(client, *mixed)).status_code == 401
        assert await here.written() == before
        assert (await send(client, theirs)).status_code == 202
        rows = await here.admin.fetch("select source_id, tenant_id from ingest.pending_sync")
        assert [tuple(row) for row in rows] == [(theirs_id, other.tenant_id)]


async def test_stale_notifications_are_accepted_counted_and_ignored(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        source_id = await here.mailbox()
        sources = here.server.engine.sources
        await sources.pause(here.works.tenant_id, source_id)
        await here.quiet()
        before = await here.written()
        assert (await send(client, here.provider.notification())).status_code == 202
        assert await here.written() == before
        await sources.resume(here.works.tenant_id, source_id)
        await sources.disconnect(here.works.tenant_id, source_id, documents="keep")
        before = await here.written()
        for event in (None, "subscriptionRemoved", "reauthorizationRequired", "missed"):
            item = here.provider.notification(**({} if event is None else {"lifecycleEvent": event}))
            assert (await send(client, item)).status_code == 202
        assert await here.written() == before
        assert await here.counted("stale") == 5


async def test_a_notification_that_is_faster_than_the_answer_to_the_subscription_wakes_the_sync(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        answers: list[httpx2.Response] = []

        async def at_once() -> None:
            answers.append(await send(client, here.provider.notification()))

        here.provider.on_create = at_once
        await here.mailbox()
        assert [answer.status_code for answer in answers] == [202]


async def test_lifecycle_events_renew_recreate_and_wake(database: Database, tmp_path: Path) -> None:
    async with notified(database, tmp_path) as here, here.server.client("") as client:
        source_id = await here.mailbox()
        await here.quiet()
        await here.admin.execute("update ingest.subscription set renewed_at = now() - interval '1 hour'")
        wants = here.provider.notification(lifecycleEvent="reauthorizationRequired")
        assert (await send(client, wants)).status_code == 202
        assert await here.server.count("ingest.pending_sync") == 0, "nothing new was announced"
        async with here.server.working():
            await eventually(lambda: here.provider.renewed == ["sub-1"], within=60)
            assert (await send(client, wants)).status_code == 202
            removed = here.provider.notification(lifecycleEvent="subscriptionRemoved")
            assert (await send(client, removed)).status_code == 202

            async def is_replaced() -> bool:
                live = await live_subscription(here.admin, source_id)
                return live is not None and live["provider_id"] == "sub-2"

            await eventually(is_replaced, within=60)
            await settled(here.works, source_id)
            assert here.provider.renewed == ["sub-1"], "one renewal is enough"
            assert ("push", "completed") in await here.jobs(source_id), "what was missed meanwhile is read"
            assert (await send(client, removed)).status_code == 202
            jobs = len(await here.jobs(source_id))
            missed = here.provider.notification(lifecycleEvent="missed")
            assert (await send(client, missed)).status_code == 202
            await settled(here.works, source_id)
            assert len(await here.jobs(source_id)) == jobs + 1
        assert len(here.provider.created) == 2


async def test_without_push_everything_is_refused(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client("") as client:
        for path in ("/webhooks/outlook", "/webhooks/outlook?validationToken=a", "/webhooks/gmail"):
            assert (await client.post(path, json={"value": []})).status_code == 401


async def test_a_body_of_an_unknown_sender_counts_in_the_budget_of_unsigned_ones(
    database: Database, tmp_path: Path
) -> None:
    """Whatever many senders send at once, the process holds no more of it than it may spool."""
    async with notified(database, tmp_path, spool_bytes=400_000) as here, here.server.client("") as client:
        budget: SpoolBudget = here.server.api.state.unsigned_budget
        go_on = asyncio.Event()

        async def held() -> AsyncIterator[bytes]:
            yield b" " * 80_000
            await go_on.wait()

        first = asyncio.create_task(client.post("/webhooks/outlook", content=held()))
        await eventually(lambda: budget.held == 80_000, what="the first body is held")
        for content in (b" " * 40_000, _in_chunks(b" " * 40_000)):
            refused = await client.post("/webhooks/outlook", content=content)
            assert refused.status_code == 503
            assert int(refused.headers["retry-after"]) > 0
        go_on.set()
        assert (await first).status_code == 401
        assert budget.held == 0


async def test_only_refused_requests_count_in_the_limit_of_an_address(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path, requests_per_minute=3) as here, here.server.client("") as client:
        await here.mailbox()
        genuine = [await send(client, here.provider.notification()) for _ in range(6)]
        assert {answer.status_code for answer in genuine} == {202}
        answers = [await send(client, {"clientState": "forged"}) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
        assert "PENSTOCK_REQUESTS_PER_MINUTE" in answers[3].json()["remedy"]


async def _in_chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content
