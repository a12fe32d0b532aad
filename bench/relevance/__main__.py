"""`python -m bench.relevance`: fits relevance on half of the questions and tests it on the others."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bench.relevance.corpus import ROOT, Asked, asked, pages
from bench.relevance.questions import UNANSWERED
from penstock.cli.tenant_session import tenant_session
from penstock.engine.engine import Engine
from penstock.index.vectors import as_text
from penstock.model import TenantId
from penstock.search import SearchHit, SearchQuery
from penstock.settings import Settings

RESULT = ROOT / "bench" / "results" / "relevance.json"
MODELS = ("wordllama", "minilm")
FLOOR = 0.5
TOP = 5
STRONGEST = 40.0
"""Keeps the fit finite where the two kinds hardly overlap: a weight this large is pulled back."""

Row: TypeAlias = dict[str, Any]
Numbers: TypeAlias = npt.NDArray[np.float64]


async def measure(embedder: str) -> list[Row]:
    """For each question the hits a user sees first and the best passages, with what relevance is made of."""
    with tempfile.TemporaryDirectory(prefix="penstock-relevance-") as folder:
        settings = Settings(data_dir=Path(folder), embedder=embedder, log_level="error")
        async with tenant_session(settings, create=True) as session:
            tenant_id = (await session.operators.create_tenant("bench")).tenant_id
            questions: list[tuple[Asked | None, str]] = [(each, each.text) for each in asked()]
            questions += [(None, text) for text in UNANSWERED]
            async with Engine(settings) as engine:
                await _fill(engine, tenant_id)
                return [await _ask(engine, tenant_id, embedder, each, text) for each, text in questions]


async def _fill(engine: Engine, tenant_id: TenantId) -> None:
    worker = engine.worker()
    await worker.start()
    try:
        taken = [
            await engine.intake.take_in(tenant_id, _once(text), filename=name, uploaded_by="bench")
            for name, text in pages()
        ]
        for each in taken:
            document = await engine.documents.wait(tenant_id, each.document_id, 300)
            assert document.status == "indexed", (document.filename, document.error_message)
        async with engine.tenants.all_tenants() as connection:
            await connection.execute("select all_tenants.refresh_statistics()")
    finally:
        await worker.stop()


async def _once(text: str) -> Any:
    yield text.encode()


async def _ask(engine: Engine, tenant_id: TenantId, name: str, asked: Asked | None, text: str) -> Row:
    seen = await engine.search.search(tenant_id, SearchQuery(query=text, limit=TOP))
    # A document shows one passage, and the right one may be another of its passages.
    passages = await engine.search.search(tenant_id, SearchQuery(query=text, limit=TOP, per_document=TOP))
    embedder = await engine.embedders.embedder(name)
    vector = (await embedder.embed([text], "query")).vectors[0]
    async with engine.tenants.transaction(tenant_id) as connection:
        background = await connection.fetchrow(
            "select * from search.background($1, $2)", embedder.model, as_text(vector)
        )
    assert background is not None
    mean, deviation = background["mean"], background["deviation"]

    def measured(hit: SearchHit) -> Row:
        return {
            "similarity": hit.vector_score,
            "coverage": hit.coverage or 0.0,
            "standing": None if hit.vector_score is None else (hit.vector_score - mean) / deviation,
            "right": asked is not None and _is_right(asked, hit),
            "of_the_right_document": asked is not None and hit.filename == asked.filename,
        }

    return {
        "text": text,
        "answered": asked is not None,
        "hits": [measured(hit) for hit in seen.hits],
        "passages": [measured(hit) for hit in passages.hits],
        "model": embedder.model,
    }


def _is_right(asked: Asked, hit: SearchHit) -> bool:
    held = asked.answer is None or asked.answer in " ".join(hit.text.split())
    return hit.filename == asked.filename and held


def fit(rows: Sequence[Row], features: Sequence[str]) -> Numbers:
    """Logistic regression: right passages against the first hits of questions that nothing answers."""
    points, labels = [], []
    for row in rows:
        for hit in row["passages"] if row["answered"] else row["hits"][:1]:
            if (hit["right"] or not row["answered"]) and all(hit[name] is not None for name in features):
                points.append([1.0, *(hit[name] for name in features)])
                labels.append(float(hit["right"]))
    x, y = np.array(points), np.array(labels)
    balance = np.where(y > 0, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (balance * (p - y)) + weights / STRONGEST
        curvature = (x.T * (balance * p * (1 - p))) @ x + np.eye(x.shape[1]) / STRONGEST
        weights -= np.linalg.solve(curvature, gradient)
    return weights


def judged(rows: Sequence[Row], weights: Numbers, features: Sequence[str]) -> dict[str, float]:
    """How many questions are told right: unanswered ones flagged, answered ones not."""

    def best(row: Row) -> float:
        scores = [
            1 / (1 + math.exp(-float(np.dot(weights, [1.0, *(hit[name] for name in features)]))))
            for hit in row["hits"]
            if all(hit[name] is not None for name in features)
        ]
        return max(scores, default=0.0)

    answered = [best(row) for row in rows if row["answered"]]
    found = [best(row) for row in rows if any(hit["of_the_right_document"] for hit in row["hits"])]
    unanswered = [best(row) for row in rows if not row["answered"]]
    return {
        "unanswered_flagged": float(np.mean([score < FLOOR for score in unanswered])),
        "answered_not_flagged": float(np.mean([score >= FLOOR for score in answered])),
        "found_not_flagged": float(np.mean([score >= FLOOR for score in found])),
        "questions": len(answered),
        "found": len(found),
        "unanswered": len(unanswered),
    }


KINDS = {
    "similarity": ("similarity", "coverage"),
    "standing": ("standing", "coverage"),
    "words": ("coverage",),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, help="keep the measured rows here, or read them from here")
    arguments = parser.parse_args()
    if arguments.rows and arguments.rows.exists():
        measured = json.loads(arguments.rows.read_text())
    else:
        measured = {name: asyncio.run(measure(name)) for name in MODELS}
        if arguments.rows:
            arguments.rows.write_text(json.dumps(measured))
    pooled = [row for rows in measured.values() for row in rows]
    groups = {f"similarity {name}": (rows, "similarity") for name, rows in measured.items()}
    groups |= {f"{kind} any": (pooled, kind) for kind in ("standing", "words")}
    result = {}
    for label, (rows, kind) in groups.items():
        features = KINDS[kind]
        weights = fit(rows[::2], features)
        result[label] = {
            "model": rows[0]["model"] if len({row["model"] for row in rows}) == 1 else None,
            "features": ["bias", *features],
            "weights": [round(float(weight), 3) for weight in weights],
            "held_out": judged(rows[1::2], weights, features),
        }
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
