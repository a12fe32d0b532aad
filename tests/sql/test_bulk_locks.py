"""Calls of a re-index in two sessions at once: none deadlocks, since all lock in the order of hold_bulk()."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from penstock.db import Connection
from tests.plugins.database import Database
from tests.sql.bulk_calls import Bulk, indexed_documents
from tests.sql.document_calls import CODE, DocumentCalls, Tenant, call, decoded, document_calls
from tests.sql.two_sessions import quick_to_see_deadlocks

OUTAGE = """
insert into internal.embedder_outage (embedder, reason, failures, since, failed_at, retry_at)
values ('wordllama', 'it is away', 1, now(), now(), now() + interval '1 hour')
"""
WAITS = """
select exists (
  select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'
    and datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0)
"""


@dataclass(frozen=True, slots=True)
class Sessions:
    """A driver in the middle of a transaction that has the run's row, and a worker that has a shard."""

    calls: DocumentCalls
    tenant: Tenant
    bulk: Bulk
    driver: Connection
    worker: Connection

    async def of(self, session: Connection, function: str, *arguments: object) -> Any:
        return decoded((await call(session, f"ingest.{function}", *arguments))[0][0])

    async def settled(self, working: asyncio.Task[Any]) -> None:
        """Until the worker's call has ended or waits for the driver."""
        while not await self.calls.admin.fetchval(WAITS, "worker"):
            if working.done():
                return

    async def crossed(self, first: Awaitable[Any], then: Awaitable[Any]) -> tuple[Any, Any]:
        """The worker begins its call while the driver has the run; then the driver goes on, and both end."""
        working = asyncio.ensure_future(first)
        await self.settled(working)
        answer = await then
        await self.driver.execute("commit")
        return await working, answer


@asynccontextmanager
async def sessions(database: Database, *arguments: object) -> AsyncIterator[Sessions]:
    async with (
        document_calls(database) as calls,
        quick_to_see_deadlocks(database, "driver") as driver,
        quick_to_see_deadlocks(database, "worker") as worker,
    ):
        tenant = await calls.create_tenant("acme")
        await indexed_documents(calls, tenant, 2)
        bulk = await Bulk.start(calls, tenant, *arguments)
        for session in (driver, worker):
            await session.execute(f"set penstock.tenant_id = '{tenant.tenant_id}'")
        yield Sessions(calls, tenant, bulk, driver, worker)


@pytest.mark.parametrize("ending", ["close_shard", "release_shard", "claim_shard"])
@pytest.mark.parametrize("driving", ["enqueue_shards", "resume_bulk"])
async def test_a_worker_that_ends_with_a_shard_does_not_deadlock_with_the_run_that_looks_after_it(
    database: Database, driving: str, ending: str
) -> None:
    async with sessions(database) as both:
        (shard,) = await both.bulk.planned()
        token = await both.bulk.claim(shard)
        await both.bulk.stage_all(shard, token)
        await both.calls.admin.execute("update ingest.bulk_run set reason = 'busy', waits_until = now()")
        if ending == "claim_shard":
            await both.calls.admin.execute(OUTAGE)
        arguments: dict[str, tuple[object, ...]] = {
            "close_shard": (shard, token),
            "release_shard": (shard, token, "busy", 1.0),
            "claim_shard": (shard, "one"),
        }
        await both.driver.execute("begin")
        await both.of(both.driver, "plan_bulk", both.bulk.run_id, CODE)
        ended, _ = await both.crossed(
            both.of(both.worker, ending, both.bulk.run_id, *arguments[ending]),
            both.of(both.driver, driving, both.bulk.run_id),
        )
        if ending == "close_shard":
            assert ended["indexed"] == 2
            assert (await both.bulk.explained())["reason"] is None
        elif ending == "release_shard":
            assert ended is True
            assert (await both.bulk.explained())["reason"] == "busy"
        else:
            assert ended["state"] == "waits"


async def test_another_start_does_not_deadlock_with_the_switch_it_would_replace(database: Database) -> None:
    async with sessions(database, "minilm", "ray") as both:
        (shard,) = await both.bulk.planned()
        await both.bulk.work(shard)
        await both.driver.execute("begin")
        await both.of(both.driver, "plan_bulk", both.bulk.run_id, CODE)
        started, ended = await both.crossed(
            both.of(both.worker, "start_bulk", "default", "openai"),
            both.of(both.driver, "end_bulk", both.bulk.run_id, CODE),
        )
        assert ended == "done"
        assert (started["embedder"], started["state"]) == ("openai", "planning")
        project = await both.calls.of(both.tenant, "accounts.show_project", "default")
        assert (project["embedder"], project["next_embedder"]) == ("minilm", "openai")


async def test_a_start_that_joins_a_run_does_not_deadlock_with_a_shard_that_closes(
    database: Database,
) -> None:
    """The start adds tasks to a run of another engine, so it takes shards; the close takes the project."""
    async with sessions(database, None, "ray") as both:
        (shard,) = await both.bulk.planned()
        token = await both.bulk.claim(shard)
        await both.bulk.stage_all(shard, token)
        await both.driver.execute("begin")
        await both.of(both.driver, "start_bulk", "default")
        closed, task = await both.crossed(
            both.of(both.worker, "close_shard", both.bulk.run_id, shard, token),
            both.of(both.driver, "start_reindex", "default"),
        )
        assert closed["indexed"] == 2
        assert task is not None
