"""A hundred small documents posted at once to a warm worker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter

from bench.documents.environment import DocumentEnvironment
from bench.documents.place import Place
from bench.documents.running_engine import settled
from bench.documents.sample_files import notes, text_file
from bench.documents.services import form, services
from bench.documents.sizes import Sizes
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict

LOOK_SECONDS = 0.02


async def measured(place: Place, sizes: Sizes, embedder: str) -> Figures:
    bodies = [form(file) for file in notes(sizes)]
    async with services(place, embedder, text_file("Warm is the water.", "warm.txt")) as here:
        started = perf_counter()
        await asyncio.gather(*(here.post(body) for body in bodies))
        posted = perf_counter() - started
        await settled(here.admin, LOOK_SECONDS)
        seconds = perf_counter() - started
        count = await here.admin.fetchval("select count(*) from ingest.document where status = 'indexed'")
        return {"seconds": seconds, "posted_seconds": posted, "indexed": count - 1}


class Burst:
    name = "burst"
    title = "Small documents posted at once to a warm worker (MiniLM)"
    columns = (
        Column("seconds", "all indexed after s", 2),
        Column("posted_seconds", "all answered after s", 2),
        Column("indexed", "documents"),
    )

    def cases(self, peers: Sequence[str]) -> list[str]:
        return ["penstock"]

    async def measure(self, environment: DocumentEnvironment, case: str) -> Figures:
        async with environment.place() as place:
            return await measured(place, environment.sizes, "minilm")

    def judge(self, medians: Medians) -> list[Verdict]:
        ours = medians["penstock"]
        return [Verdict("A hundred small documents indexed after, s", ours["seconds"], 5, at_least=False)]


WORKLOAD = Burst()
