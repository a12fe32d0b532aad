"""Processor time a document costs beyond parsing and embedding, with the model that costs least."""

from __future__ import annotations

from collections.abc import Sequence

from bench.documents.bare import bare_loop
from bench.documents.environment import DocumentEnvironment
from bench.documents.load import Cpu, cpu
from bench.documents.place import Job
from bench.documents.running_engine import running_engine
from bench.documents.sample_files import mixed
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict

EMBEDDER = "wordllama"


async def bare(job: Job) -> Figures:
    files = mixed(job.sizes)
    async with bare_loop(job) as loop:
        before = cpu(job.place)
        await loop.run(files)
        return _milliseconds(cpu(job.place).since(before), len(files))


async def penstock(job: Job) -> Figures:
    files = mixed(job.sizes)
    async with running_engine(job) as here:
        before = cpu(job.place)
        await here.take_in(files)
        await here.settled()
        return _milliseconds(cpu(job.place).since(before), len(files))


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

    async def measure(self, environment: DocumentEnvironment, case: str) -> Figures:
        least = await environment.run("overhead.bare", EMBEDDER)
        ours = await environment.run("overhead.penstock", EMBEDDER)
        return {**ours, "beyond_ms": ours["total_ms"] - (least["total_ms"] - least["server_ms"])}

    def judge(self, medians: Medians) -> list[Verdict]:
        return []


WORKLOAD = Overhead()
