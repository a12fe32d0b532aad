"""A parsed document in three files, passed between processes without being held in memory."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args

from penstock.model import Attachment, Block, Parsed
from penstock.model.document import BlockKind
from penstock.pipeline.text import TextFile
from penstock.sandbox import OutputTooLarge

BEGINNING = 1_000_000
"""Characters of a document that a classifier gets."""

_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)
_BLOCK = struct.Struct("<BBiQQ")
_BLOCKS_AT_ONCE = 4_096
_NO_PAGE = -1


@dataclass(frozen=True, slots=True)
class AttachmentHead:
    """An attachment without its content."""

    filename: str
    mime_type: str | None
    size: int
    path: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedHead:
    """A parsed document's metadata, without text, blocks and attachments."""

    parser: str
    characters: int
    page_count: int | None = None
    title: str | None = None
    author: str | None = None
    created_at: datetime | None = None
    modified_at: datetime | None = None
    language: str | None = None
    metadata: dict[str, str] | None = None
    warnings: tuple[str, ...] = ()
    attachments: tuple[AttachmentHead, ...] = ()


class ParsedWriter:
    """Writes the three files; raises OutputTooLarge if text and attachments exceed the limit."""

    def __init__(self, text: int, blocks: int, attachments: int, limit: int) -> None:
        self._text, self._blocks, self._attachments = text, blocks, attachments
        self._left = limit
        self._held: list[bytes] = []
        self._heads: list[AttachmentHead] = []
        self.characters = 0

    def add_text(self, piece: str) -> None:
        self._write(self._text, piece.encode("utf-8", "replace"))
        self.characters += len(piece)

    def add_block(self, block: Block) -> None:
        page = _NO_PAGE if block.page is None else block.page
        kind, level = _KINDS.index(block.kind), min(255, max(0, block.level))
        self._held.append(_BLOCK.pack(kind, level, page, block.start, block.end))
        if len(self._held) >= _BLOCKS_AT_ONCE:
            self._put_blocks()

    def add_attachment(self, attachment: Attachment) -> None:
        self._write(self._attachments, attachment.content)
        size = len(attachment.content)
        self._heads.append(AttachmentHead(attachment.filename, attachment.mime_type, size, attachment.path))

    def add(self, parsed: Parsed) -> ParsedHead:
        """Write a whole document at once."""
        for start in range(0, len(parsed.text), 1 << 20):
            self.add_text(parsed.text[start : start + (1 << 20)])
        for block in parsed.blocks:
            self.add_block(block)
        for attachment in parsed.attachments:
            self.add_attachment(attachment)
        return self.head(parsed)

    def head(self, about: Parsed) -> ParsedHead:
        """The metadata to send along with the files; `about` may have empty text and blocks."""
        self._put_blocks()
        return ParsedHead(
            parser=about.parser,
            characters=self.characters,
            page_count=about.page_count,
            title=about.title,
            author=about.author,
            created_at=about.created_at,
            modified_at=about.modified_at,
            language=about.language,
            metadata=dict(about.metadata),
            warnings=about.warnings,
            attachments=tuple(self._heads),
        )

    def written(self) -> TextFile:
        """The text so far, for reading back."""
        return TextFile(self._text, self.characters)

    def _put_blocks(self) -> None:
        _write_all(self._blocks, b"".join(self._held))
        self._held.clear()

    def _write(self, descriptor: int, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            raise OutputTooLarge
        _write_all(descriptor, data)


@dataclass(frozen=True, slots=True)
class ParsedFiles:
    """The paths of the three files, and the metadata."""

    folder: Path
    head: ParsedHead | None = None
    chunk_count: int | None = None
    """How many chunks are in `chunks`, if it was chunked when it was parsed."""

    @property
    def text(self) -> Path:
        return self.folder / "text"

    @property
    def blocks(self) -> Path:
        return self.folder / "blocks"

    @property
    def attachments(self) -> Path:
        return self.folder / "attachments"

    @property
    def chunks(self) -> Path:
        """The file for its chunks."""
        return self.folder / "chunks"

    def keep(self, parsed: Parsed, limit: int) -> ParsedFiles:
        """Write the files of a document that was parsed in this process."""
        paths = (self.text, self.blocks, self.attachments)
        opened = [os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600) for path in paths]
        try:
            return ParsedFiles(self.folder, ParsedWriter(opened[0], opened[1], opened[2], limit).add(parsed))
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def beginning(self) -> Parsed:
        """The document with the first million characters of its text, and without attachments."""
        return self._parsed(BEGINNING, ())

    def whole(self) -> Parsed:
        """The whole document in memory."""
        assert self.head is not None
        return self._parsed(self.head.characters, tuple(self.each_attachment()))

    def each_attachment(self) -> Iterator[Attachment]:
        """One at a time, so that only one is in memory."""
        assert self.head is not None
        if not self.head.attachments:
            return
        with self.attachments.open("rb") as file:
            for one in self.head.attachments:
                yield Attachment(one.filename, file.read(max(0, one.size)), one.mime_type, one.path)

    def _parsed(self, characters: int, attachments: tuple[Attachment, ...]) -> Parsed:
        head = self.head
        assert head is not None
        with self.text.open("rb") as text, self.blocks.open("rb") as blocks:
            held = TextFile(text.fileno(), head.characters).slice(0, characters)
            near = _first(blocks_of(blocks.fileno()), len(held))
            return Parsed(
                text=held,
                blocks=tuple(near),
                parser=head.parser,
                page_count=head.page_count,
                title=head.title,
                author=head.author,
                created_at=head.created_at,
                modified_at=head.modified_at,
                language=head.language,
                metadata=head.metadata or {},
                attachments=attachments,
                warnings=head.warnings,
            )


def blocks_of(descriptor: int) -> Iterator[Block]:
    """The blocks in a file, in order."""
    at = 0
    while data := os.pread(descriptor, _BLOCK.size * _BLOCKS_AT_ONCE, at):
        at += len(data)
        for kind, level, page, start, end in _BLOCK.iter_unpack(data[: len(data) - len(data) % _BLOCK.size]):
            yield Block(_KINDS[kind], start, end, None if page == _NO_PAGE else page, level)


def _first(blocks: Iterable[Block], characters: int) -> Iterator[Block]:
    for block in blocks:
        if block.end > characters:
            return
        yield block


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
