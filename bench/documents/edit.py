"""One sentence changed in a document of a hundred chunks: how many chunks are embedded again."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from bench.documents.environment import DocumentEnvironment
from bench.documents.place import Job
from bench.documents.running_engine import running_engine, stream
from bench.documents.sample_files import edited
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict

ROLES = {
    "penstock": "edit.penstock",
    "llamaindex": "peer.edit_plain",
    "llamaindex + docstore": "peer.edit_with_docstore",
}


async def penstock(job: Job) -> Figures:
    before, after = edited(job.sizes)
    async with running_engine(job) as here:
        (taken,) = await here.take_in([before])
        await here.settled()
        chunks = await here.chunk_count()
        here.embedders.taken()
        started = perf_counter()
        await here.engine.intake.replace(
            here.tenant_id, taken.document_id, stream(after.content), filename=after.filename
        )
        await here.settled()
        return {
            "embedded": here.embedders.taken().texts,
            "chunks": chunks,
            "seconds": perf_counter() - started,
        }


class Edit:
    name = "edit"
    title = "One sentence changed in a long document (MiniLM)"
    columns = (
        Column("embedded", "chunks embedded"),
        Column("chunks", "of"),
        Column("seconds", "seconds", 2),
    )

    def cases(self, peers: Sequence[str]) -> list[str]:
        return list(ROLES) if peers else ["penstock"]

    async def measure(self, environment: DocumentEnvironment, case: str) -> Figures:
        return await environment.run(ROLES[case])

    def judge(self, medians: Medians) -> list[Verdict]:
        ours = medians["penstock"]
        return [
            Verdict("Chunks of the long document", ours["chunks"], 100),
            Verdict("Chunks embedded after one sentence changed", ours["embedded"], 3, at_least=False),
        ]


WORKLOAD = Edit()
