"""`python -m bench fusion`: hybrid search beside its halves and reciprocal-rank fusion, nDCG@10."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from bench import machine, report
from bench.fusion.generated.codes import codes
from bench.fusion.generated.german import german
from bench.fusion.generated.misspelt import misspelt
from bench.fusion.generated.spanish import spanish
from bench.fusion.judged import outcome_of, write
from bench.fusion.question_sets import COLLECTIONS, QuestionSet, absent, collections, own
from bench.job import Figures
from penstock.cli.tenant_session import tenant_session
from penstock.engine.engine import Engine
from penstock.model import TenantId
from penstock.search import SearchQuery
from penstock.settings import Settings

FOLDER = "PENSTOCK_BENCH_COLLECTIONS"
SOURCE = "http://ir.dcs.gla.ac.uk/resources/test_collections"
PACKAGES = ("penstock", "wordllama")
PEER = "bm25s"
EMBEDDERS = ("minilm", "wordllama")
SETS: Mapping[str, Callable[[], QuestionSet]] = {
    "own": own,
    "codes": codes,
    "misspelt": misspelt,
    "german": german,
    "spanish": spanish,
}
DEPTH = 100
WEIGHTS = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
SERVED = 50
"""Hits asked for: more than ten, since those with the score of the tenth count as well."""
RARE = math.log(20)
"""The weight of a word (idf) that one of twenty chunks contains; rarer words have more."""
TERMS = "select idf from search.query_terms($1)"

Scores: TypeAlias = Mapping[str, float]
"""A document's best score in one list."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """Both lists and the hits of a question, the documents that answer it, and its share of rare words."""

    words: Scores
    near: Scores
    served: Scores
    right: frozenset[str]
    rare: float
    weight: float
    """Of nearness, where it does not depend on the question."""


async def measure(questions: QuestionSet, embedder: str) -> dict[str, float]:
    """nDCG@10 of each way to rank, and of the search as it is served."""
    with tempfile.TemporaryDirectory(prefix="penstock-fusion-") as folder:
        settings = Settings(data_dir=Path(folder), embedder=embedder, log_level="error")
        async with tenant_session(settings, create=True) as session:
            tenant_id = (await session.operators.create_tenant("bench")).tenant_id
            async with Engine(settings) as engine:
                await _fill(engine, tenant_id, questions)
                asked = [await _ask(engine, tenant_id, each) for each in questions.questions]
    ways: dict[str, Callable[[AskedQuestion], Scores]] = {
        "words": lambda each: each.words,
        "vectors": lambda each: each.near,
        "reciprocal rank": lambda each: reciprocal_ranks(each.words, each.near),
    }
    ways |= {f"scores {weight:.2f}": weighted(_always(weight)) for weight in WEIGHTS}
    ways |= {
        "scores by rare words": weighted(by_rare_words),
        "scores by best match": weighted(by_best_match),
    }
    figures = {name: _mean([ndcg(way(each), each.right) for each in asked]) for name, way in ways.items()}
    figures["hybrid"] = _mean([ndcg(each.served, each.right) for each in asked])
    return figures


def by_bm25s(questions: QuestionSet) -> float | None:
    """nDCG@10 of the library bm25s over whole documents with a stemmer; None if it is not installed."""
    try:
        import bm25s
        import Stemmer
    except ImportError:
        return None
    names, stem = list(questions.documents), Stemmer.Stemmer(questions.language)

    def tokens(texts: Sequence[str]) -> object:
        return bm25s.tokenize(list(texts), stopwords=questions.language, stemmer=stem, show_progress=False)

    retriever = bm25s.BM25()
    retriever.index(tokens(list(questions.documents.values())), show_progress=False)
    texts = [text for text, _ in questions.questions]
    places, scores = retriever.retrieve(tokens(texts), k=min(SERVED, len(names)), show_progress=False)
    found = [
        {names[place]: float(score) for place, score in zip(row, row_scores, strict=True)}
        for row, row_scores in zip(places, scores, strict=True)
    ]
    return _mean([ndcg(each, right) for each, (_, right) in zip(found, questions.questions, strict=True)])


async def _fill(engine: Engine, tenant_id: TenantId, questions: QuestionSet) -> None:
    worker = engine.worker()
    await worker.start()
    try:
        taken = [
            await engine.intake.take_in(tenant_id, _once(text), filename=name, uploaded_by="bench")
            for name, text in questions.documents.items()
        ]
        for each in taken:
            document = await engine.documents.wait(tenant_id, each.document_id, 900)
            assert document.status == "indexed", (document.filename, document.error_message)
        async with engine.tenants.all_tenants() as connection:
            await connection.execute("select all_tenants.refresh_statistics()")
    finally:
        await worker.stop()


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def _ask(engine: Engine, tenant_id: TenantId, question: tuple[str, frozenset[str]]) -> AskedQuestion:
    text, right = question
    lists: list[Scores] = []
    for mode in ("text", "vector"):
        query = SearchQuery.model_validate(
            {"query": text, "mode": mode, "limit": DEPTH, "per_document": DEPTH}
        )
        best: dict[str, float] = {}
        for hit in (await engine.search.search(tenant_id, query)).hits:
            score = hit.text_score if mode == "text" else hit.vector_score
            name = hit.filename or ""
            best[name] = max(best.get(name, -math.inf), score if score is not None else -math.inf)
        lists.append(best)
    answer = await engine.search.search(tenant_id, SearchQuery(query=text, limit=SERVED))
    async with engine.tenants.transaction(tenant_id) as connection:
        idfs = [row["idf"] for row in await connection.fetch(TERMS, text)]
    # The fixed weight that the two ways by query start from.
    weight = 0.4 if (answer.model or "").startswith("wordllama") else 0.5
    served: dict[str, float] = {}
    for hit in answer.hits:
        served.setdefault(hit.filename or "", hit.score)
    rare = sum(idf > RARE for idf in idfs) / max(1, len(idfs))
    return AskedQuestion(lists[0], lists[1], served, right, rare, weight)


def reciprocal_ranks(words: Scores, near: Scores) -> Scores:
    fused: dict[str, float] = {}
    for scores in (words, near):
        for rank, name in enumerate(_ranked(scores), 1):
            fused[name] = fused.get(name, 0.0) + 1 / (60 + rank)
    return fused


def _always(weight: float) -> Callable[[AskedQuestion], float]:
    return lambda asked: weight


def by_rare_words(asked: AskedQuestion) -> float:
    """A tenth more than is served for a question without rare words, a tenth less if all words are rare."""
    return asked.weight + 0.1 - 0.2 * asked.rare


def by_best_match(asked: AskedQuestion) -> float:
    """A tenth less than is served if one document matches far better by words than all others."""
    best = max(asked.words.values(), default=0.0)
    alike = sum(2 * score >= best for score in asked.words.values())
    return asked.weight + 0.1 - 0.2 / max(1, alike)


def weighted(weight_of: Callable[[AskedQuestion], float]) -> Callable[[AskedQuestion], Scores]:
    """Nearness between the farthest and the nearest found, words relative to the best match."""

    def fuse(asked: AskedQuestion) -> Scores:
        words, near, weight = asked.words, asked.near, weight_of(asked)
        most = max(words.values(), default=1.0)
        low, high = min(near.values(), default=0.0), max(near.values(), default=1.0)
        return {
            name: (1 - weight) * words.get(name, 0.0) / most
            + weight * ((near.get(name, low) - low) / (high - low) if high > low else float(name in near))
            for name in {*words, *near}
        }

    return fuse


def _ranked(scores: Scores) -> list[str]:
    return sorted(scores, key=lambda name: (-scores[name], name))


def ndcg(scores: Scores, right: frozenset[str]) -> float:
    """Of the first ten, as the mean over all orders of documents with the same score."""
    gained, place = 0.0, 0
    by_score = itertools.groupby(
        sorted(((round(score, 9), name) for name, score in scores.items()), reverse=True),
        lambda each: each[0],
    )
    for _, alike in by_score:
        names = [name for _, name in alike]
        shown = sum(1 / math.log2(at + 2) for at in range(place, min(10, place + len(names))))
        gained += shown * sum(name in right for name in names) / len(names)
        place += len(names)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(10, len(right))))


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench fusion", description=__doc__)
    folder = os.environ.get(FOLDER)
    parser.add_argument(
        "--collections",
        type=Path,
        default=Path(folder) if folder else None,
        help=f"a folder with the files of Cranfield and CISI; otherwise what {FOLDER} says",
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), help="only these sets")
    parser.add_argument("--embedders", nargs="+", choices=EMBEDDERS, default=EMBEDDERS, help="only these")
    parser.add_argument("--name", help="name of the result files, instead of fusion or fusion-part")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    started = datetime.now(UTC)
    facts: dict[str, object] = {
        "date": started.isoformat(timespec="seconds"),
        "command": " ".join(["python -m bench fusion", *words]),
        "machine": machine.describe(None),
        "versions": machine.versions((*PACKAGES, PEER) if find_spec(PEER) else PACKAGES, None),
    }
    missing = absent(options.collections)
    left_out = [not_measured(missing)] if missing else []
    if not find_spec(PEER):
        left_out.append(f"the library {PEER} (not installed; `make bench` installs it)")
    sets = [SETS[name]() for name in options.sets]
    sets += collections(options.collections) if options.collections else ()
    figures: dict[str, Figures] = {}
    for questions in sets:
        peer = by_bm25s(questions)
        for embedder in options.embedders:
            found = asyncio.run(measure(questions, embedder))
            if peer is not None:
                found[PEER] = peer
            case = f"{questions.name}, {embedder}"
            figures[case] = {"questions": len(questions.questions), **found}
            sys.stdout.write(f"{case}: {json.dumps(found)}\n")
    outcome = outcome_of(figures)
    facts["seconds"] = round((datetime.now(UTC) - started).total_seconds())
    if left_out:
        facts["not measured"] = "; ".join(left_out)
    is_whole = not left_out and len(figures) == len(EMBEDDERS) * (len(SETS) + len(COLLECTIONS))
    path = write(options.name or ("fusion" if is_whole else "fusion-part"), facts, outcome)
    report.show(path.read_text())
    sys.stdout.writelines(f"NOT MEASURED: {each}\n" for each in left_out)
    return 0 if all(verdict.passed for verdict in outcome.verdicts) else 1


def not_measured(missing: Sequence[str]) -> str:
    """The collections that are not there, and what to do about it."""
    files = ", ".join(COLLECTIONS[name] for name in missing)
    return (
        f"{' and '.join(missing)} (no {files}: download the collections from {SOURCE}, unpack them into one "
        f"folder, and pass it as --collections FOLDER or {FOLDER}=FOLDER)"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
