"""A tenant's quotas and how much of each is used."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    used: int
    limit: int | None = field(metadata={"description": "Null when there is no quota."})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """Live documents, the bytes of their originals, and API keys that are neither revoked nor expired."""

    documents: Quota
    stored_bytes: Quota
    keys: Quota
