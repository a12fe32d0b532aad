"""The driver of a re-index on a cluster: it outlasts an outage of the database, and the workers outlast it.

The cluster is this process; `tests/ray` has the same driver on real nodes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.db.connect import CONNECTION_LOST
from penstock.documents.reindexes import ReindexRun
from penstock.engine.engine import Engine
from penstock.engine.ray_engine import MOST_ERRORS, RayDriver
from penstock.engine.ray_node import answer_of
from penstock.errors import DatabaseUnreachable, SettingInvalid
from penstock.model import TenantId
from penstock.pipeline.bulk.calls import BulkCalls
from penstock.pipeline.bulk.shard_runner import ShardResult, ShardRunner
from penstock.pipeline.version import CODE_VERSION
from tests.integration.api_server import api_server
from tests.integration.test_reindex import ended, hand_in_some, start, times
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import Works, settings_for, works_on
from tests.plugins.proxy import Mode, Proxy, proxied
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(180)


@dataclass(slots=True)
class OwnCluster:
    """A cluster of one node, in this process, that counts how often each shard was cut off."""

    runner: ShardRunner
    cut_off: Counter[int] = field(default_factory=Counter)
    _shards: dict[asyncio.Task[dict[str, Any]], int] = field(default_factory=dict)

    def processors(self) -> float:
        return 1.0

    def give(self, tenant_id: str, run_id: str, shard: int, holder: str) -> asyncio.Task[dict[str, Any]]:
        running = self.runner.run(TenantId(UUID(tenant_id)), UUID(run_id), shard, holder)
        task = asyncio.create_task(answer_of(running))
        self._shards[task] = shard
        return task

    async def first_ended(
        self, given: Sequence[asyncio.Task[dict[str, Any]]], seconds: float
    ) -> Sequence[tuple[asyncio.Task[dict[str, Any]], dict[str, Any]]]:
        ended, _ = await asyncio.wait(given, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            self.cut_off[self._shards[task]] += "cut_off" in task.result()
        return [(task, task.result()) for task in ended]

    def cancel(self, reference: asyncio.Task[dict[str, Any]]) -> None:
        reference.cancel()


class CountedCalls(BulkCalls):
    """Counts the plans that did not reach the database, with which each step of a driver begins."""

    lost = 0

    async def plan(self, tenant_id: TenantId, run_id: UUID) -> int:
        try:
            return await BulkCalls.plan(self, tenant_id, run_id)
        except CONNECTION_LOST:
            self.lost += 1
            raise


@asynccontextmanager
async def behind_a_proxy(works: Works, folder: Path) -> AsyncIterator[tuple[Engine, Proxy]]:
    """A second engine on the same database, whose lines can be cut."""
    database = works.database
    async with proxied(database.runtime_url) as proxy:
        settings = settings_for(database, folder, database_url=proxy.url(database.runtime_url))
        async with Engine(settings) as engine:
            yield engine, proxy


async def begun(works: Works) -> tuple[list[UUID], ReindexRun]:
    async with works.working():
        documents = await hand_in_some(works, 6)
    return documents, await start(works, engine="ray", shard_documents=2)


async def assert_each_once(works: Works, documents: list[UUID], run_id: UUID) -> None:
    run = await works.engine.reindexes.show(works.tenant_id, run_id)
    assert (run.state, run.indexed, run.failed) == ("done", len(documents), 0), run
    assert await times(works, "reindexed") == dict.fromkeys(documents, 1)


async def test_nodes_that_lose_the_database_cost_no_shard_its_attempts(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, behind_a_proxy(works, tmp_path) as (cut, proxy):
        documents, run = await begun(works)
        cluster = OwnCluster(await cut.shard_runner())
        proxy.mode = Mode.CLOSE
        driver = RayDriver(works.engine.bulk_calls, works.tenant_id, run.run_id, cluster, retry_seconds=0.02)
        driving = asyncio.create_task(driver.drive())
        await eventually(lambda: max(cluster.cut_off.values(), default=0) > MOST_ERRORS, within=60)
        proxy.mode = Mode.PASS
        async with asyncio.timeout(60):
            assert await driving == "done"
        await assert_each_once(works, documents, run.run_id)


async def test_a_driver_that_loses_the_database_goes_on_when_it_is_back(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, behind_a_proxy(works, tmp_path) as (cut, proxy):
        documents, run = await begun(works)
        # The driver and its nodes lose it, as when the server is restarted.
        calls = CountedCalls(cut.tenants, CODE_VERSION)
        cluster = OwnCluster(await cut.shard_runner())
        driver = RayDriver(calls, works.tenant_id, run.run_id, cluster, retry_seconds=0.02)

        async def look() -> None:
            if not calls.lost and (await cut.reindexes.show(works.tenant_id, run.run_id)).held_shards:
                proxy.mode = Mode.CLOSE

        driving = asyncio.create_task(driver.drive(look))
        await eventually(lambda: calls.lost > 3, within=60)
        proxy.mode = Mode.PASS
        async with asyncio.timeout(60):
            assert await driving == "done"
        await assert_each_once(works, documents, run.run_id)


async def test_an_outage_without_end_ends_the_driver_and_leaves_the_run_to_the_next(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, behind_a_proxy(works, tmp_path) as (cut, proxy):
        documents, run = await begun(works)
        cluster = OwnCluster(await works.engine.shard_runner())
        proxy.mode = Mode.CLOSE
        lost = RayDriver(
            *(cut.bulk_calls, works.tenant_id, run.run_id, cluster), outage_seconds=0.3, retry_seconds=0.02
        )
        async with asyncio.timeout(60):
            with pytest.raises(CONNECTION_LOST):
                await lost.drive()
            assert await works.value("select state from ingest.bulk_run") == "planning"
            next_one = RayDriver(works.engine.bulk_calls, works.tenant_id, run.run_id, cluster)
            assert await next_one.drive() == "done"
        await assert_each_once(works, documents, run.run_id)


async def test_nodes_that_never_reach_the_database_fail_the_run_which_says_so(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, behind_a_proxy(works, tmp_path) as (cut, proxy):
        _, run = await begun(works)
        cluster = OwnCluster(await cut.shard_runner())
        proxy.mode = Mode.CLOSE
        driver = RayDriver(
            *(works.engine.bulk_calls, works.tenant_id, run.run_id, cluster),
            outage_seconds=0.3,
            retry_seconds=0.02,
        )
        async with asyncio.timeout(60):
            assert await driver.drive() == "failed"
        shown = await works.engine.reindexes.show(works.tenant_id, run.run_id)
        assert "the Ray nodes have not reached the database" in (shown.reason or "")


def unreachable(cause: Exception) -> DatabaseUnreachable:
    error = DatabaseUnreachable("connection refused", "Start the server")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectionResetError("reset by peer"), "cut_off"),
        (TimeoutError(), "cut_off"),
        (unreachable(ConnectionRefusedError()), "cut_off"),
        (unreachable(ValueError("the login was refused")), "error"),
        (FileNotFoundError(2, "No such file or directory", "/blobs/ab"), "error"),
        (SettingInvalid("PENSTOCK_DATABASE_URL", "not set"), "error"),
        (RuntimeError("x" * 10_000), "error"),
    ],
)
async def test_a_node_tells_an_outage_from_an_error_in_a_short_text(error: Exception, kind: str) -> None:
    async def failing() -> ShardResult:
        raise error

    answer = await answer_of(failing())
    assert list(answer) == [kind]
    assert 0 < len(answer[kind]) <= 500


async def test_a_start_over_http_gives_a_run_whose_ray_driver_died_to_the_workers(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        works = Works(server.engine, database, server.tenant)
        async with server.working():
            documents = await hand_in_some(works, 4)
        left = await left_by_ray(works)
        begun = await client.post("/v1/reindexes", json={})
        assert (begun.status_code, begun.json()["run_id"]) == (202, str(left.run_id)), begun.text
        assert begun.json()["task_id"] is not None, "nobody drives it"
        async with server.working():
            over = await ended(works, left.run_id, within=60)
        assert (over.state, over.indexed) == ("done", 4)
        assert await times(works, "reindexed") == dict.fromkeys(documents, 1)


async def left_by_ray(works: Works) -> ReindexRun:
    """A run of which a Ray driver planned and closed one shard before it died."""
    run = await start(works, engine="ray", shard_documents=2)
    calls, runner = works.engine.bulk_calls, await works.engine.shard_runner()
    await calls.plan(works.tenant_id, run.run_id)
    assert (await runner.run(works.tenant_id, run.run_id, 0, "ray")).outcome == "closed"
    shown = await works.engine.reindexes.show(works.tenant_id, run.run_id)
    assert (shown.is_open, shown.task_id) == (True, None)
    return shown


async def test_the_command_gives_a_run_whose_ray_driver_died_to_the_workers(
    penstock: CommandLine, database: Database
) -> None:
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    tenant = ours("tenant", "create", "default", "--json").json
    (ours.folder / "gate.md").write_text("# The gate\n\nThe sluice gate opens at dawn.\n")
    assert ours("ingest", "gate.md", "--worker", "--json", timeout=120).json["counts"] == {"indexed": 1}
    async with database.connect("runtime") as driver:
        await driver.execute("select set_config('penstock.tenant_id', $1, false)", tenant["tenant_id"])
        left = await driver.fetchval("select ingest.start_bulk('default', null, 'ray') ->> 'run_id'")
    over = await asyncio.to_thread(ours, "reindex", "--worker", "--json", timeout=60)
    assert over.json["run_id"] == left
    assert (over.json["state"], over.json["engine"], over.json["indexed"]) == ("done", "ray", 1)
