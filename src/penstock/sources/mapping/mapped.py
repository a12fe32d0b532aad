"""What a field map makes of one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from penstock.errors import PenstockError

Rollup: TypeAlias = Literal["latest", "list", "sum", "key"]
"""How facts of one name and client become one value: the latest by `as_of`, a list (the latest first), a sum;
`key` facts are no values but ways to recognise the client in other sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One statement of one item about one client of the same source, known by (item, name).

    `client` is the external id of the client's own item, such as `companies/42`. The names client_name,
    industry and summary are columns of ingest.client_intelligence; all others are keys of its key_facts.
    """

    client: str
    name: str
    value: Any
    rollup: Rollup = "latest"
    keep: int | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """The document of a record (`text` None: it has none), and its facts."""

    title: str | None
    text: str | None
    facts: Sequence[Fact] = ()
    url: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class MapFailed(PenstockError):
    """A record lacks a required field, or has a value the map cannot use; `path` names the field."""

    def __init__(self, document_type: str, path: str, reason: str) -> None:
        super().__init__(f"{document_type}: {path} {reason}", "Correct the record at the provider")
        self.path = path
        self.args = (document_type, path, reason)
