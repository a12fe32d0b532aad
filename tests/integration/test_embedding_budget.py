"""Workers share one budget of a remote embedder through the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from penstock.db import Pool
from penstock.db.connect import create_pool
from penstock.embed.remote import Budgeted, RemoteEmbedder, budgeted, estimate_tokens, make_remote
from penstock.errors import EmbedderRefused
from penstock.model.embedder import Embedder
from penstock.settings import Settings
from penstock.simulators import EmbeddingsSimulator, serving
from penstock.simulators.embeddings import KEY
from tests.plugins.database import Database


class Workers:
    """Embedders of several workers: one simulator, one database, a pool each."""

    def __init__(self, address: str, database: Database) -> None:
        self._address = address
        self._database = database
        self._pools: list[Pool] = []
        self._embedders: list[RemoteEmbedder] = []

    def settings(self, **changes: object) -> Settings:
        return Settings(
            _env_file=None,
            cohere_api_key=KEY,
            cohere_base_url=self._address,
            brain_url=self._address,
            brain_api_secret=KEY,
            **changes,
        )

    async def embedder(self, name: str = "cohere", **changes: object) -> Embedder:
        settings = self.settings(**changes)
        pool = await create_pool(self._database.runtime_url, max_size=2)
        self._pools.append(pool)
        self._embedders.append(make_remote(name, settings))
        return budgeted(self._embedders[-1], pool, settings)

    async def close(self) -> None:
        for embedder in self._embedders:
            await embedder.close()
        for pool in self._pools:
            await pool.close()


@asynccontextmanager
async def workers(database: Database) -> AsyncIterator[tuple[Workers, EmbeddingsSimulator]]:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as address:
        made = Workers(address, database)
        try:
            yield made, simulator
        finally:
            await made.close()


async def grants(database: Database) -> int:
    async with database.connect() as admin:
        return int(await admin.fetchval("select count(*) from queues.rate_grant"))


async def test_two_workers_spend_one_budget_of_requests(database: Database) -> None:
    async with workers(database) as (made, simulator):
        # 100 a minute: 10 at once, then one each 0.6 s.
        two = [await made.embedder(embedding_requests_per_minute=100) for _ in range(2)]

        async def until_over(embedder: Embedder) -> None:
            while True:
                await embedder.embed(["text"])

        began = asyncio.get_running_loop().time()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(4):
                await asyncio.gather(*(until_over(embedder) for embedder in two))
        seconds = asyncio.get_running_loop().time() - began
        assert 10 < simulator.calls <= 10 + seconds / 0.6 + 1
        assert await grants(database) >= simulator.calls


async def test_tokens_are_a_budget_too_and_a_large_call_goes_out_in_parts(database: Database) -> None:
    async with workers(database) as (made, simulator):
        texts = [f"{n} " + "word " * 20 for n in range(5)]
        burst = estimate_tokens(texts[:4])
        embedder = await made.embedder(embedding_tokens_per_minute=burst * 10)
        began = asyncio.get_running_loop().time()
        embedded = await embedder.embed(texts)
        assert asyncio.get_running_loop().time() - began > 1  # a burst comes back in six seconds
        assert [len(body["texts"]) for body in simulator.bodies] == [4, 1]
        assert len(embedded.vectors) == 5
        assert len(set(embedded.vectors)) == 5


async def test_a_text_longer_than_the_burst_takes_all_of_it(database: Database) -> None:
    async with workers(database) as (made, simulator):
        embedder = await made.embedder(embedding_tokens_per_minute=100)
        await embedder.embed(["word " * 200])
        assert simulator.calls == 1


async def test_cohere_has_a_hundred_a_minute_and_the_others_none_unless_told(database: Database) -> None:
    async with workers(database) as (made, _):
        assert isinstance(await made.embedder("cohere"), Budgeted)
        assert isinstance(await made.embedder("brain"), RemoteEmbedder)
        assert isinstance(await made.embedder("brain", embedding_tokens_per_minute=5_000), Budgeted)
        await (await made.embedder("cohere")).embed(["text"])
        async with database.connect() as admin:
            step = await admin.fetchval("select arrival_at - granted_at from queues.rate_grant")
        assert step.total_seconds() == pytest.approx(0.6)


async def test_a_budgeted_brain_learns_its_model_before_it_spends(database: Database) -> None:
    async with workers(database) as (made, simulator):
        embedder = await made.embedder("brain", embedding_requests_per_minute=1_000)
        embedded = await embedder.embed(["text", "other"], "query")
        assert (embedder.model, embedder.dimensions) == ("brain:text-embedding-3-small", 1_536)
        assert len(embedded.vectors) == 2
        assert embedder.is_remote
        assert (embedder.batch_size, embedder.tokenizer, embedder.max_tokens) == (32, "llama", 8_191)
        assert simulator.calls == 2
        with pytest.raises(EmbedderRefused):
            await embedder.embed(["text"] * 33)
        assert (await embedder.embed([])).vectors == ()
