"""Pages are told what changed: without polling, by one connection, and only about their own tenant."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.api import live
from penstock.api import server as http_server
from penstock.api.live import LiveChanges
from tests.integration.api_server import ApiServer, api_server, form
from tests.integration.console_client import signed_in
from tests.plugins.database import Database
from tests.plugins.workers import eventually

if TYPE_CHECKING:
    import httpx2
    import pytest

SECONDS = 30.0


class Page:
    """The events of one stream, as they arrive."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines

    async def names(self) -> set[str]:
        """The names of the next event."""
        async for line in self._lines:
            if line.startswith("data: "):
                return set(json.loads(line[6:])["names"])
        return set()

    async def until(self, *wanted: str) -> set[str]:
        """All names up to and with these."""
        seen: set[str] = set()
        async with asyncio.timeout(SECONDS):
            while not seen.issuperset(wanted):
                found = await self.names()
                assert found, "the stream ended"
                seen |= found
        return seen

    async def rest(self) -> None:
        async for _ in self._lines:
            pass


@asynccontextmanager
async def following(client: httpx2.AsyncClient, path: str = "/v1/events") -> AsyncIterator[Page]:
    """A stream whose changes reach it from now on."""
    async with client.stream("GET", path) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Page(answer.aiter_lines())


def live_of(server: ApiServer) -> LiveChanges:
    live: LiveChanges = server.api.state.live
    return live


async def test_a_change_reaches_pages_of_its_tenant_and_operators_only(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        _, theirs = await server.another_tenant("globex")
        async with (
            server.client() as ours,
            server.client(theirs) as others,
            signed_in(server, "viewer") as operator,
            following(ours) as own,
            following(others) as foreign,
            following(operator) as whole,
        ):
            for page in (own, foreign, whole):
                await page.until("documents", "clients")
            made = await ours.post("/v1/documents/upload", files=form())
            document = f"document:{made.json()['document_id']}"
            await own.until("documents", document)
            await whole.until("documents", document)
            made = await others.post("/v1/documents/upload", files=form())
            assert document not in await foreign.until(f"document:{made.json()['document_id']}")


async def test_a_worker_tells_what_it_closes_and_a_page_hears_of_workers_and_sources(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        signed_in(server) as operator,
        following(client) as page,
        following(operator) as whole,
    ):
        await page.until("documents")
        await whole.until("documents")
        made = await client.post("/v1/sources/webhook")
        await page.until("sources", f"source:{made.json()['source_id']}")
        async with server.working():
            await whole.until("workers")
            await client.post("/v1/documents/upload", files=form(), params={"wait": 30})
            await page.until("tasks", "queues")


async def test_a_page_hears_of_keys_sessions_and_schedules(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        following(client) as page,
        database.connect("operator") as operator,
    ):
        await page.until("keys", "sessions", "schedules")  # everything, as the stream begins
        made = await client.post("/v1/keys", json={"name": "ci", "scopes": ["documents:read"]})
        assert made.status_code == 201, made.text
        await page.until("keys")
        assert (await client.delete(f"/v1/keys/{made.json()['key_id']}")).status_code == 204
        await page.until("keys")
        async with signed_in(server, "viewer", server.tenant.slug):
            await page.until("sessions")
        put = "select queues.put_schedule('nightly', '0 3 * * *', 'UTC', now() + interval '1 day', 'job')"
        await operator.execute("select queues.put_task_type('job')")
        await operator.execute(put)
        await page.until("schedules")
        await operator.execute("select queues.drop_schedule('nightly')")
        await page.until("schedules")


async def test_a_page_hears_of_everything_it_may_show(database: Database, tmp_path: Path) -> None:
    inlet = "select queues.put_inlet('orders', 'pgmq', 'pgmq:orders', '{}', $1)"
    decide = """
        insert into ingest.decision (decision_id, tenant_id, document_id, stage, verdict, name, skip_reason,
          version, decided_at)
        select gen_random_uuid(), tenant_id, document_id, 2, 'drop', 'invoice', 'class', '1', now()
        from ingest.document limit 1"""
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        signed_in(server) as admin,
        following(client) as page,
        following(admin) as whole,
        database.connect("operator") as operator,
        database.connect("admin") as owner,
    ):
        for each in (page, whole):
            await each.until("views", "projects", "decisions", "inlets", "tenants", "audit")
        view = {"page": "documents", "name": "mine", "query": "?status=failed"}
        assert (await client.post("/v1/views", json=view)).status_code == 201
        await page.until("views", "audit")
        assert (await client.post("/v1/projects", json={"slug": "letters"})).status_code == 201
        await page.until("projects")
        await client.post("/v1/documents/upload", files=form())
        await owner.execute(decide)
        await page.until("decisions")
        await operator.execute(inlet, server.tenant.slug)
        await page.until("inlets")
        await operator.execute("select queues.set_inlet('orders', false)")
        await page.until("inlets")
        await operator.execute("select queues.set_inlet('orders', true)")
        await operator.fetch("select queues.hold_inlets('reader', array['pgmq'], 30)")
        await page.until("inlets")
        made = await admin.post("/v1/tenants", json={"slug": "globex"})
        assert made.status_code == 201, made.text
        await whole.until("tenants", "audit")
        async with signed_in(server, "viewer"):
            await whole.until("sessions")


async def test_a_page_hears_of_what_time_alone_changes(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "RENEW_SECONDS", 0.2)
    async with (
        api_server(database, tmp_path) as server,
        signed_in(server) as admin,
        database.connect("admin") as owner,
    ):
        await owner.execute("select queues.register_worker('mill-1', array['reports'], '30 seconds')")
        async with following(admin) as page:
            await page.until("workers")
            # It died without a word, and nobody is there to take its tasks back.
            await owner.execute("update queues.worker set beat_at = beat_at - interval '10 minutes'")
            await page.until("workers")
            sample = """
                insert into queues.sample (queue_id, minute, done)
                select queue_id, date_trunc('minute', now()) - interval '1 minute', 7
                from queues.queue limit 1"""
            await owner.execute(sample)
            await page.until("queues")


async def test_a_page_hears_of_tasks_that_no_worker_could_tell_it_of(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        following(client) as page,
        database.connect("operator") as operator,
    ):
        await page.until("documents")
        enqueue = "select queues.enqueue('maintain-documents', _tenant_id => $1)"
        await operator.execute(enqueue, server.tenant.tenant_id)
        await page.until("tasks", "queues")
        async with server.working():
            await operator.execute("select queues.pause('maintain-documents')")
            await page.until("queues")
            await operator.execute(enqueue, server.tenant.tenant_id)
            await page.until("tasks")


async def test_without_a_page_nothing_is_sent(database: Database, tmp_path: Path) -> None:
    heard: list[Any] = []
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        database.connect("admin") as admin,
    ):
        await admin.add_listener("penstock_changed", lambda *message: heard.append(message))
        await client.post("/v1/documents/upload", files=form())
        await admin.fetchval("select 1")
        assert heard == []
        async with following(client) as page:
            await page.until("documents")
            await client.post("/v1/documents/upload", files=form("Another text."))
            await page.until("documents")
            await admin.fetchval("select 1")
        assert heard


async def test_a_hundred_idle_pages_share_one_connection_and_ask_nothing(
    database: Database, tmp_path: Path
) -> None:
    activity = """
        select pid, query_start, application_name from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        order by pid"""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(api_server(database, tmp_path))
        admin = await stack.enter_async_context(database.connect("admin"))
        client = await stack.enter_async_context(server.client())
        pages = [await stack.enter_async_context(following(client)) for _ in range(100)]
        await asyncio.gather(*(page.until("documents") for page in pages))
        before = await admin.fetch(activity)
        assert [row["application_name"] for row in before].count("penstock live") == 1
        await asyncio.sleep(2)  # the time that is measured: no connection may start a query in it
        assert await admin.fetch(activity) == before
        async with server.client() as other:  # the first has a hundred connections in use, its limit
            await other.post("/v1/documents/upload", files=form())
        await asyncio.gather(*(page.until("documents") for page in pages))


async def test_a_page_that_reads_nothing_is_dropped_and_delays_nobody(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, api_body_seconds=0.3) as server, server.client() as client:
        changes = live_of(server)
        host, _, port = server.url.removeprefix("http://").partition(":")
        _, writer = await asyncio.open_connection(host, int(port), limit=1_024)
        writer.write(
            f"GET /v1/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {server.key}\r\n\r\n".encode()
        )
        await eventually(lambda: len(changes) == 1)
        async with following(client) as page, asyncio.timeout(SECONDS):
            await page.until("documents")
            number = 0
            while len(changes) == 2:
                for subscription in list(changes._subscriptions):
                    subscription.tell(f"document:{number}-{each}" + "x" * 200 for each in range(150))
                number += 1
                await asyncio.wait([asyncio.ensure_future(page.names())])
        writer.close()


async def test_stopping_the_server_ends_streams_at_once(database: Database, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(api_server(database, tmp_path))
        client = await stack.enter_async_context(server.client())
        page = await stack.enter_async_context(following(client))
        await page.until("documents")
        http_server(server.api).stop()
        async with asyncio.timeout(SECONDS):
            await page.rest()
        assert (await client.get("/v1/events")).status_code == 503
        await live_of(server).finished()
        assert await server.count("internal.watcher") == 0
