"""The function that chunks in the sandbox: reads a parsed document, writes chunks in batches."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.embed.tokens import counter
from penstock.model import Chunk
from penstock.pipeline.chunk.chunk_file import write_batch
from penstock.pipeline.chunk.chunker import chunks_of
from penstock.pipeline.chunk.plan import ChunkPlan
from penstock.pipeline.parsed_files import blocks_of
from penstock.pipeline.text import TextFile
from penstock.sandbox import GivenFile

BATCH = 500
_BATCH_CHARACTERS = 1_000_000


def chunk_document(
    text: GivenFile, blocks: GivenFile, chunks: GivenFile, characters: int, plan: ChunkPlan
) -> int:
    """Cut the document and write its chunks to a file; returns their number."""
    made = 0
    found = chunks_of(TextFile(text.descriptor, characters), blocks_of(blocks.descriptor), plan)
    for batch in _batches(found):
        write_batch(chunks.descriptor, batch)
        made += len(batch)
    return made


def load_tokenizer(plan: ChunkPlan) -> None:
    """Load the plan's tokeniser, which takes longer than chunking a page."""
    counter(plan.tokenizer)


def _batches(chunks: Iterator[Chunk]) -> Iterator[list[Chunk]]:
    held: list[Chunk] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk.text)
        if len(held) == BATCH or size > _BATCH_CHARACTERS:
            yield held
            held, size = [], 0
    if held:
        yield held
