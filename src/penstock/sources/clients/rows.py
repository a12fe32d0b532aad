"""Clients as they are listed and shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from penstock.model import DocumentId, SourceId

ClientOrder = Literal["name", "-name", "updated", "-updated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRow:
    """One client; `record_count` is how many records of sources are about it.

    `sources` are the kinds of those sources; `manual` stands for records a person wrote.
    """

    client_id: UUID
    name: str
    industry: str | None
    record_count: int
    sources: list[str]
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientList:
    """A page of clients; `cursor` continues it, and is None on the last."""

    items: list[ClientRow]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRecord:
    """What one source says the client is. `is_apart`: a person split it off."""

    record_id: UUID
    source_id: SourceId | None
    source: str
    source_name: str | None
    external_id: str | None
    name: str
    industry: str | None
    summary: str | None
    is_apart: bool
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFact:
    """A fact with the record it belongs to, the items that state it (the newest five), and when."""

    name: str
    value: Any
    record_id: UUID
    source: str
    items: list[str]
    item_count: int
    as_of: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientReason:
    """Why records are one client: `key` is `domain`, `name`, or `join` for a person's decision.

    `origins` says where the records have the key from; `records` are the first twenty that have it.
    """

    key: str
    value: str
    origins: list[str]
    record_count: int
    records: list[UUID]
    decided_by: str | None
    decided_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientDocument:
    """A document made of an item that states something about the client."""

    document_id: DocumentId
    title: str | None
    document_type: str
    external_id: str
    source: str
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientDetails:
    """Everything about one client; of a client with many records, the hundred with the most facts."""

    client_id: UUID
    name: str
    industry: str | None
    summary: str | None
    record_count: int
    updated_at: datetime
    records: list[ClientRecord]
    facts: list[ClientFact]
    reasons: list[ClientReason]
    documents: list[ClientDocument]
