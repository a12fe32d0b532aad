"""A PDF of hundreds of pages: it is indexed, in bounded memory, while the worker's heart goes on beating."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter

from bench.documents.environment import DocumentEnvironment
from bench.documents.load import MEBIBYTE, memory
from bench.documents.place import Place
from bench.documents.running_engine import admin, settled
from bench.documents.sample_files import large_pdf, text_file
from bench.documents.services import Services, form, services
from bench.documents.sizes import Sizes
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict
from penstock.settings import Settings

LOOK_SECONDS = 0.1
SILENCE = """
select
  coalesce(max(extract(epoch from clock_timestamp() - beat_at)), 0)::float8,
  count(lost_at)
from queues.worker
where worker_id > 0
"""
RESULT = "select chunk_count, page_count from ingest.document where filename = 'large.pdf'"


async def measured(place: Place, sizes: Sizes, embedder: str) -> Figures:
    file = large_pdf(sizes)
    async with services(place, embedder, text_file("Warm is the water.", "warm.txt")) as here:
        started = perf_counter()
        await here.post(form(file))
        indexing = asyncio.create_task(settled(here.admin, LOOK_SECONDS))
        try:
            seen = await watched(here, place, indexing)
        finally:
            indexing.cancel()
        row = await here.admin.fetchrow(RESULT)
        assert row is not None
        return {
            "seconds": perf_counter() - started,
            **seen,
            "chunks": row["chunk_count"],
            "pages": row["page_count"],
        }


async def watched(here: Services, place: Place, indexing: asyncio.Task[None]) -> Figures:
    """The largest of everything, seen ten times a second on a connection of its own."""
    own = tree = lost = 0
    silent = 0.0
    async with admin(place) as connection:
        while not indexing.done():
            now_own, now_tree = memory(here.worker.process.pid)
            own, tree = max(own, now_own), max(tree, now_tree)
            row = await connection.fetchrow(SILENCE)
            assert row is not None
            silent, lost = max(silent, row[0]), max(lost, row[1])
            await asyncio.wait([indexing], timeout=LOOK_SECONDS)
    await indexing
    return {"own_mib": own / MEBIBYTE, "tree_mib": tree / MEBIBYTE, "silent_seconds": silent, "lost": lost}


class Large:
    name = "large"
    title = "A large PDF (MiniLM)"
    columns = (
        Column("seconds", "seconds", 1),
        Column("pages", "pages"),
        Column("chunks", "chunks"),
        Column("own_mib", "worker MiB"),
        Column("tree_mib", "worker and children MiB"),
        Column("silent_seconds", "longest silence s", 2),
        Column("lost", "workers lost"),
    )

    def cases(self, peers: Sequence[str]) -> list[str]:
        return ["penstock"]

    async def measure(self, environment: DocumentEnvironment, case: str) -> Figures:
        async with environment.place() as place:
            return await measured(place, environment.sizes, "minilm")

    def judge(self, medians: Medians) -> list[Verdict]:
        ours = medians["penstock"]
        two_beats = 2 * float(Settings.model_fields["beat_seconds"].default)
        return [
            Verdict("Large PDF: worker's memory, MiB", ours["own_mib"], 400, at_least=False),
            Verdict(
                "Large PDF: worker's and children's memory, MiB", ours["tree_mib"], 1_229, at_least=False
            ),
            Verdict(
                "Large PDF: longest silence, s (two beats)", ours["silent_seconds"], two_beats, at_least=False
            ),
            Verdict("Large PDF: workers lost", ours["lost"], 0, at_least=False),
        ]


WORKLOAD = Large()
