"""Builds the result of a reader; a missing title or language is derived from the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from penstock.model import Attachment, Block, Parsed
from penstock.pipeline.parse import language
from penstock.pipeline.parse.blocks import assembled
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.text import HeldText

if TYPE_CHECKING:
    import xberg  # expensive, and the parent process imports this module


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """A file's own metadata."""

    title: str | None = None
    author: str | None = None
    created_at: datetime | None = None
    modified_at: datetime | None = None
    language: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, document: xberg.ExtractedDocument) -> FileMetadata:
        said = document.metadata
        return cls(
            title=cleaned_line(said.title),
            author=cleaned_line(", ".join(said.authors or ()) or said.created_by),
            created_at=moment(said.created_at),
            modified_at=moment(said.modified_at),
            language=primary(said.language),
            metadata=described(subject=said.subject, keywords=", ".join(said.keywords or ())),
        )


def described(**values: str | None) -> dict[str, str]:
    """Metadata without empty values."""
    lines = {name: cleaned_line(value, 2_000) for name, value in values.items()}
    return {name: line for name, line in lines.items() if line}


def primary(tag: str | None) -> str | None:
    """The language of a tag such as `de-AT`."""
    found = re.match(r"\s*([A-Za-z]{2,3})(?:[-_]|\s*$)", tag or "")
    return found[1].lower() if found else None


def parsed(
    pages: Iterable[tuple[int | None, str]],
    *,
    parser: str,
    about: FileMetadata = FileMetadata(),  # noqa: B008  # frozen
    plain: bool = False,
    page_count: int | None = None,
    attachments: tuple[Attachment, ...] = (),
    warnings: tuple[str, ...] = (),
) -> Parsed:
    text, blocks = assembled(pages, plain=plain)
    return described_text(
        text,
        blocks,
        parser=parser,
        about=about,
        page_count=page_count,
        attachments=attachments,
        warnings=warnings,
    )


def described_text(
    text: str,
    blocks: tuple[Block, ...],
    *,
    parser: str,
    about: FileMetadata = FileMetadata(),  # noqa: B008  # frozen
    page_count: int | None = None,
    attachments: tuple[Attachment, ...] = (),
    warnings: tuple[str, ...] = (),
) -> Parsed:
    """A text whose blocks are known."""
    return Parsed(
        text=text,
        blocks=blocks,
        parser=parser,
        page_count=page_count,
        title=about.title or _first_heading(text, blocks),
        author=about.author,
        created_at=about.created_at,
        modified_at=about.modified_at,
        language=about.language or language.guess(language.sample(HeldText(text))),
        metadata=dict(about.metadata),
        attachments=attachments,
        warnings=warnings,
    )


def _first_heading(text: str, blocks: tuple[Block, ...]) -> str | None:
    """A top-level heading among the first blocks is the title; a later one is a chapter's."""
    for block in blocks[:5]:
        if block.kind == "heading" and block.level <= 2:
            return cleaned_line(text[block.start : block.end].partition("\n")[0].strip("# \t"))
    return None
