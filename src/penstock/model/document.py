"""Document and ingestion statuses, and the forms a document takes on its way to the index."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias


class DocumentStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    EMBEDDING = "embedding"
    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"
    DELETED = "deleted"


class IngestionStatus(StrEnum):
    QUEUED = "queued"
    PROCESSING = "processing"
    INDEXED = "indexed"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


BlockKind: TypeAlias = Literal["heading", "paragraph", "list", "table", "code"]


class Block(NamedTuple):
    """One piece of structure: the text it covers, its page, and a heading's level (1 is the top)."""

    kind: BlockKind
    start: int
    end: int
    page: int | None = None
    level: int = 0


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a file; it becomes a document of its own."""

    filename: str
    content: bytes
    mime_type: str | None = None
    path: str | None = None
    """Its folders and name in an archive: `a/b.txt`."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document's text with its structure: ordered, disjoint blocks that cover all but white space."""

    text: str
    blocks: tuple[Block, ...]
    parser: str
    page_count: int | None = None
    title: str | None = None
    author: str | None = None
    created_at: datetime | None = None
    modified_at: datetime | None = None
    language: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a chunk: where it starts in the document's text, and its path, itself included."""

    start: int
    path: tuple[str, ...]


@dataclass(frozen=True)
class Chunk:
    """A searchable piece: `text` is the document's text from `start` to `end`."""

    ordinal: int
    text: str
    start: int
    end: int
    token_count: int
    heading_path: tuple[str, ...] = ()
    page_from: int | None = None
    page_to: int | None = None
    headings: tuple[Heading, ...] = ()
    """Every heading it contains, in order; `heading_path` is the path at its start."""

    @cached_property
    def embedder_input(self) -> str:
        """Exactly what is embedded: the headings above the chunk, then its text."""
        return " > ".join(self.heading_path) + "\n" + self.text if self.heading_path else self.text

    @cached_property
    def input_sha256(self) -> bytes:
        return hashlib.sha256(self.embedder_input.encode()).digest()
