"""The tools' results: small, with what an assistant needs to cite them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from penstock.documents.rows import ChunkRow, Document
from penstock.search.answer import further_headings


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class DocumentLine(Answer):
    """A document in a list."""

    document_id: UUID
    title: str | None
    filename: str | None
    project: str
    mime_type: str
    status: str
    searchable: bool
    created_at: datetime

    @classmethod
    def of(cls, document: Document) -> DocumentLine:
        return cls(**{name: getattr(document, name) for name in cls.model_fields})


class DocumentList(Answer):
    documents: list[DocumentLine]
    cursor: str | None = Field(description="Pass this to get the next documents; none: there are no more.")


class Passage(Answer):
    """A piece of a document's text and its position."""

    ordinal: int
    text: str
    page: int | None
    heading: str | None = Field(description="The headings above its first words.")
    headings: list[str] = Field(description="The headings that begin inside it, each with those above it.")

    @classmethod
    def of(cls, chunk: ChunkRow) -> Passage:
        return cls(
            ordinal=chunk.ordinal,
            text=chunk.text,
            page=chunk.page_from,
            heading=" > ".join(chunk.heading_path) or None,
            headings=[
                " > ".join(path)
                for path in further_headings(chunk.heading_path, (each.path for each in chunk.headings))
            ],
        )


class WholeDocument(DocumentLine):
    """A document with its text, some passages at a time."""

    author: str | None
    language: str | None
    page_count: int | None
    document_created_at: datetime | None
    metadata: dict[str, Any]
    parent_document_id: UUID | None
    reason_code: str | None
    error_message: str | None
    passages: list[Passage]
    cursor: str | None = Field(description="Pass this to get the next passages; none: there are no more.")
