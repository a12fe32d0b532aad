"""Reads a file as the worker does, without its sandbox: parse, then chunk."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from bench.reading.truth import Reading
from penstock.model import Parsed, media, sniffing
from penstock.pipeline.chunk.chunker import chunk
from penstock.pipeline.chunk.plan import ChunkPlan
from penstock.pipeline.parse.in_child import kind_of
from penstock.pipeline.parse.protocol import ParserInput, StreamingReader
from penstock.pipeline.parse.readers.by_kind import reader_of
from penstock.pipeline.parsed_files import ParsedFiles, ParsedWriter

MOST_OUTPUT = 1 << 30
_ARCHIVES = frozenset({media.ZIP, media.TAR}) | media.PACKED


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
    source = ParserInput(path, kind, path.name)
    if kind in _ARCHIVES and isinstance(reader, StreamingReader):
        return _from_files(reader, source)
    return reader.read(source)


def _from_files(reader: StreamingReader, source: ParserInput) -> Parsed:
    """What a reader of archives, which only writes files, has written."""
    with tempfile.TemporaryDirectory(prefix="penstock-reading-") as folder:
        files = ParsedFiles(Path(folder))
        paths = (files.text, files.blocks, files.attachments)
        with contextlib.ExitStack() as stack:
            opened = [stack.enter_context(path.open("w+b", buffering=0)) for path in paths]
            text, blocks, attachments = (each.fileno() for each in opened)
            head = reader.read_into(source, ParsedWriter(text, blocks, attachments, MOST_OUTPUT))
        return ParsedFiles(files.folder, head).whole()
