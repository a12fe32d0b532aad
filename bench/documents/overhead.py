"""Processor time a document costs beyond parsing and embedding, with the model that costs least."""

from __future__ import annotations

from collections.abc import Sequence

from bench.documents.bare import bare_loop
from bench.documents.house import house
from bench.documents.load import Cpu, cpu
from bench.documents.papers import mixed
from bench.documents.place import Job
from bench.documents.room import DocumentRoom
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict

EMBEDDER = "wordllama"


async def bare(job: Job) -> Figures:
    papers = mixed(job.sizes)
    async with bare_loop(job) as loop:
        before = cpu(job.place)
        await loop.run(papers)
        return _milliseconds(cpu(job.place).since(before), len(papers))


async def penstock(job: Job) -> Figures:
    papers = mixed(job.sizes)
    async with house(job) as here:
        before = cpu(job.place)
        await here.take_in(papers)
        await here.settled()
        return _milliseconds(cpu(job.place).since(before), len(papers))


def _milliseconds(spent: Cpu, documents: int) -> Figures:
    each = 1_000 / documents
    return {
        "total_ms": spent.total * each,
        "own_ms": spent.own * each,
        "children_ms": spent.children * each,
        "server_ms": spent.server * each,
    }


class Overhead:
    name = "overhead"
    title = "Processor time of a document in milliseconds (wordllama)"
    columns = (
        Column("beyond_ms", "beyond parse and embed", 1),
        Column("total_ms", "in all", 1),
        Column("own_ms", "worker", 1),
        Column("children_ms", "parsers and model", 1),
        Column("server_ms", "database", 1),
    )

    def cases(self, peers: Sequence[str]) -> list[str]:
        return ["bare loop and penstock"]

    async def measure(self, room: DocumentRoom, case: str) -> Figures:
        least = await room.run("overhead.bare", EMBEDDER)
        ours = await room.run("overhead.penstock", EMBEDDER)
        return {**ours, "beyond_ms": ours["total_ms"] - (least["total_ms"] - least["server_ms"])}

    def judge(self, medians: Medians) -> list[Verdict]:
        return []


WORKLOAD = Overhead()
