"""The inlet of BullMQ 6 on Postgres: added by command, read by workers or alone, safe from kill -9."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.bullmq_inlets import Moved, moved, node_url
from tests.plugins.bullmq import Hands, NodePackages, hands_on
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.workers import Books, Crew, ended, eventually

QUEUE = "ingest-document"
SCHEMA = "TeamJobs"  # has to be quoted
ADD = (
    *("inlet", "add", "bullmq", "papers", "--queue", QUEUE, "--schema", SCHEMA),
    *("--job", "ingest=ingest_document", "--tenant-key", "tenantId"),
)


def job(n: int, name: str = "ingest", tenant: str = "acme", **opts: Any) -> dict[str, Any]:
    return {"name": name, "data": {"n": n, "tenantId": tenant}, "opts": opts}


@asynccontextmanager
async def team_on(
    database: Database, packages: NodePackages, penstock: CommandLine
) -> AsyncIterator[tuple[Moved, Hands]]:
    """A team's producer in Penstock's database, and the inlet that reads its queue."""
    async with moved(database) as there:
        with hands_on(None, packages) as team:
            team.ask("postgres", url=node_url(database, admin=True), schema=SCHEMA)
            added = penstock(*ADD, "--json")
            assert added.json == {
                "inlet": "papers",
                "kind": "bullmq_postgres",
                "source": f"bullmq:{SCHEMA}.{QUEUE}",
            }
            yield there, team


def around(database: Database, folder: Path, **more: Any) -> dict[str, Any]:
    return {"database_url": database.runtime_url, "data_dir": folder, "lease_seconds": 3, **more}


@pytest.mark.timeout(180)
async def test_a_mover_of_bullmq_killed_at_any_point_loses_and_doubles_nothing(
    database: Database, node_packages: NodePackages, penstock: CommandLine, tmp_path: Path, crew: Crew
) -> None:
    async with team_on(database, node_packages, penstock) as (there, team):
        sent = 250
        team.add(QUEUE, *(job(n) for n in range(sent)), version="postgres")
        for point in ("inlet.received", "inlet.committed"):
            first = crew.spawn(
                "penstock", "inlet", "papers", **around(database, tmp_path, fault=f"{point}@2")
            )
            assert await ended(first, within=40) == -signal.SIGKILL
            more = range(sent, sent + 150)
            team.add(QUEUE, *(job(n) for n in more), version="postgres")
            sent = more.stop
        last = crew.spawn("penstock", "inlet", "papers", **around(database, tmp_path))

        async def everything() -> bool:
            return len(await there.numbers()) >= sent

        await eventually(everything, within=60)
        await eventually(lambda: "inlet_started" in crew.log_of(last), within=40)
        last.send_signal(signal.SIGTERM)
        assert await ended(last) == 0
        assert await there.numbers_are(*range(sent))
        assert team.counts(QUEUE, version="postgres") == {}
        assert await there.counted() == {"taken": sent}
        await Books(there.admin).assert_sound()


@pytest.mark.timeout(180)
async def test_a_worker_reads_bullmq_beside_its_tasks_and_every_figure_is_shown(
    database: Database, node_packages: NodePackages, penstock: CommandLine, crew: Crew
) -> None:
    async with team_on(database, node_packages, penstock) as (there, team):
        assert "nobody reads papers" in penstock("doctor").out
        team.add(QUEUE, *(job(n) for n in range(30)), job(99, "unheard"), version="postgres")
        # The team's own worker took this one and died: its lock runs out, nobody of the team looks for it.
        held = await there.admin.fetchval(
            f'select id from "{SCHEMA}".move_to_active($1, $2, 1, 1, $2, null, null)', QUEUE, "gone"
        )
        assert held is not None
        worker = crew.spawn()
        await eventually(lambda: _took(there, 29), within=40)
        # BullMQ marks it at the first look and takes it back at the next, 30 seconds later: not waited for.
        looked = f"""
          update "{SCHEMA}".meta set value = '0' where field = 'stalled-check' and queue = $1
          returning true"""
        await eventually(lambda: there.admin.fetchval(looked, QUEUE), within=30)
        await eventually(lambda: _is_marked(there, SCHEMA, held), within=30)
        await eventually(lambda: there.admin.fetchval(looked, QUEUE), within=30)
        await eventually(lambda: _took(there, 30), within=40)
        assert await there.numbers_are(*range(30))
        shown = penstock("inlet", "show", "papers", "--json").json
        assert (shown["received"], shown["taken"], shown["refused"], shown["duplicates"]) == (31, 30, 1, 0)
        assert "no task type for jobs named" in shown["refusals"][0]["reason"]
        assert (shown["task_types"], shown["error"]) == (["ingest_document"], None)
        assert shown["holder"]
        assert "papers refused 1 message" in penstock("doctor").out
        assert team.counts(QUEUE, version="postgres") == {"failed": 1}
        worker.send_signal(signal.SIGTERM)
        assert await ended(worker, within=30) == 0


async def _took(there: Moved, count: int) -> bool:
    return len(await there.numbers()) == count


async def _is_marked(there: Moved, schema: str, job_id: str) -> bool:
    state = await there.admin.fetchrow(
        f'select state::text, stalled_marked from "{schema}".job where id = $1', job_id
    )
    return state is None or state["stalled_marked"] or state["state"] != "active"


async def test_what_cannot_be_added_is_refused_with_the_remedy(
    database: Database, penstock: CommandLine
) -> None:
    nowhere = penstock(*ADD)
    assert "this database has no schema 'TeamJobs' of BullMQ 6" in nowhere.err
    assert "let BullMQ migrate it first" in nowhere.err
    base = ("inlet", "add", "bullmq", "papers", "--queue", QUEUE)
    assert "Write --job ingest=ingest_document" in penstock(*base, "--job", "ingest").err
    assert "Name at most 9 priorities" in penstock(*base, "--job", "a=b", "--level", "0").err
    assert penstock("inlet", "list", "--json").json == {"inlets": []}
