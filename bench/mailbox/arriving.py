"""Lets mails arrive one after another, and says where the time of each went."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench.job import Figures
from bench.mailbox.services import MailServices, until

WARM = 3
"""Mails before the first that counts: parsers, models, caches."""
PATIENCE_SECONDS = 60.0
INDEXED = "select exists (select from ingest.document where filename = $1 and status = 'indexed')"
TIMES = """
select extract(epoch from t.enqueued_at) as woken, extract(epoch from j.started_at) as begun,
  extract(epoch from i.created_at) as taken, extract(epoch from d.indexed_at) as indexed
from ingest.document d
join ingest.ingestion i on i.document_id = d.document_id
join ingest.ingestion_job j on j.job_id = (i.source_metadata ->> 'job_id')::uuid
join queues.task t on t.task_id = j.task_id
where d.filename = $1
"""
PARTS = ("notified", "begun", "taken", "indexed", "found")


@dataclass(frozen=True, slots=True)
class Arrival:
    """Seconds of one mail, in all and of each part."""

    total: float
    parts: Sequence[float]


async def arrivals(here: MailServices, mails: int, warm: int = WARM) -> list[Arrival]:
    """One at a time, with pauses of different lengths, so that no rhythm of the worker is met or missed."""
    chance = random.Random(11)
    measured = []
    for number in range(-warm, mails):
        arrival = await _arrival(here, number + warm, chance)
        if number >= 0:
            measured.append(arrival)
        await asyncio.sleep(chance.uniform(0.1, 1.0))
    return measured


async def _arrival(here: MailServices, number: int, chance: random.Random) -> Arrival:
    word, filename = f"pump{chance.getrandbits(48):012x}", f"invoice-{number:04}.pdf"
    lines = [f"Invoice {number} of Wessex Pumps", f"Part {word}", f"Total {number * 17}.50 EUR"]
    arrived = time.time()
    await here.deliver(
        template="plain", subject=f"Invoice {number}", attachments=[{"filename": filename, "lines": lines}]
    )
    await until(lambda: here.admin.fetchval(INDEXED, filename), PATIENCE_SECONDS, f"{filename} is indexed")

    async def is_found() -> bool:
        return filename in await here.hits(word)

    await until(is_found, PATIENCE_SECONDS, f"{filename} is found")
    found = time.time()
    row = await here.admin.fetchrow(TIMES, filename)
    assert row is not None
    moments = [arrived, *(float(row[name]) for name in ("woken", "begun", "taken", "indexed")), found]
    return Arrival(found - arrived, [after - before for before, after in pairwise(moments)])


def figures(measured: Sequence[Arrival]) -> Figures:
    totals = sorted(each.total for each in measured)
    summed: Figures = {
        "p95": _percentile(totals, 0.95),
        "p50": _percentile(totals, 0.5),
        "slowest": totals[-1],
        "mails": len(totals),
    }
    for number, part in enumerate(PARTS):
        ordered = sorted(each.parts[number] for each in measured)
        summed[part] = _percentile(ordered, 0.5) * 1_000
        summed[f"{part}_p95"] = _percentile(ordered, 0.95) * 1_000
    return summed


def _percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
