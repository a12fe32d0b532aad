"""Notifications of a mailbox are lost, doubled and shuffled while workers are killed: no mail is missing."""

from __future__ import annotations

import asyncio
import random
import subprocess
from collections import Counter
from pathlib import Path

from penstock.db import Connection
from penstock.simulators.providers import ProviderSimulators
from tests.chaos.work import LONG
from tests.integration.connecting_sources import Connections
from tests.integration.pushed_mail import notified, quiet
from tests.plugins.database import Database
from tests.plugins.workers import Crew, eventually

MAILS, KILLS, WITHIN = (5_000, 10, 1_200) if LONG else (90, 2, 100)
WAVE = MAILS * 29 // 30 // KILLS
"""Mails that arrive at once; the notifications of those after the last wave are all lost."""
TEMPLATES = ("invoice", "two_files", "plain", "signature_and_invoice", "newsletter")
HELD = """
select encode(d.content_sha256, 'hex') as sha256, d.filename, count(*) as times,
  bool_and(d.status = 'indexed') as is_indexed
from ingest.source_document s join ingest.document d on d.document_id = s.document_id
where d.deleted_at is null
group by d.document_id
"""
DOCUMENTS = "select count(*) from ingest.document"


async def test_every_attachment_is_there_once_after_lost_notifications_and_killed_workers(
    database: Database, crew: Crew, tmp_path: Path
) -> None:
    # Only the sweep that this test asks for.
    async with (
        notified(database, tmp_path, mail_sweep_seconds=86_400) as here,
        database.connect("admin") as admin,
    ):
        sim, expected = here.simulators, Counter[tuple[str, str]]()
        team = [_worker(crew, here, tmp_path) for _ in range(2)]
        source_id = await here.connect("outlook")
        await quiet(here, source_id, within=WITHIN)
        push = sim.outlook.emitter.reliability
        for wave in range(KILLS):
            push.set(lost=0.1, duplicated=0.2, paused=True, jitter=0.5)
            before = len(expected)
            await _deliver(sim, WAVE, expected)
            sim.outlook.emitter.release(shuffled=True)
            # Some time in the middle of this wave; the next one does not wait for its end.
            mark = before + int((len(expected) - before) * random.uniform(0.05, 0.6))
            await _reached(admin, mark)
            crew.kill(team[wave % 2])
            team[wave % 2] = _worker(crew, here, tmp_path)
        await sim.outlook.emitter.drained(WITHIN)
        await quiet(here, source_id, within=WITHIN)
        assert sim.outlook.emitter.lost > 0
        assert sim.outlook.emitter.duplicated > 0

        push.set(lost=1.0)
        await _deliver(sim, MAILS - KILLS * WAVE, expected)
        assert await _held(admin) != expected
        await admin.execute("update ingest.source set next_sync_at = now() where source_id = $1", source_id)
        await here.works.engine.source_sync.maintain()
        await quiet(here, source_id, within=WITHIN)
        assert await _held(admin) == expected
        assert await admin.fetchval(DOCUMENTS) == len(expected)
        assert await admin.fetchval("select count(*) from queues.attempt where outcome = 'lost'") > 0
        assert await admin.fetchval("select count(*) from queues.dead_letter") == 0
        await asyncio.to_thread(crew.dismiss)


def _worker(crew: Crew, here: Connections, folder: Path) -> subprocess.Popen[bytes]:
    settings = here.works.engine.settings
    return crew.spawn(
        "penstock",
        "worker",
        data_dir=folder,
        parse_processes=1,
        public_url=settings.public_url,
        mail_sweep_seconds=settings.mail_sweep_seconds,
        **here.simulators.settings(),
    )


async def _deliver(sim: ProviderSimulators, count: int, expected: Counter[tuple[str, str]]) -> None:
    """Mails arrive; the files of each that are documents are expected, one at a time."""
    for number in range(count):
        mail = sim.deliver("outlook", TEMPLATES[number % len(TEMPLATES)])
        expected.update((sha256, name) for name, sha256 in mail.files if name.endswith(".pdf"))
        await asyncio.sleep(0)  # the API and the simulators answer in between


async def _reached(admin: Connection, documents: int) -> None:
    async def is_reached() -> bool:
        return bool(await admin.fetchval(DOCUMENTS) >= documents)

    await eventually(is_reached, within=WITHIN, what=f"{documents} documents are taken in")


async def _held(admin: Connection) -> Counter[tuple[str, str]]:
    """How many mails each indexed document came with."""
    rows = await admin.fetch(HELD)
    return Counter({(row["sha256"], row["filename"]): row["times"] for row in rows if row["is_indexed"]})
