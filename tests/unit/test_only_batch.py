"""Chunks are published at once only if the file holds what the sandbox said of it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.model import Chunk
from penstock.pipeline.chunk.chunk_file import write_batch
from penstock.pipeline.parsed_files import ParsedFiles
from penstock.pipeline.steps import Steps

CHUNKS = [Chunk(at, f"text {at}", 2, 0, 6) for at in range(3)]


def steps(*, is_in_database: bool = True) -> Steps:
    unused: Any = None
    embedder: Any = SimpleNamespace(is_in_database=is_in_database)
    return Steps(blobs=unused, parser=unused, embeds=unused, chunk_embedder=embedder, take_attachment=unused)


def files(folder: Path, *batches: list[Chunk]) -> ParsedFiles:
    made = ParsedFiles(folder)
    descriptor = os.open(made.chunks, os.O_WRONLY | os.O_CREAT)
    for batch in batches:
        write_batch(descriptor, batch)
    os.close(descriptor)
    return made


@pytest.mark.parametrize("limit", [0, 1 << 20])
async def test_all_chunks_of_one_batch_are_given(
    tmp_path: Path, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.pipeline.steps.ON_THE_LOOP", limit)
    assert await steps().only_batch(files(tmp_path, CHUNKS), 3) == CHUNKS


@pytest.mark.parametrize("said", [1, 3, 500])
@pytest.mark.parametrize("limit", [-1, 1 << 20])
async def test_an_empty_file_is_no_batch_whatever_was_said(
    tmp_path: Path, said: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.pipeline.steps.ON_THE_LOOP", limit)
    assert await steps().only_batch(files(tmp_path), said) is None


async def test_another_number_than_was_said_several_batches_or_vectors_elsewhere_are_no_batch(
    tmp_path: Path,
) -> None:
    assert await steps().only_batch(files(tmp_path, CHUNKS), 2) is None
    assert await steps().only_batch(files(tmp_path, CHUNKS, CHUNKS), 6) is None
    assert await steps().only_batch(files(tmp_path, CHUNKS), 501) is None
    assert await steps(is_in_database=False).only_batch(files(tmp_path, CHUNKS), 3) is None
