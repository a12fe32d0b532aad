"""Opens the index the settings name."""

from __future__ import annotations

from penstock.db.tenancy import TenantPool
from penstock.errors import SettingInvalid
from penstock.index.protocol import Index
from penstock.settings import Settings


def is_server(address: str) -> bool:
    """Whether this is the address of a Qdrant server, rather than a folder or :memory: for one process."""
    return address.startswith(("http://", "https://"))


def open_index(settings: Settings, tenants: TenantPool) -> Index:
    match settings.index:
        case "pgvector":
            from penstock.index.pgvector import PgvectorIndex

            return PgvectorIndex(tenants, settings.exact_search_chunks)
        case "qdrant":
            if settings.qdrant_url is None:
                raise SettingInvalid("PENSTOCK_QDRANT_URL", "PENSTOCK_INDEX is qdrant, but no address is set")
            # Imported here: its client is an extra.
            from penstock.index.qdrant import QdrantIndex

            return QdrantIndex.open(
                settings.qdrant_url,
                settings.qdrant_api_key,
                tenants,
                seconds=settings.qdrant_timeout_seconds,
            )
