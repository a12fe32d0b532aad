"""Tenants whose vectors are in Qdrant: in a simulated server over HTTP, or in the client's local mode.

Where PENSTOCK_QDRANT_URL names a real server, that one takes the place of the simulated.
"""

from __future__ import annotations

# The client of Qdrant takes two seconds to import, and every worker of a run imports the tests: it is
# imported where it is used.
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from penstock.db.tenancy import TenantPool
from penstock.simulators.serving import serving
from tests.plugins.database import Database
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

    from penstock.index.qdrant import QdrantIndex
    from penstock.simulators.qdrant import QdrantSimulator

LOCAL = ":memory:"
REAL = os.environ.get("PENSTOCK_QDRANT_URL")


@contextmanager
def simulator() -> Iterator[QdrantSimulator]:
    from penstock.simulators.qdrant import QdrantSimulator

    made = QdrantSimulator()
    try:
        yield made
    finally:
        made.close()


@asynccontextmanager
async def simulated() -> AsyncIterator[tuple[QdrantSimulator, str]]:
    """A simulated server and its address."""
    with simulator() as server:
        async with serving(server.app) as url:
            yield server, url


@asynccontextmanager
async def address_of(place: str) -> AsyncIterator[str]:
    """The address of `server` or `local`; an address is its own."""
    if place == "local":
        yield LOCAL
    elif place != "server":
        yield place
    elif REAL is not None:
        yield REAL
    else:
        async with simulated() as (_, url):
            yield url


@asynccontextmanager
async def index_settings(index: str) -> AsyncIterator[dict[str, str]]:
    """The settings of an engine with this index; `qdrant` is a simulated server."""
    if index == "pgvector":
        yield {}
    else:
        async with simulated() as (_, url):
            yield {"index": "qdrant", "qdrant_url": url}


@asynccontextmanager
async def qdrant_index(database: Database, address: str, **options: Any) -> AsyncIterator[QdrantIndex]:
    from penstock.index.qdrant import QdrantIndex

    tenants = await TenantPool.open(database.runtime_url, application_name="qdrant", size=4)
    index = QdrantIndex.open(address, None, tenants, **options)
    try:
        yield index
    finally:
        await index.close()
        await tenants.close()


@asynccontextmanager
async def qdrant_tenant(
    database: Database, place: str, slug: str = "acme", **options: Any
) -> AsyncIterator[IndexedTenant]:
    """A tenant with an index of its own; on a real server its points are removed again."""
    from penstock.index.tenant_points import TenantPoints

    async with (
        address_of(place) as address,
        qdrant_index(database, address, **options) as index,
        indexed_tenant(database, slug, index=index) as tenant,
    ):
        yield tenant
        if address == REAL:
            for name in await names(tenant):
                await TenantPoints(client(tenant), name, tenant.tenant_id).delete()


def client(tenant: IndexedTenant) -> AsyncQdrantClient:
    from penstock.index.qdrant import QdrantIndex

    assert isinstance(tenant.index, QdrantIndex)
    return tenant.index._client  # what is in it, past the index


async def names(tenant: IndexedTenant) -> list[str]:
    """All collections there are."""
    return sorted(found.name for found in (await client(tenant).get_collections()).collections)


async def payloads(tenant: IndexedTenant) -> list[dict[str, Any]]:
    """Of this tenant's points, wherever they are, found without the index."""
    found: list[dict[str, Any]] = []
    for name in await names(tenant):
        points, _ = await client(tenant).scroll(name, limit=10_000, with_payload=True)
        found += [point.payload or {} for point in points]
    return [payload for payload in found if payload["tenantId"] == str(tenant.tenant_id)]
