"""Rows of tenants, projects, keys and deletions as the database returns them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from penstock.accounts.quotas import Quotas
from penstock.model import KeyId, ProjectId, TenantId
from penstock.model.gate import Gate

Scope: TypeAlias = Literal[
    "documents:read", "documents:write", "search", "projects:write", "operate", "admin"
]
"""What a key may do; `admin` includes everything."""

SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    tenant_id: TenantId
    slug: str
    name: str
    status: Literal["active", "deleted"]
    max_upload_bytes: int | None
    requests_per_minute: int | None
    monthly_token_budget: int | None
    max_documents: int | None = None
    max_stored_bytes: int | None = None
    max_keys: int | None = None
    webhook_url: str | None
    contact_email: str | None = None
    """Who is told when a person must do something, such as connecting a mailbox again."""
    created_at: datetime
    holdings: Quotas | None = None
    """Quotas with usage; None if only the limits were requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    project_id: ProjectId
    slug: str
    name: str
    embedder: str
    next_embedder: str | None
    text_config: str
    chunk_strategy: str
    chunk_tokens: int | None
    chunk_overlap: int | None
    created_at: datetime
    documents: dict[str, int]
    """Number of documents by status."""
    left_behind: int
    """Documents the last embedder switch could not embed; only keyword search finds them."""
    gate: Gate | None = None
    """What a re-index or a switch of the embedder has to pass before it goes live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectDeleted:
    """A deleted project with its number of documents; the task deletes the `left` ones."""

    project_id: ProjectId
    slug: str
    documents: int
    left: int
    task_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    key_id: KeyId
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey(ApiKey):
    secret: str = field(repr=False)
    """Shown once; the database stores only its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    model: str
    tokens: int
    calls: int
    texts: int
    reused: int
    """Texts whose embedding was already cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionRequested:
    """An account's deletion in progress; its keys stop working at once."""

    account_id: TenantId
    account_deletion_task_id: int
    receipt_token: str | None = field(repr=False)
    """Shown once; None if the deletion was requested before: the first token stays valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """The progress of an account's deletion, and its receipt when done."""

    account_id: TenantId
    account_deletion_task_id: int
    status: Literal["running", "failed", "succeeded"]
    error: str | None
    """The part that failed; request the deletion again to restart it."""
    requested_at: datetime
    files_left: int
    parameters_left: int
    flags: list[str]
    receipt: dict[str, Any] | None
    """Counts of what was deleted and overwritten, the times, and until when backups still contain it."""
    receipt_sha256: str | None

    @property
    def receipt_is_unchanged(self) -> bool:
        """Whether the receipt still matches its hash."""
        return self.receipt is not None and hash_of_receipt(self.receipt) == self.receipt_sha256


def hash_of_receipt(receipt: Mapping[str, Any]) -> str:
    """SHA-256 over its JSON as Postgres writes it: keys in order, a space after each comma and colon."""
    return hashlib.sha256(json.dumps(receipt, ensure_ascii=False).encode()).hexdigest()
