"""A process that asks for a source's access token when it is told to, and prints its hash."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from uuid import UUID

from penstock.engine.services import Services
from penstock.model import SourceId, TenantId
from penstock.settings import Settings


async def main(tenant: str, source: str) -> None:
    settings = Settings()
    services = Services(settings)
    assert settings.database_url is not None
    await services.connect(settings.database_url)
    try:
        async with services.tenants.all_tenants() as conn:
            await conn.fetchval("select 1")
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        token = await services.tokens.access_token(TenantId(UUID(tenant)), SourceId(UUID(source)))
        print(hashlib.sha256(token.encode()).hexdigest(), flush=True)
    finally:
        await services.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
