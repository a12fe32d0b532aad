"""What a tenant has of what its quotas count, beside the limits that hold for it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Holding(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    used: int
    limit: int | None = Field(description="Null when there is no quota.")


class Holdings(BaseModel):
    """Live documents, the bytes of their originals, and API keys that are neither revoked nor expired."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    documents: Holding
    stored_bytes: Holding
    keys: Holding
