"""Syncs whose worker processes are killed again and again: nothing is missing, nothing comes twice."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock.model import SourceId
from penstock.simulators.providers import ProviderSimulators, serving_providers
from tests.chaos.work import LONG
from tests.integration.connecting_sources import Connections
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.scripted_source import settled
from tests.plugins.workers import Crew, ended, eventually

CONTACTS, EVERY = (10_000, 10) if LONG else (2_000, 3)
"""How many there are, and after how many pages a worker is killed; a page is of a hundred."""
SEARCH = "search_crm_objects"
HOLDER = """
  select w.worker_name from queues.lease l
  join queues.worker w using (worker_id)
  join queues.task t using (task_id)
  where t.task_type = 'sync-source'
"""
TWICE = """
  select
    (select count(*) from (
      select from ingest.document where deleted_at is null group by external_id having count(*) > 1) d)
    + (select count(*) from (
      select from ingest.chunk c join ingest.document d on d.document_id = c.document_id
      where c.generation = d.live_generation group by c.document_id having count(*) > 1) c)
"""


def settings_of(simulators: ProviderSimulators) -> dict[str, Any]:
    return dict(simulators.settings())


class Workers:
    """Worker processes on the sources of a test."""

    def __init__(self, here: Connections, crew: Crew, folder: Path) -> None:
        self._here = here
        self._crew = crew
        self._folder = folder
        self.members: list[subprocess.Popen[bytes]] = []

    def start(self, **settings: Any) -> subprocess.Popen[bytes]:
        chosen = {"data_dir": self._folder, "parse_processes": 1, **self._here.simulators.settings()}
        member = self._crew.spawn("penstock", "worker", **{**chosen, **settings})
        self.members.append(member)
        return member

    async def holder(self) -> subprocess.Popen[bytes] | None:
        """The one that is syncing."""
        name = await self._here.works.value(HOLDER)
        alive = [member for member in self.members if member.poll() is None]
        return next((member for member in alive if name and name.endswith(f":{member.pid}")), None)

    def dismiss(self) -> None:
        self._crew.dismiss()


async def contacts(here: Connections) -> set[str]:
    found = await here.works.value(
        "select array_agg(external_id) from ingest.source_document where document_type = 'hubspot.contact'"
    )
    return {each.removeprefix("contacts/") for each in found or ()}


async def later_changes_are_found(here: Connections, source_id: SourceId) -> None:
    """The cursor is right: what changes from now on is found, and nothing else."""
    contact = next(iter(here.simulators.world.hubspot.contacts.live()))
    here.simulators.world.hubspot.contacts.change(contact.id, {"jobtitle": "Lighthouse keeper"})
    await here.works.engine.sources.sync(here.works.tenant_id, source_id)
    job = await settled(here.works, source_id)
    assert (job["kind"], job["items_written"], job["items_removed"]) == ("delta_sync", 1, 0)


@pytest.mark.chaos
@pytest.mark.timeout(600)
async def test_every_contact_is_there_once_though_workers_crash_every_few_pages(
    database: Database, tmp_path: Path, crew: Crew
) -> None:
    async with (
        serving_providers(contacts=CONTACTS, companies=50, deals=20) as simulators,
        works_on(database, tmp_path, **settings_of(simulators)) as works,
    ):
        here = Connections(works, simulators)
        workers = Workers(here, crew, tmp_path)
        workers.start()
        workers.start()
        source_id = await here.connect("hubspot")

        def pages() -> int:
            return simulators.ledger.count("hubspot", "mcp", SEARCH)

        async def is_over() -> bool:
            return bool(await works.value("select synced_at is not null from ingest.source"))

        crashes, mark = 0, EVERY
        while not await is_over():
            if pages() < mark:
                await asyncio.sleep(0.02)
                continue
            if (victim := await workers.holder()) is not None:
                victim.kill()
                await ended(victim)
                crashes, mark = crashes + 1, pages() + EVERY
                workers.start()
        assert crashes >= 5
        job = await settled(works, source_id)
        assert (job["status"], job["items_failed"]) == ("completed", 0), job
        assert await contacts(here) == {each.id for each in simulators.world.hubspot.contacts.live()}
        counts = simulators.world.counts()
        everything = counts["contacts"] + counts["companies"] + counts["deals"]
        assert job["items_seen"] == job["items_written"] == everything, "a page counts when it is committed"
        indexed = "select count(*) from ingest.document where status = 'indexed' and deleted_at is null"
        assert await works.value(indexed) == everything
        assert await works.value(TWICE) == 0
        assert await works.value("select count(*) from queues.dead_letter") == 0
        await later_changes_are_found(here, source_id)
        await asyncio.to_thread(workers.dismiss)


@pytest.mark.timeout(180)
async def test_a_sync_that_kills_every_worker_is_given_up_after_five(
    database: Database, tmp_path: Path, crew: Crew
) -> None:
    async with (
        serving_providers(contacts=100) as simulators,
        works_on(database, tmp_path, **settings_of(simulators)) as works,
    ):
        here = Connections(works, simulators)
        workers = Workers(here, crew, tmp_path)
        simulators.fail("hang", "hubspot", operation=SEARCH, times=None)
        source_id = await here.connect("hubspot")
        for number in range(1, 6):
            workers.start()

            async def is_reading(number: int = number) -> bool:
                is_called = simulators.ledger.count("hubspot", "mcp", SEARCH) >= number
                return is_called and await workers.holder() is not None

            await eventually(is_reading, within=60)
            victim = await workers.holder()
            assert victim is not None
            victim.kill()
            await ended(victim)
        workers.start()
        job = await settled(works, source_id)
        assert (job["status"], job["error_message"]) == ("failed", "max_retries_exceeded")
        (source,) = await works.engine.sources.list(works.tenant_id)
        assert source.health.state == "retrying"
        assert source.health.next_try_at is not None, "the next night tries again"
        await asyncio.to_thread(workers.dismiss)
