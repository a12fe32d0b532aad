"""The function that parses in the sandbox and, where the text is short, chunks it in the same process."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from penstock.pipeline.chunk.in_child import chunk_document, load_tokenizer
from penstock.pipeline.chunk.plan import ChunkPlan
from penstock.pipeline.parse.in_child import load_reader, read_document
from penstock.pipeline.parsed_files import ParsedHead
from penstock.sandbox import GivenFile

SHORT = 200_000
"""Characters that are chunked at once. More take a process, a time limit and memory of their own."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the file claims to be, and how to chunk it; without a plan it is only parsed."""

    mime_type: str
    plan: ChunkPlan | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """What was read, and into how many chunks it was cut, if it was."""

    head: ParsedHead
    chunks: int | None = None


def load(wanted: Wanted) -> None:
    """Import the type's reader and the plan's tokeniser in the process that calls are forked from."""
    load_reader(wanted.mime_type)
    if wanted.plan is not None:
        load_tokenizer(wanted.plan)


def read_and_chunk(
    document: GivenFile,
    text: GivenFile,
    blocks: GivenFile,
    attachments: GivenFile,
    chunks: GivenFile,
    filename: str | None,
    ocr_language: str,
    output_bytes: int,
    wanted: Wanted,
) -> Read:
    """Parse the file into its output files; raises DocumentRejected with one of the fixed reasons."""
    head = read_document(
        document, text, blocks, attachments, filename, ocr_language, output_bytes, wanted.mime_type
    )
    if wanted.plan is None or head.characters > SHORT:
        return Read(head)
    with contextlib.suppress(Exception):  # a call of its own will raise it, as an error of chunking
        return Read(head, chunk_document(text, blocks, chunks, head.characters, wanted.plan))
    return Read(head)
