"""Vector search within a filter that one document in a hundred passes: rows of ten, and recall."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Hashable, Sequence
from time import perf_counter

import numpy as np
import numpy.typing as npt

from bench.corpus import Corpus
from bench.documents.environment import DocumentEnvironment
from bench.documents.place import Job
from bench.documents.running_engine import RunningEngine, running_engine
from bench.documents.sample_files import text_file
from bench.documents.sizes import Sizes
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict
from penstock.model import Vector
from penstock.search import SearchQuery

ROLES = {
    "penstock": "filtered.exact",
    "penstock, HNSW": "filtered.hnsw",
    "llamaindex": "peer.filtered_exact",
    "llamaindex, HNSW": "peer.filtered_hnsw",
}
ASKED = 10
RARE = 100
"""One document in this many belongs to the team that is searched."""

CHUNK_TOKENS = 220
TEAM = """
select c.document_id, c.ordinal, e.embedding
from ingest.document as d
join ingest.chunk as c on c.document_id = d.document_id and c.generation = d.live_generation
join ingest.embedding_cache as e on e.tenant_id = c.tenant_id
  and e.model = c.embedding_model
  and e.text_sha256 = c.embedding_text_sha256
where d.metadata @> '{"team": "rare"}'
"""

Ask = Callable[[str, Vector], Awaitable[Sequence[Hashable]]]


def metadata_of(document: int) -> dict[str, str]:
    return {"team": "common" if document % RARE else "rare"}


async def exact(job: Job) -> Figures:
    return await _penstock(job, exact_search_chunks=1_000_000)


async def hnsw(job: Job) -> Figures:
    return await _penstock(job, exact_search_chunks=0)


async def _penstock(job: Job, *, exact_search_chunks: int) -> Figures:
    corpus = Corpus(job.sizes.filtered_documents)
    async with running_engine(job, exact_search_chunks=exact_search_chunks) as here:
        await here.engine.accounts.set_project(
            here.tenant_id, "default", chunk_tokens=CHUNK_TOKENS, chunk_overlap=0
        )
        texts = ["\n\n".join(corpus.chunks(number)) for number in range(corpus.documents)]
        files = [text_file(text, f"{number}.txt") for number, text in enumerate(texts)]
        await here.take_in(files, [metadata_of(number) for number in range(corpus.documents)])
        await here.settled()
        await here.engine.index.maintain()
        rows = await here.admin.fetch(TEAM)
        known: dict[Hashable, Vector] = {
            (row["document_id"], row["ordinal"]): Vector(row["embedding"]) for row in rows
        }
        figures = await asked(job.sizes, corpus, known, _ask(here), here.embedders.embed_query)
        return {**figures, "chunks": await here.chunk_count(), "within": len(known)}


def _ask(here: RunningEngine) -> Ask:
    async def ask(text: str, vector: Vector) -> Sequence[Hashable]:
        query = SearchQuery(query=text, mode="vector", limit=ASKED, metadata={"team": "rare"})
        answer = await here.engine.search.search(here.tenant_id, query)
        return [(hit.document_id, hit.ordinal) for hit in answer.hits]

    return ask


async def asked(
    sizes: Sizes,
    corpus: Corpus,
    known: dict[Hashable, Vector],
    ask: Ask,
    embed: Callable[[str, str], Awaitable[Vector]],
) -> Figures:
    """Rows of ten and recall against a scan of all that pass the filter."""
    keys = list(known)
    held = matrix(list(known.values()))
    rows, recalls, times = [], [], []
    for question in corpus.questions(sizes.questions):
        vector = await embed("wordllama", question.text)
        # Equal vectors may stand in for each other, so nearness is compared and not names.
        scores = dict(zip(keys, (held @ matrix([vector])[0]).tolist(), strict=True))
        worst = sorted(scores.values(), reverse=True)[: min(ASKED, len(keys))][-1]
        started = perf_counter()
        found = await ask(question.text, vector)
        times.append(perf_counter() - started)
        rows.append(len(found))
        right = sum(scores[key] >= worst - 1e-3 for key in found)
        recalls.append(right / min(ASKED, len(keys)))
    return {
        "recall": statistics.mean(recalls),
        "rows": statistics.mean(rows),
        "p50_ms": statistics.median(times) * 1_000,
    }


def matrix(vectors: Sequence[Vector]) -> npt.NDArray[np.float32]:
    return np.frombuffer(b"".join(vectors), dtype="<f2").astype(np.float32).reshape(len(vectors), -1)


class Filtered:
    name = "filtered"
    title = "Vector search for ten within a 1 % filter (wordllama)"
    columns = (
        Column("recall", "recall@10", 3),
        Column("rows", "rows of 10", 2),
        Column("p50_ms", "p50 ms", 1),
        Column("chunks", "chunks"),
        Column("within", "within the filter"),
    )

    def cases(self, peers: Sequence[str]) -> list[str]:
        return [case for case in ROLES if peers or case.startswith("penstock")]

    async def measure(self, environment: DocumentEnvironment, case: str) -> Figures:
        return await environment.run(ROLES[case], "wordllama")

    def judge(self, medians: Medians) -> list[Verdict]:
        return [
            Verdict(f"Recall@10 within a 1 % filter, {case}", figures["recall"], 0.95)
            for case, figures in medians.items()
            if case.startswith("penstock")
        ]


WORKLOAD = Filtered()
