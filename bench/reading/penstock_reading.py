"""Reads a file as the worker does, without its sandbox: parse, then chunk."""

from __future__ import annotations

from pathlib import Path

from bench.reading.truth import Reading
from penstock.model import Parsed, sniffing
from penstock.pipeline.chunk.chunker import chunk
from penstock.pipeline.chunk.plan import ChunkPlan
from penstock.pipeline.parse.in_child import kind_of
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.by_kind import reader_of


def read(path: Path) -> Reading:
    parsed = parse(path)
    paths: dict[tuple[str, ...], None] = {}
    for piece in chunk(parsed, ChunkPlan()):
        if piece.heading_path:
            paths[piece.heading_path] = None
        paths.update((heading.path, None) for heading in piece.headings)
    return Reading(parsed.text, tuple(paths))


def parse(path: Path) -> Parsed:
    with path.open("rb") as file:
        head = file.read(sniffing.HEAD_BYTES)
    kind, _ = kind_of(path, sniffing.sniff(head, filename=path.name), path.name)
    reader = reader_of(kind)
    return reader.read(ParserInput(path, kind, path.name))
