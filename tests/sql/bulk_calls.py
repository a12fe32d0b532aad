"""A re-index in SQL as an engine's worker makes it, without parsing and embedding."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from tests.sql.document_calls import CODE, DocumentCalls, Tenant

FACTS = {
    "title": "new",
    "counts": {"chunks": 1, "tokens": 2, "embedded": 1, "reused": 0, "embedded_tokens": 3},
}


class Bulk:
    """One re-index of a tenant's project."""

    def __init__(self, calls: DocumentCalls, tenant: Tenant, run: dict[str, Any]) -> None:
        self.calls = calls
        self.tenant = tenant
        self.run_id = UUID(run["run_id"])

    @classmethod
    async def start(cls, calls: DocumentCalls, tenant: Tenant, *args: object, **named: object) -> Bulk:
        await calls.clock.advance(seconds=1)
        return cls(calls, tenant, await calls.of(tenant, "ingest.start_bulk", "default", *args, **named))

    async def of(self, function: str, *args: object, **named: object) -> Any:
        return await self.calls.of(self.tenant, f"ingest.{function}", self.run_id, *args, **named)

    async def planned(self) -> list[int]:
        """Plan all shards; the numbers of those that are open."""
        while await self.of("plan_bulk", CODE):
            pass
        return await self.open()

    async def open(self) -> list[int]:
        rows = await self.calls.rows(self.tenant, "ingest.open_shards", self.run_id)
        return sorted(row["shard"] for row in rows)

    async def claim(self, shard: int, holder: str = "one") -> int:
        claimed = await self.of("claim_shard", shard, holder)
        assert claimed["state"] == "claimed", claimed
        return int(claimed["token"])

    async def documents(self, shard: int, token: int) -> list[UUID]:
        rows = await self.calls.rows(self.tenant, "ingest.shard_documents", self.run_id, shard, token, CODE)
        return [row["document_id"] for row in rows]

    async def begin(self, shard: int, token: int, document_id: UUID) -> dict[str, Any]:
        return dict(await self.of("begin_bulk_document", shard, token, document_id, CODE))

    async def stage(self, shard: int, token: int, document_id: UUID) -> int | None:
        """Begin and end a document; its generation, or None if there was nothing to do."""
        job = await self.begin(shard, token, document_id)
        if job["mode"] == "done":
            return None
        await self.of("end_bulk_document", shard, token, document_id, job["generation"], FACTS)
        return int(job["generation"])

    async def stage_all(self, shard: int, token: int) -> list[UUID]:
        documents = await self.documents(shard, token)
        for document_id in documents:
            await self.stage(shard, token, document_id)
        return documents

    async def close(self, shard: int, token: int) -> dict[str, int]:
        return dict(await self.of("close_shard", shard, token))

    async def work(self, shard: int) -> dict[str, int]:
        token = await self.claim(shard)
        await self.stage_all(shard, token)
        return await self.close(shard, token)

    async def finish(self) -> str:
        return str(await self.of("end_bulk", CODE))

    async def explained(self) -> dict[str, Any]:
        return dict(await self.of("explain_bulk"))


async def indexed_documents(
    calls: DocumentCalls, tenant: Tenant, count: int, name: str = "document"
) -> list[UUID]:
    found = [await calls.document(tenant, f"{tenant.slug} {name} {n}".encode()) for n in range(count)]
    for document_id in found:
        await calls.index(tenant, document_id)
    return found
