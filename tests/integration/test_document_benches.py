"""The document benchmark at its smallest: it runs, and everything that does not depend on time is correct."""

from __future__ import annotations

import dataclasses
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bench.documents import burst, edit, filtered, ingest, large, log, overhead, uploads
from bench.documents.__main__ import WORKLOADS
from bench.documents.place import Job, Place
from bench.documents.sizes import FULL, TINY
from tests.plugins.database import Database


def place(database: Database, folder: Path) -> Place:
    return Place(database.admin_url, database.runtime_url, database.operator_url, str(folder))


def job(database: Database, folder: Path, **sizes: Any) -> Job:
    return Job(place(database, folder), dataclasses.replace(TINY, **sizes), "wordllama")


async def test_an_unchanged_corpus_is_not_embedded_again_not_even_by_force(
    database: Database, tmp_path: Path
) -> None:
    bare = await ingest.bare(job(database, tmp_path / "bare"))
    ours = await ingest.penstock(job(database, tmp_path))
    assert ours["chunks"] == bare["chunks"] >= TINY.documents
    assert ours["texts"] > 0
    assert (ours["again_skipped"], ours["again_texts"]) == (TINY.documents, 0)
    assert ours["forced_texts"] == 0
    assert ours["again_chunks"] == ours["chunks"]


async def test_one_changed_sentence_of_a_hundred_chunks_embeds_three_at_most(
    database: Database, tmp_path: Path
) -> None:
    found = await edit.penstock(job(database, tmp_path, edited_words=45_000))
    assert found["chunks"] >= 100
    assert 1 <= found["embedded"] <= 3


async def test_the_processor_time_of_a_document_is_split_by_process(
    database: Database, tmp_path: Path
) -> None:
    bare = await overhead.bare(job(database, tmp_path / "bare"))
    ours = await overhead.penstock(job(database, tmp_path))
    for figures in (bare, ours):
        assert figures["own_ms"] > 0
        assert figures["children_ms"] > 0
    assert ours["total_ms"] == pytest.approx(ours["own_ms"] + ours["children_ms"] + ours["server_ms"])


async def test_a_large_file_is_watched_until_it_is_indexed(database: Database, tmp_path: Path) -> None:
    found = await large.measured(place(database, tmp_path), TINY, "wordllama")
    assert found["pages"] >= TINY.pages
    assert found["chunks"] >= 1
    assert found["tree_mib"] > found["own_mib"] > 0
    assert found["lost"] == 0


async def test_a_log_is_watched_until_it_is_indexed(database: Database, tmp_path: Path) -> None:
    found = await log.measured(place(database, tmp_path), TINY, "wordllama")
    assert found["megabytes"] >= TINY.log_mb
    assert found["chunks"] >= 1_000
    assert 0 < found["chunked_seconds"] < found["seconds"]
    assert found["lost"] == 0


async def test_every_document_of_a_burst_is_indexed(database: Database, tmp_path: Path) -> None:
    found = await burst.measured(place(database, tmp_path), TINY, "wordllama")
    assert found["indexed"] == TINY.notes
    assert found["posted_seconds"] <= found["seconds"]


@pytest.mark.parametrize("paused", [True, False])
async def test_every_upload_of_the_open_loop_is_answered(
    database: Database, tmp_path: Path, paused: bool
) -> None:
    found = await uploads.measured(place(database, tmp_path), TINY, "wordllama", paused=paused)
    assert found["uploads"] == TINY.upload_rate * TINY.upload_seconds
    assert found["p50_ms"] <= found["p95_ms"] <= found["max_ms"]
    if paused:
        assert found["indexed"] == 1, "only the one that warmed the worker"


@pytest.mark.parametrize("role", [filtered.exact, filtered.hnsw])
async def test_a_filter_returns_every_row_that_matches(database: Database, tmp_path: Path, role: Any) -> None:
    found = await role(job(database, tmp_path))
    assert found["within"] >= filtered.ASKED / 2
    assert found["rows"] == min(filtered.ASKED, found["within"])
    assert found["recall"] >= 0.95


@pytest.mark.skipif(find_spec("llama_index") is None, reason="the peer comes with the extra `bench`")
async def test_the_peer_runs_beside(database: Database, tmp_path: Path) -> None:
    from bench.documents import peer

    plain = await peer.ingest_plain(job(database, tmp_path))
    assert plain["again_texts"] == plain["texts"] > 0
    found = await peer.edit_with_docstore(job(database, tmp_path))
    assert found["embedded"] > 3


def test_every_figure_that_is_asked_for_is_judged() -> None:
    required = {
        "ingest": [1.05, 0, 20, 0],
        "overhead": [],
        "edit": [100, 3],
        "large": [400, 1_229, 10, 0],
        "burst": [5],
        "uploads": [30, 30, 30],
        "filtered": [0.95, 0.95],
        "log": [400, 1_229, 10, 0],
    }
    for name, workload in WORKLOADS.items():
        keys = {column.key for column in workload.columns}
        medians = {case: dict.fromkeys(keys, 1.0) for case in workload.cases(())}
        assert [verdict.required for verdict in workload.judge(medians)] == required[name], name
    assert FULL.documents == 200
    assert (FULL.upload_rate, FULL.upload_bytes, FULL.notes) == (50, 100_000, 100)
