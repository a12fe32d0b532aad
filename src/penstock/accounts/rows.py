"""Rows of tenants, projects, keys and deletions as the database answers them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from penstock.accounts.holdings import Holdings
from penstock.model import KeyId, ProjectId, TenantId

Scope: TypeAlias = Literal["documents:read", "documents:write", "search", "projects:write", "admin"]
"""What a key may do; `admin` may do everything."""

SCOPES: tuple[Scope, ...] = get_args(Scope)


class Row(BaseModel):
    # Built at the first use: most commands read one or two kinds of rows.
    model_config = ConfigDict(frozen=True, defer_build=True)


class Tenant(Row):
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
    created_at: datetime
    holdings: Holdings | None = None
    """What it has of what quotas count; not told where only its limits were asked for."""


class Project(Row):
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
    """How many documents it has in each status."""
    left_behind: int
    """Documents the last switch of the embedder could not embed; they are found by their words only."""


class ProjectDeleted(Row):
    """A project is gone, with this many documents; `left` of them are deleted by the task."""

    project_id: ProjectId
    slug: str
    documents: int
    left: int
    task_id: int | None


class ApiKey(Row):
    key_id: KeyId
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


class NewKey(ApiKey):
    secret: str = Field(repr=False)
    """Shown once; the database keeps its hash."""


class Caller(Row):
    """Who a key belongs to and what it may do."""

    tenant_id: TenantId
    tenant_slug: str
    key_id: KeyId
    scopes: list[Scope]
    requests_per_minute: int | None
    max_upload_bytes: int | None

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or "admin" in self.scopes


class Usage(Row):
    model: str
    tokens: int
    calls: int
    texts: int
    reused: int
    """Texts whose embedding was there already: calls saved."""


class DeletionRequested(Row):
    """An account's deletion is under way; from the request on its keys open nothing."""

    account_id: TenantId
    account_deletion_task_id: int
    receipt_token: str | None = Field(repr=False)
    """Shown once; None when the deletion was requested before, whose token stays good."""


class Deletion(Row):
    """How far the deletion of an account is, and its receipt once there is one."""

    account_id: TenantId
    account_deletion_task_id: int
    status: Literal["running", "failed", "succeeded"]
    error: str | None
    """Which part is stuck, when it failed; requesting the deletion again starts it again."""
    requested_at: datetime
    files_left: int
    flags: list[str]
    receipt: dict[str, JsonValue] | None
    """What was removed and overwritten, counted, the times, and until when backups hold it."""
    receipt_sha256: str | None

    @property
    def receipt_is_unchanged(self) -> bool:
        """Whether the receipt is the one that was written, by its hash."""
        return self.receipt is not None and hash_of_receipt(self.receipt) == self.receipt_sha256


def hash_of_receipt(receipt: Mapping[str, JsonValue]) -> str:
    """SHA-256 over its JSON as Postgres writes it: keys in order, a space after each comma and colon."""
    return hashlib.sha256(json.dumps(receipt, ensure_ascii=False).encode()).hexdigest()
