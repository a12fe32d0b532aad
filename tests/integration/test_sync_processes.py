"""Syncs in worker processes that are stopped, killed, or two at once: every record once, the cursor right."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.connecting_sources import Connections, connections
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.scripted_source import settled, synced
from tests.plugins.workers import eventually

CONTACTS = 450
SIZES = {"contacts": CONTACTS, "companies": 1, "deals": 0}
"""Three pages of contacts."""
SEARCH = "search_crm_objects"
LEASE = {"PENSTOCK_LEASE_SECONDS": "5", "PENSTOCK_BEAT_SECONDS": "0.5", "PENSTOCK_GRACE_SECONDS": "1"}

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def worker(penstock: CommandLine, tmp_path: Path) -> Callable[[Connections], CommandLine]:
    """Worker processes beside the engine of the test, with its simulated providers."""

    def beside(here: Connections) -> CommandLine:
        variables = {**here.simulators.environment(), **LEASE, "PENSTOCK_DATA_DIR": str(tmp_path)}
        return penstock.with_variables(**variables)

    return beside


def contact_pages(here: Connections) -> Counter[Any]:
    """How often each page of contacts was asked for and answered, by where it begins."""
    asked = [
        entry.arguments
        for entry in here.simulators.ledger.entries("hubspot", "mcp", SEARCH)
        if entry.arguments["objectType"] == "contacts" and entry.fault != "hang"
    ]
    return Counter(
        next(
            (
                each["value"]
                for group in arguments.get("filterGroups", ())
                for each in group["filters"]
                if each["propertyName"] == "hs_object_id"
            ),
            None,
        )
        for arguments in asked
    )


async def all_are_here_once(here: Connections) -> bool:
    counted = await here.works.value(
        "select array[count(*), count(distinct external_id), count(distinct document_id)]"
        " from ingest.source_document where stream = 'contacts'"
    )
    chunks = await here.works.value(
        "select count(*) from ingest.chunk c join ingest.document d using (document_id)"
        " where d.external_id like 'contacts/%' and c.generation = d.live_generation"
    )
    return bool(counted == [CONTACTS] * 3 and chunks >= CONTACTS)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_worker_that_ends_in_the_middle_of_a_page_loses_nothing_and_repeats_no_earlier_page(
    number: signal.Signals,
    database: Database,
    tmp_path: Path,
    worker: Callable[[Connections], CommandLine],
) -> None:
    async with connections(database, tmp_path, sizes=SIZES) as here:
        source_id = await here.connect()
        # The company's page, the first page of contacts, then one that never ends.
        here.simulators.fail("hang", "hubspot", skip=2, seconds=600)
        with worker(here).running("worker") as first:
            hung = "select items_written >= 200 from ingest.ingestion_job"
            await eventually(
                lambda: any(entry.fault for entry in here.simulators.ledger.entries("hubspot", "mcp")),
                within=90,
                what="the second page hangs",
            )
            await eventually(lambda: here.works.value(hung), within=60, what="the first page is written")
            first.send_signal(number)
            await eventually(lambda: first.poll() is not None, within=60, what="the worker ended")
            assert first.returncode == (0 if number is signal.SIGTERM else -9)
        with worker(here).running("worker"):
            job = await settled(here.works, source_id, within=120)
        assert (job["status"], job["items_failed"], job["items_seen"]) == ("completed", 0, CONTACTS + 1)
        assert await all_are_here_once(here)
        assert set(contact_pages(here).values()) == {1}, "each page was read once"
        async with here.works.working():
            again = await synced(here.works, source_id)
        assert (again["kind"], again["items_written"]) == ("delta_sync", 0), "the cursor was right"


async def test_two_worker_processes_never_sync_one_source_at_once(
    database: Database, tmp_path: Path, worker: Callable[[Connections], CommandLine]
) -> None:
    async with connections(database, tmp_path, sizes=SIZES) as here:
        source_id = await here.connect()
        here.simulators.fail("slow", "hubspot", skip=2, seconds=2)
        with worker(here).running("worker", "--processes", "2"):
            going = "select count(*) = 1 from ingest.ingestion_job where items_written > 0"
            await eventually(lambda: here.works.value(going), within=90, what="the sync is going on")
            sources, tenant_id = here.works.engine.sources, here.works.tenant_id
            for _ in range(5):
                await sources.sync(tenant_id, source_id, full=True)
            await settled(here.works, source_id, within=120)
        jobs = "select array_agg(status::text || ' ' || run order by job_id) from ingest.ingestion_job"
        assert await here.works.value(jobs) == ["completed 1"] * 2, "five requests caused one more sync"
        assert set(contact_pages(here).values()) == {2}, "nobody else read it meanwhile"
        overlapping = (
            "select count(*) from ingest.ingestion_job a join ingest.ingestion_job b on a.job_id < b.job_id"
            " where b.started_at < a.finished_at"
        )
        assert await here.works.value(overlapping) == 0
        assert await all_are_here_once(here)
