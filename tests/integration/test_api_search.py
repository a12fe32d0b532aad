"""Search over HTTP: every query answers 200, and the answer says what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.simulators import EmbeddingsSimulator, serving
from penstock.simulators.embeddings import KEY
from tests.integration.api_server import api_server, assert_problem, form
from tests.integration.test_search import HOSTILE
from tests.plugins.database import Database


async def test_every_query_answers_200(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as api, api.working(), api.client() as client:
        sent = await client.post(
            "/v1/documents/upload?wait=60", files=form("See example.com/a%20b: 100% of it.")
        )
        assert sent.status_code == 200, sent.text
        for query in HOSTILE:
            answer = await client.post("/v1/search", json={"query": query})
            assert answer.status_code == 200, (query[:50], answer.text)
            if len(query) < 1_000 and "\x00" not in query:  # no address holds a NUL, whatever it asks for
                answer = await client.get("/v1/search", params={"q": query})
                assert answer.status_code == 200, (query[:50], answer.text)
        found = (await client.post("/v1/search", json={"query": "example.com/a%20b"})).json()
        assert found["hits"][0]["relevance"] > 0.5
        assert (found["no_good_match"], found["degraded"], found["unavailable"]) == (False, [], [])
        nothing = (await client.post("/v1/search", json={"query": "boil an egg", "min_score": 0.9})).json()
        assert (nothing["no_good_match"], nothing["hits"]) == (True, [])


async def test_a_degraded_search_says_so_and_documents_are_retried_by_reason(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as url:
        settings = {"embedder": "openai", "openai_base_url": f"{url}/v1", "openai_api_key": KEY}
        async with api_server(database, tmp_path, **settings) as api, api.working(), api.client() as client:
            assert (await client.post("/v1/documents/upload?wait=60", files=form())).status_code == 200
            assert (await client.post("/v1/documents/upload?wait=60", files=form(" "))).status_code == 200
            simulator.faults.begin_outage()
            found = (await client.get("/v1/search", params={"q": "water mill"})).json()
            assert (len(found["hits"]), found["degraded"]) == (1, ["vector"])
            assert found["unavailable"][0]["projects"] == ["default"]
            listed = (await client.get("/v1/documents", params={"status": "failed"})).json()
            assert [each["reason_code"] for each in listed["items"]] == ["empty"]
            asked = {"status": "failed", "reason": "empty", "dry_run": True}
            counted = await client.post("/v1/documents/retry", json=asked)
            assert (counted.status_code, counted.json()) == (202, {"matched": 1, "queued": 0})
            other = await client.post("/v1/documents/retry", json={"reason": "encrypted"})
            assert other.json() == {"matched": 0, "queued": 0}
            retried = await client.post("/v1/documents/retry", json={"reason": "empty"})
            assert retried.json() == {"matched": 1, "queued": 1}
            wrong = await client.post("/v1/documents/retry", json={"status": "indexed"})
            assert wrong.status_code == 422


async def test_a_hit_says_what_its_score_is_made_of_and_a_search_how_long_each_step_took(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as api, api.working(), api.client() as client:
        sent = await client.post("/v1/documents/upload?wait=60", files=form())
        assert sent.status_code == 200, sent.text

        async def found(**query: object) -> dict[str, Any]:
            answer = await client.post("/v1/search", json={"query": "water mill", **query})
            assert answer.status_code == 200, answer.text
            whole: dict[str, Any] = answer.json()
            return whole

        plain = await found()
        hit = plain["hits"][0]
        assert plain["steps"] is None
        for part in ("text", "vector"):
            assert hit["scores"][part] == {"rank": hit[f"{part}_rank"], "score": hit[f"{part}_score"]}
        assert hit["scores"]["fused"] == hit["score"]
        by_words = (await found(mode="text"))["hits"][0]["scores"]
        assert (by_words["vector"], by_words["text"]["rank"]) == (None, 1)
        explained = await found(explain=True)
        assert set(explained["steps"]) == {"embed_ms", "index_ms", "fuse_ms", "rerank_ms"}
        assert 0 <= sum(explained["steps"].values()) <= explained["took_ms"] + 1

        project = (await client.get("/v1/projects/default")).json()
        same = await found(embedder=project["embedder"])
        assert [each["chunk_id"] for each in same["hits"]] == [each["chunk_id"] for each in plain["hits"]]
        other = await client.post("/v1/search", json={"query": "water", "embedder": "no-such-model"})
        assert_problem(other, 422, "embedder")
