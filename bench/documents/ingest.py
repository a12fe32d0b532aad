"""A mixed corpus into an empty index, the same again, and again by force, beside the bare loop and a peer."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from bench.documents.bare import bare_loop
from bench.documents.environment import DocumentEnvironment
from bench.documents.place import Job
from bench.documents.running_engine import running_engine
from bench.documents.sample_files import mixed
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict, ratio

ROLES = {
    "bare loop": "ingest.bare",
    "penstock": "ingest.penstock",
    "llamaindex": "peer.ingest_plain",
    "llamaindex + docstore": "peer.ingest_with_docstore",
}
PEERS = ("llamaindex", "llamaindex + docstore")


async def bare(job: Job) -> Figures:
    files = mixed(job.sizes)
    async with bare_loop(job) as loop:
        started = perf_counter()
        chunks = await loop.run(files)
        return first_time(len(files), perf_counter() - started, chunks, chunks)


async def penstock(job: Job) -> Figures:
    """From the first document handed in to the last one indexed."""
    files = mixed(job.sizes)
    async with running_engine(job) as here:
        started = perf_counter()
        await here.take_in(files)
        await here.settled()
        chunks = await here.chunk_count()
        figures = first_time(len(files), perf_counter() - started, chunks, here.embedders.taken().texts)

        started = perf_counter()
        taken = await here.take_in(files)
        await here.settled()
        figures |= {
            "again_seconds": perf_counter() - started,
            "again_texts": here.embedders.taken().texts,
            "again_skipped": sum(one.skipped for one in taken),
            "again_chunks": await here.chunk_count(),
        }

        started = perf_counter()
        for one in taken:
            await here.engine.documents.reindex(here.tenant_id, one.document_id)
        await here.settled()
        return figures | {
            "forced_seconds": perf_counter() - started,
            "forced_texts": here.embedders.taken().texts,
        }


def first_time(documents: int, seconds: float, chunks: int, texts: int) -> Figures:
    return {
        "seconds": seconds,
        "documents_per_second": documents / seconds,
        "chunks": chunks,
        "texts": texts,
        "texts_per_second": texts / seconds,
        **dict.fromkeys(
            ("again_seconds", "again_texts", "again_chunks", "forced_seconds", "forced_texts"), 0.0
        ),
    }


class Ingest:
    name = "ingest"
    title = "A mixed corpus into an empty index, then the same again (MiniLM)"
    columns = (
        Column("seconds", "seconds", 2),
        Column("documents_per_second", "documents/s", 2),
        Column("chunks", "chunks"),
        Column("texts", "texts embedded"),
        Column("texts_per_second", "texts/s", 1),
        Column("again_seconds", "again: seconds", 2),
        Column("again_texts", "again: texts embedded"),
        Column("again_chunks", "again: chunks kept"),
        Column("forced_seconds", "re-index: seconds", 2),
        Column("forced_texts", "re-index: texts embedded"),
    )

    def cases(self, peers: Sequence[str]) -> list[str]:
        return [case for case in ROLES if case not in PEERS or peers]

    async def measure(self, environment: DocumentEnvironment, case: str) -> Figures:
        return await environment.run(ROLES[case])

    def judge(self, medians: Medians) -> list[Verdict]:
        ours = medians["penstock"]
        over = ratio(medians, "seconds", "penstock", "bare loop")
        assert over is not None
        return [
            Verdict("Penstock's time for the corpus / the bare loop's", over, 1.05, at_least=False),
            *(
                Verdict(f"Penstock's time for the corpus / that of {peer}", beside, 1.0, at_least=False)
                for peer in PEERS
                if (beside := ratio(medians, "seconds", "penstock", peer)) is not None
            ),
            Verdict("Texts embedded for the unchanged corpus", ours["again_texts"], 0, at_least=False),
            Verdict("Times faster for the unchanged corpus", ours["seconds"] / ours["again_seconds"], 20),
            Verdict("Texts embedded for a forced re-index", ours["forced_texts"], 0, at_least=False),
        ]


WORKLOAD = Ingest()
