"""A binding: each logical method with its tool or request, its arguments, and how its answers are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from penstock.sources.bindings.paths import Path

Transport: TypeAlias = Literal["mcp", "rest"]
Rule: TypeAlias = Literal["cursor", "offset", "page_full", "keyset", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """How the next page is found.

    cursor: `next` is its token. offset: the number of records read so far, up to `total`. page_full: the
    same, until a page is not full. keyset: `next` is the key of the last record, until a page is not full.
    """

    rule: Rule = "none"
    next: Path | None = None
    total: Path | None = None
    first: int = 0
    """The offset of the first record."""
    overlap: int = 0
    """Records that a page has in common with the one before: an offset shifts when a record is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One logical method; `arguments` are those of the tool, or the query of a request with a JSON `body`."""

    name: str
    tool: str | None = None
    request: tuple[str, str] | None = None
    """HTTP method and path."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    records: Path | None = None
    values: Mapping[str, Path] = field(default_factory=dict)
    """Other values of the answer, by name."""
    paging: Paging = Paging()
    page_size: int = 100
    timeout: float = 60.0
    blocks: Literal["one", "each"] = "one"
    """Whether one text block of a tool's result holds all records, or each block holds one."""
    content: Path | None = None
    """Where the bytes are in a tool's result; those of a request are its body."""
    encoding: Literal["base64", "base64url", "text"] = "base64"

    @property
    def what(self) -> str:
        """The tool, or the request, for messages."""
        return self.tool or " ".join(self.request or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """All methods of one version of a server; `error_text` recognises errors that are not marked as such."""

    name: str
    transport: Transport
    methods: Mapping[str, Method]
    error_text: re.Pattern[str] | None = None
    errors: Sequence[tuple[re.Pattern[str], int]] = ()
    """The HTTP status that an error's text stands for, where it does not name one; the first match counts."""
