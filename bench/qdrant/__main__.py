"""`python -m bench qdrant`: search over one tenant's chunks by pgvector and by Qdrant's engine behind HTTP.

Not a Qdrant server: its engine (qdrant-edge) in a process of its own behind our HTTP shim in Python, one
shard, on this machine. Recall is the engine's; times include the shim.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import logging
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import machine, report
from bench.corpus import Question
from bench.job import Figures
from bench.qdrant.points import copy_points
from bench.qdrant.server import simulated_server
from bench.run import Run
from bench.search.library import CorpusEmbedder, Library, library
from bench.search.measures import FILTERS, WARM_UP, ask, recall
from bench.server import running_server
from bench.workloads import Column, Medians, Verdict
from penstock.index.qdrant import QdrantIndex
from penstock.search import Search
from penstock.search.query import Mode

PACKAGES = ("penstock", "asyncpg", "wordllama", "numpy", "qdrant-client", "qdrant-edge-py")
WHAT = "Qdrant's engine in one process behind our HTTP shim in Python, not a Qdrant server"
NAMES = ("no filter", "1 % filter")
MODES: tuple[Mode, ...] = ("vector", "hybrid")
RECALL = 0.95
OPTIMISED_SECONDS = 600.0
"""A server builds graphs in the background, the engine here while a write waits for it."""


class Times:
    name = "times"
    title = "Milliseconds of a search by vector and of a hybrid one, and recall of the vector part"
    columns = (
        Column("vector_p95", "vector p95 ms", 1),
        Column("vector_p50", "vector p50 ms", 1),
        Column("hybrid_p95", "hybrid p95 ms", 1),
        Column("hybrid_p50", "hybrid p50 ms", 1),
        Column("recall", "recall@10", 3),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        cases = [f"{index}, {name}" for index in ("pgvector", "Qdrant's engine") for name in NAMES]
        return [Verdict(f"recall@10, {case}", medians[case]["recall"], RECALL) for case in cases]


class Making:
    name = "making"
    title = "What it took to write the vectors and to build the graphs"
    columns = (Column("rate", "chunks/s"), Column("build_seconds", "s to build", 1))

    def judge(self, medians: Medians) -> list[Verdict]:
        return []


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench qdrant", description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000, help="%(default)s")
    parser.add_argument("--chunk-words", type=int, default=60, help="%(default)s")
    parser.add_argument("--questions", type=int, default=100, help="%(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", default="qdrant", help="name of the result files")
    return parser.parse_args(words)


async def timed(filled: Library, questions: Sequence[Question], name: str) -> Figures:
    """Searches one after another, as a caller sees them, embedding the query included."""
    figures: Figures = {}
    for mode in MODES:
        for question in questions[:WARM_UP]:
            await ask(filled, question, mode, FILTERS[name])
        took: list[float] = []
        found: list[float] = []
        for question in questions:
            started = time.perf_counter()
            hits = await ask(filled, question, mode, FILTERS[name])
            took.append((time.perf_counter() - started) * 1_000)
            if mode == "vector":
                found.append(recall(filled, question, hits, name))
        cuts = statistics.quantiles(took, n=100)
        figures |= {f"{mode}_p50": cuts[49], f"{mode}_p95": cuts[94]}
        if found:
            figures["recall"] = statistics.fmean(found)
    return figures


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    record = Run("qdrant", words, options)
    times: dict[str, list[Figures]] = {}
    async with (
        running_server(options.data) as server,
        simulated_server() as url,
        library(server, options.chunks, options.chunk_words) as filled,
    ):
        postgres = await filled.admin.fetchval("show server_version")
        questions = filled.corpus.questions(options.questions)
        made = {"pgvector, with rows and postings": await filled.fill()}
        building = time.perf_counter()
        await filled.index.maintain()
        inside = made["pgvector, with rows and postings"]
        inside |= {"rate": inside["stage_rate"], "build_seconds": time.perf_counter() - building}
        for name in NAMES:
            times[f"pgvector, {name}"] = [await timed(filled, questions, name)]
        index = QdrantIndex.open(url, None, filled.tenants, seconds=OPTIMISED_SECONDS)
        try:
            made["Qdrant's engine, points only"] = await copy_points(filled, index, url)
            search = Search(filled.tenants, CorpusEmbedder(filled.corpus), index)
            outside = dataclasses.replace(filled, index=index, search=search)
            for name in NAMES:
                times[f"Qdrant's engine, {name}"] = [await timed(outside, questions, name)]
        finally:
            await index.close()
    outcomes = [
        report.Outcome(Times(), times),
        report.Outcome(Making(), {name: [figures] for name, figures in made.items()}),
    ]
    sizes = {"chunks": options.chunks, "words a chunk": options.chunk_words, "questions": options.questions}
    return record.end(server, machine.versions(PACKAGES, postgres), sizes, outcomes, **{"what this is": WHAT})


def main(words: Sequence[str]) -> int:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each of thousands of requests
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
