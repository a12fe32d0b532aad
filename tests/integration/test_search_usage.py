"""What a search embeds counts in its tenant's usage and budget."""

from __future__ import annotations

from pathlib import Path

from tests.integration.api_server import TEXT, ApiServer, api_server, form
from tests.plugins.database import Database


async def used(server: ApiServer) -> tuple[int, int, int]:
    """Tokens, calls and texts of this month, over all models."""
    rows = await server.engine.accounts.usage(server.tenant.tenant_id)
    return sum(row.tokens for row in rows), sum(row.calls for row in rows), sum(row.texts for row in rows)


async def test_a_search_counts_in_the_usage_of_its_tenant_alone(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        assert await used(server) == (0, 0, 0)
        for number in (1, 2):
            assert (await client.post("/v1/search", json={"query": "when does it open"})).status_code == 200
            tokens, calls, texts = await used(server)
            assert (calls, texts) == (number, number)
            assert tokens >= 3 * number
        by_words = {"query": "when does it open", "mode": "text"}
        assert (await client.post("/v1/search", json=by_words)).status_code == 200
        assert (await used(server))[1] == 2, "a search by words embeds nothing"
        other, _ = await server.another_tenant("other")
        assert await server.engine.accounts.usage(other.tenant_id) == []


async def test_a_search_without_budget_answers_by_words_and_says_so(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        async with server.working():
            await client.post("/v1/documents/upload?wait=60", files=form(TEXT))
        before = await used(server)
        await server.engine.accounts.set_tenant(server.tenant.tenant_id, monthly_token_budget=before[0])
        answer = (await client.post("/v1/search", json={"query": "mill"})).json()
        assert answer["degraded"] == ["vector"]
        assert "budget" in answer["unavailable"][0]["reason"]
        assert [hit["filename"] for hit in answer["hits"]] == ["mill.txt"]
        assert await used(server) == before
        await server.engine.accounts.set_tenant(server.tenant.tenant_id, monthly_token_budget=None)
        assert (await client.post("/v1/search", json={"query": "mill"})).json()["degraded"] == []
