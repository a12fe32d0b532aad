"""A short text is chunked in the process that parsed it, a long one in its own, and both alike."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from penstock.errors import EmbedderRefused
from penstock.model import media
from penstock.pipeline.chunk import ChunkPlan
from penstock.pipeline.chunk.chunk_file import read_batches
from penstock.pipeline.parsed_files import ParsedFiles
from penstock.pipeline.parser_pool import ParserPool
from penstock.pipeline.read_and_chunk import SHORT

Shared: TypeAlias = tuple[ParserPool, asyncio.AbstractEventLoop]

PLAN = ChunkPlan(max_tokens=200, overlap=20)
SENTENCE = "The mill takes the water that the gate lets in. "


def run(shared: Shared, call: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run_coroutine_threadsafe(call, shared[1]).result(60)


def parsed(shared: Shared, folder: Path, text: str, plan: ChunkPlan | None) -> ParsedFiles:
    folder.mkdir()
    path = folder / "document"
    path.write_text(text, "utf-8")
    call = shared[0].parse_to(folder, path, mime_type=media.MARKDOWN, filename="a.md", plan=plan)
    files = run(shared, call)
    assert isinstance(files, ParsedFiles)
    return files


def test_a_short_text_is_chunked_when_it_is_parsed_as_it_would_be_alone(
    parser_pool: Shared, tmp_path: Path
) -> None:
    text = "".join(f"# Part {part}\n\n{SENTENCE * 20}\n\n" for part in range(20))
    at_once = parsed(parser_pool, tmp_path / "at once", text, PLAN)
    alone = parsed(parser_pool, tmp_path / "alone", text, None)
    assert alone.chunk_count is None
    assert at_once.chunk_count == run(parser_pool, parser_pool[0].chunk(alone, PLAN)) > 20
    assert list(read_batches(at_once.chunks)) == list(read_batches(alone.chunks))


def test_a_long_text_is_left_for_a_process_of_its_own(parser_pool: Shared, tmp_path: Path) -> None:
    files = parsed(parser_pool, tmp_path / "long", SENTENCE * (SHORT // len(SENTENCE) + 1), PLAN)
    assert files.chunk_count is None
    made = [chunk for batch in read_batches(files.chunks) for chunk in batch]
    assert made == []
    assert run(parser_pool, parser_pool[0].chunk(files, PLAN)) > 100


def test_an_error_of_chunking_is_left_for_the_call_that_names_it(parser_pool: Shared, tmp_path: Path) -> None:
    plan = ChunkPlan(tokenizer="minilm@/nowhere")
    files = parsed(parser_pool, tmp_path / "unreadable", SENTENCE, plan)
    assert files.chunk_count is None
    with pytest.raises(EmbedderRefused, match="not installed in /nowhere"):
        run(parser_pool, parser_pool[0].chunk(files, plan))
