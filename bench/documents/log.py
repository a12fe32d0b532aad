"""A log of 200 MB with default settings: it is indexed, in memory that does not grow with its size."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from time import perf_counter

from bench.documents.environment import DocumentEnvironment
from bench.documents.large import LOOK_SECONDS, watched
from bench.documents.place import Place
from bench.documents.running_engine import settled
from bench.documents.sample_files import SampleFile, text_file
from bench.documents.services import form, services
from bench.documents.sizes import Sizes
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict
from penstock.settings import Settings

NAME = "large.log"
RESULT = """
select
  d.chunk_count,
  extract(epoch from e.at - b.at)::float8 as chunked_after
from ingest.document d
join ingest.document_event b on b.document_id = d.document_id and b.to_status = 'processing'
join ingest.document_event e on e.document_id = d.document_id and e.to_status = 'embedding'
where d.filename = $1
order by b.at desc, e.at desc
limit 1
"""


def lines(size: int) -> Iterator[str]:
    """About this many bytes of lines of five kinds, with ids and numbers that hardly ever repeat."""
    rng = random.Random(200)
    number = 0
    while size > 0:
        line = _line(rng, number)
        size -= len(line)
        number += 1
        yield line


def _line(rng: random.Random, number: int) -> str:
    day, clock = (
        number // 86_400 % 28 + 1,
        f"{number // 3_600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}",
    )
    at = f"2026-05-{day:02d}T{clock}.{rng.randrange(1_000):03d}Z"
    match number % 7:
        case 0 | 1 | 2:
            return (
                f"{at} INFO worker-{rng.randrange(13)} request {rng.getrandbits(32):08x} took "
                f"{rng.randrange(977)} ms: GET /v1/items/{rng.randrange(10**6)} status=200\n"
            )
        case 3:
            host = ".".join(str(rng.randrange(256)) for _ in range(3))
            return (
                f'10.{host} - - [{at}] "POST /api/orders HTTP/1.1" 201 {rng.randrange(10**5)} "Mozilla/5.0"\n'
            )
        case 4:
            return (
                f"{at} WARN connection {rng.getrandbits(48):012x} is slow; the server answered after "
                f"{rng.random() * 10:.3f} seconds. Trying again.\n"
            )
        case 5:
            customer = f"{rng.getrandbits(64):016x}"
            return f"{at} ERROR payment for order {rng.randrange(10**7)} failed: card declined ({customer})\n"
        case _:
            return (
                f"{at} DEBUG cache miss key=user:{rng.randrange(10**5)}:profile shard={rng.randrange(64)}\n"
            )


async def measured(place: Place, sizes: Sizes, embedder: str) -> Figures:
    content = await asyncio.to_thread(lambda: "".join(lines(sizes.log_mb * 1_000_000)).encode())
    size = len(content)
    async with services(place, embedder, text_file("Warm is the water.", "warm.txt"), seconds=600) as here:
        started = perf_counter()
        await here.post(form(SampleFile(NAME, "text/plain", content)))
        posted = perf_counter() - started
        del content
        indexing = asyncio.create_task(settled(here.admin, LOOK_SECONDS))
        try:
            seen = await watched(here, place, indexing)
        finally:
            indexing.cancel()
        row = await here.admin.fetchrow(RESULT, NAME)
        assert row is not None
        return {
            "megabytes": size / 1e6,
            "seconds": perf_counter() - started,
            "posted_seconds": posted,
            "chunked_seconds": row["chunked_after"],
            **seen,
            "chunks": row["chunk_count"],
        }


class Log:
    name = "log"
    title = "A log of 200 MB (wordllama)"
    columns = (
        Column("seconds", "seconds", 1),
        Column("megabytes", "MB"),
        Column("posted_seconds", "upload s", 1),
        Column("chunked_seconds", "parse and chunk s", 1),
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
            return await measured(place, environment.sizes, "wordllama")

    def judge(self, medians: Medians) -> list[Verdict]:
        ours = medians["penstock"]
        two_beats = 2 * float(Settings.model_fields["beat_seconds"].default)
        return [
            Verdict("Log: worker's memory, MiB", ours["own_mib"], 400, at_least=False),
            Verdict("Log: worker's and children's memory, MiB", ours["tree_mib"], 1_229, at_least=False),
            Verdict("Log: longest silence, s (two beats)", ours["silent_seconds"], two_beats, at_least=False),
            Verdict("Log: workers lost", ours["lost"], 0, at_least=False),
        ]


WORKLOAD = Log()
