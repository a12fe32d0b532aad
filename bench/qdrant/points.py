"""Writes the chunks of a library, whose rows are in Postgres, into Qdrant as the index does."""

from __future__ import annotations

import time

from bench.corpus import CHUNKS_A_DOCUMENT
from bench.job import Figures
from bench.search.library import CorpusEmbedder, Library
from penstock.index.qdrant import QdrantIndex
from penstock.index.qdrant_points import point_of
from penstock.model import Chunk, Vector
from penstock.net.outbound import open_client

DOCUMENTS = 50
"""Documents per call."""


async def copy_points(library: Library, index: QdrantIndex, url: str) -> Figures:
    """Points a second, and seconds until segments are merged and graphs built."""
    started = time.perf_counter()
    for first in range(0, len(library.documents), DOCUMENTS):
        points = []
        for place in range(first, min(first + DOCUMENTS, len(library.documents))):
            document_id = library.documents[place]
            numbers = range(CHUNKS_A_DOCUMENT)
            chunks = [Chunk(number, "", 0, 0, library.corpus.chunk_words) for number in numbers]
            weights = await index._weights(library.tenant_id, document_id, 1, chunks)
            for chunk in chunks:
                row = library.vectors[place * CHUNKS_A_DOCUMENT + chunk.ordinal].astype("<f2")
                vector = Vector(row.tobytes())
                points.append(
                    point_of(
                        library.tenant_id,
                        library.project_id,
                        document_id,
                        1,
                        chunk,
                        vector,
                        weights.get(chunk.ordinal, {}),
                    )
                )
        await index._put(library.tenant_id, CorpusEmbedder.model, CorpusEmbedder.dimensions, points)
    seconds = time.perf_counter() - started
    optimising = time.perf_counter()
    async with open_client(allow_private=True, total_seconds=600) as http:
        (await http.post(f"{url}/_control/optimise")).raise_for_status()
    return {
        "rate": len(library.vectors) / seconds,
        "build_seconds": time.perf_counter() - optimising,
    }
