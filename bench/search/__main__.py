"""`python -m bench search`: search over one tenant with many chunks, exact and by its index, judged."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import machine, report
from bench.job import Figures
from bench.run import Run
from bench.search.library import library
from bench.search.measures import FILTERS, misspelt, ranked, timed, with_identifiers
from bench.server import running_server
from bench.workloads import Column, Medians, Verdict
from penstock.search.query import Mode

PACKAGES = ("penstock", "asyncpg", "wordllama", "numpy")
MODES: tuple[Mode, ...] = ("hybrid", "vector", "text")


class Times:
    name = "times"
    title = "Hybrid search: milliseconds, and recall of its vector part"
    columns = (
        Column("p95", "p95 ms", 1),
        Column("p50", "p50 ms", 1),
        Column("recall", "recall@10", 3),
        Column("rows", "rows of 10", 1),
        Column("documents", "documents of 10", 1),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        return [
            verdict
            for name in ("no filter", "1 % filter")
            for verdict in (
                Verdict(
                    f"p95 of a hybrid search in ms, HNSW, {name}", medians[f"HNSW, {name}"]["p95"], 40, False
                ),
                Verdict(f"recall@10 against exact, HNSW, {name}", medians[f"HNSW, {name}"]["recall"], 0.98),
            )
        ]


class Ranking:
    name = "ranking"
    title = "Questions in other words: nDCG of the first ten"
    columns = (Column("ndcg", "nDCG@10", 3),)

    def judge(self, medians: Medians) -> list[Verdict]:
        return [
            Verdict(f"nDCG@10 hybrid / {part} alone", medians["hybrid"]["ndcg"] / medians[part]["ndcg"], 1.0)
            for part in ("vector", "text")
        ]


class Making:
    name = "making"
    title = "What it took to make the index"
    columns = (
        Column("stage_rate", "chunks/s staged"),
        Column("count_seconds", "s to count words", 1),
        Column("postings_mib", "MiB of postings"),
        Column("build_seconds", "s to build HNSW", 1),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        return []


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench search", description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000, help="%(default)s")
    parser.add_argument("--questions", type=int, default=300, help="%(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", default="search", help="name of the result files")
    return parser.parse_args(words)


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    record = Run("search", words, options)
    times: dict[str, list[Figures]] = {}
    async with running_server(options.data) as server, library(server, options.chunks) as filled:
        postgres = await filled.admin.fetchval("show server_version")
        made = await filled.fill()
        questions = filled.corpus.questions(options.questions)
        times["exact, no filter"] = [await timed(filled, questions[:50], "no filter")]
        building = time.perf_counter()
        await filled.index.maintain()
        made["build_seconds"] = time.perf_counter() - building
        for name in FILTERS:
            times[f"HNSW, {name}"] = [await timed(filled, questions, name)]
        ranking: dict[str, list[Figures]] = {mode: [await ranked(filled, questions, mode)] for mode in MODES}
        others = {
            "one misspelt word": misspelt(filled, questions),
            "identifier": with_identifiers(questions),
        }
        for name, asked in others.items():
            times[f"HNSW, {name}"] = [await timed(filled, asked, "no filter")]
            ranking[f"hybrid, {name}"] = [await ranked(filled, asked, "hybrid")]
    outcomes = [
        report.Outcome(Times(), times),
        report.Outcome(Ranking(), ranking),
        report.Outcome(Making(), {"penstock": [made]}),
    ]
    sizes = {"chunks": options.chunks, "questions": options.questions}
    return record.end(server, machine.versions(PACKAGES, postgres), sizes, outcomes)


def main(words: Sequence[str]) -> int:
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
