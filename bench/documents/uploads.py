"""Uploads of 100 KB under an open loop: the time to the 202, with the worker paused and at work."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence
from time import perf_counter

from bench.documents.environment import DocumentEnvironment
from bench.documents.place import Place
from bench.documents.sample_files import text_file, uploads
from bench.documents.services import form, services
from bench.documents.sizes import Sizes
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict

PAUSED = "worker paused"
RUNNING = {"worker running, wordllama": "wordllama", "worker running, MiniLM": "minilm"}
REQUIRED = {PAUSED: 30.0, **dict.fromkeys(RUNNING, 30.0)}
WARM_UPS = 20


async def measured(place: Place, sizes: Sizes, embedder: str, *, paused: bool) -> Figures:
    count = int(sizes.upload_rate * sizes.upload_seconds)
    bodies = [form(file) for file in uploads(count, sizes.upload_bytes)]
    warming = [form(file) for file in uploads(WARM_UPS, 1_000, seed=3_000)]
    taken: list[float] = []
    async with services(place, embedder, text_file("Warm is the water.", "warm.txt")) as here:
        if paused:
            await here.pause()
        # The API's connections and its pool's come into being before the clock starts.
        await asyncio.gather(*(here.post(body) for body in warming))

        async def send(body: bytes, due: float) -> None:
            await here.post(body)
            taken.append(perf_counter() - due)

        async with asyncio.TaskGroup() as group:
            started = perf_counter()
            for number, body in enumerate(bodies):
                # Counted from when it was due, whether or not the ones before are answered.
                due = started + number / sizes.upload_rate
                await asyncio.sleep(max(0.0, due - perf_counter()))
                group.create_task(send(body, due))
        indexed = await here.admin.fetchval("select count(*) from ingest.document where status = 'indexed'")
    cuts = statistics.quantiles(taken, n=100, method="inclusive")
    return {
        "p95_ms": cuts[94] * 1_000,
        "p50_ms": cuts[49] * 1_000,
        "p99_ms": cuts[98] * 1_000,
        "max_ms": max(taken) * 1_000,
        "uploads": len(taken),
        "indexed": indexed,
    }


class Uploads:
    name = "uploads"
    title = "Uploads of 100 KB, 50 a second, open loop"
    columns = (
        Column("p95_ms", "p95 ms", 1),
        Column("p50_ms", "p50 ms", 1),
        Column("p99_ms", "p99 ms", 1),
        Column("max_ms", "max ms", 1),
        Column("uploads", "uploads"),
        Column("indexed", "indexed meanwhile"),
    )

    def cases(self, peers: Sequence[str]) -> list[str]:
        return list(REQUIRED)

    async def measure(self, environment: DocumentEnvironment, case: str) -> Figures:
        async with environment.place() as place:
            embedder = RUNNING.get(case, "wordllama")
            return await measured(place, environment.sizes, embedder, paused=case == PAUSED)

    def judge(self, medians: Medians) -> list[Verdict]:
        return [
            Verdict(f"Upload p95 in ms, {case}", figures["p95_ms"], REQUIRED[case], at_least=False)
            for case, figures in medians.items()
        ]


WORKLOAD = Uploads()
