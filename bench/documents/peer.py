"""What the peer does with the same documents, in children of their own; the parsers are ours."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from time import perf_counter
from typing import Any

from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery

from bench.corpus import Corpus
from bench.documents.bare import BareLoop, bare_loop
from bench.documents.filtered import ASKED, asked, metadata_of
from bench.documents.ingest import first_time
from bench.documents.llamaindex import HNSW, Peer, floats, table
from bench.documents.place import Job
from bench.documents.running_engine import admin
from bench.documents.sample_files import edited, mixed
from bench.job import Figures
from penstock.embed.registry import make_embedder
from penstock.model import Vector


async def ingest_plain(job: Job) -> Figures:
    return await _ingest(job, with_docstore=False)


async def ingest_with_docstore(job: Job) -> Figures:
    return await _ingest(job, with_docstore=True)


async def edit_plain(job: Job) -> Figures:
    return await _edit(job, with_docstore=False)


async def edit_with_docstore(job: Job) -> Figures:
    return await _edit(job, with_docstore=True)


async def _ingest(job: Job, *, with_docstore: bool) -> Figures:
    files = mixed(job.sizes)
    async with bare_loop(job) as loop, _peer(job, loop, with_docstore=with_docstore) as peer:
        started = perf_counter()
        await peer.ingest(await loop.texts(files))
        seconds = perf_counter() - started
        figures = first_time(len(files), seconds, await _rows(job), peer.model.taken().texts)
        started = perf_counter()
        await peer.ingest(await loop.texts(files))
        return figures | {
            "again_seconds": perf_counter() - started,
            "again_texts": peer.model.taken().texts,
            "again_chunks": await _rows(job),
        }


async def _edit(job: Job, *, with_docstore: bool) -> Figures:
    before, after = edited(job.sizes)
    async with bare_loop(job) as loop, _peer(job, loop, with_docstore=with_docstore) as peer:
        await peer.ingest(await loop.texts([before]))
        chunks = peer.model.taken().texts
        started = perf_counter()
        await peer.ingest(await loop.texts([after]))
        return {"embedded": peer.model.taken().texts, "chunks": chunks, "seconds": perf_counter() - started}


async def filtered_exact(job: Job) -> Figures:
    return await _filtered(job, None)


async def filtered_hnsw(job: Job) -> Figures:
    return await _filtered(job, HNSW)


async def _filtered(job: Job, hnsw: Mapping[str, Any] | None) -> Figures:
    """Each text of the corpus is a row with its document's metadata; the filter is the store's own."""
    corpus = Corpus(job.sizes.filtered_documents)
    embedder = make_embedder(job.embedder, job.settings())
    within: dict[Hashable, Vector] = {}
    filters = MetadataFilters(filters=[MetadataFilter(key="team", value="rare")])
    try:
        async with table(job.place.admin_url, embedder.dimensions, hnsw) as store:
            for number in range(corpus.documents):
                texts = corpus.chunks(number)
                team = metadata_of(number)
                vectors = (await embedder.embed(texts)).vectors
                nodes = [
                    TextNode(id_=f"{number}-{place}", text=text, metadata=team, embedding=floats(vector))
                    for place, (text, vector) in enumerate(zip(texts, vectors, strict=True))
                ]
                await store.async_add(nodes)
                if team["team"] == "rare":
                    within |= {node.node_id: vector for node, vector in zip(nodes, vectors, strict=True)}

            async def ask(text: str, vector: Vector) -> Sequence[Hashable]:
                answer = await store.aquery(
                    VectorStoreQuery(query_embedding=floats(vector), similarity_top_k=ASKED, filters=filters)
                )
                return list(answer.ids)

            async def embed(name: str, text: str) -> Vector:
                return (await embedder.embed([text], "query")).vectors[0]

            await _analyze(job)
            figures = await asked(job.sizes, corpus, within, ask, embed)
            return {**figures, "chunks": await _rows(job), "within": len(within)}
    finally:
        await embedder.close()


@contextlib.asynccontextmanager
async def _peer(job: Job, loop: BareLoop, *, with_docstore: bool) -> AsyncIterator[Peer]:
    """With its table made, as ours are before the clock starts."""
    async with table(job.place.admin_url, loop.batcher.embedder.dimensions) as store:
        await store.aclear()
        yield Peer(store, loop.batcher, loop.plan, with_docstore=with_docstore)


async def _rows(job: Job) -> int:
    async with admin(job.place) as connection:
        return int(await connection.fetchval("select count(*) from public.data_peer"))


async def _analyze(job: Job) -> None:
    """Autovacuum would in a while; the planner should know the table."""
    async with admin(job.place) as connection:
        await connection.execute("analyze public.data_peer")
