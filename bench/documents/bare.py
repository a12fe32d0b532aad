"""The bare loop: the same parsers, chunker, model and parallelism, without a queue, a database or a blob."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from bench.documents.papers import Paper, laid_out
from bench.documents.place import Job
from penstock.model import Chunk, Parsed
from penstock.pipeline.chunk import plan_for
from penstock.pipeline.chunk.chunk_file import read_batches
from penstock.pipeline.embed.batcher import Batcher
from penstock.pipeline.embed.registry import make_embedder
from penstock.pipeline.parse import ParseDesk
from penstock.settings import Settings

Work = Callable[[Path, Paper], Awaitable[None]]


class BareLoop:
    """`parse`, `chunks` and `run` take papers through in the number the worker would."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.desk = ParseDesk(settings)
        self.batcher = Batcher(make_embedder(settings.embedder, settings))
        embedder = self.batcher.embedder
        self.plan = plan_for(embedder.max_tokens, tokenizer=embedder.tokenizer)

    async def run(self, papers: Sequence[Paper]) -> int:
        """Parse, chunk and embed all; how many chunks there were."""
        counts: list[int] = []

        async def one(path: Path, paper: Paper) -> None:
            chunks = await self.chunks(path, paper)
            await self.batcher.embed([chunk.embedder_input for chunk in chunks])
            counts.append(len(chunks))

        await self._each(papers, one)
        return sum(counts)

    async def texts(self, papers: Sequence[Paper]) -> dict[str, str]:
        """Parse all; the text by filename."""
        found: dict[str, str] = {}

        async def one(path: Path, paper: Paper) -> None:
            found[paper.filename] = (await self.parse(path, paper)).text

        await self._each(papers, one)
        return found

    async def parse(self, path: Path, paper: Paper) -> Parsed:
        return await self.desk.parse(path, mime_type=paper.mime_type, filename=paper.filename)

    async def chunks(self, path: Path, paper: Paper) -> list[Chunk]:
        with tempfile.TemporaryDirectory() as folder:
            files = await self.desk.parse_to(
                Path(folder), path, mime_type=paper.mime_type, filename=paper.filename
            )
            await self.desk.chunk(files, self.plan)
            return [chunk for batch in read_batches(files.chunks) for chunk in batch]

    async def _each(self, papers: Sequence[Paper], work: Work) -> None:
        waiting = iter(zip(laid_out(list(papers), self.folder), papers, strict=True))

        async def runner() -> None:
            for path, paper in waiting:
                await work(path, paper)

        async with asyncio.TaskGroup() as group:
            for _ in range(self.settings.ingest_concurrency):
                group.create_task(runner())


@contextlib.asynccontextmanager
async def bare_loop(job: Job) -> AsyncIterator[BareLoop]:
    """With warm parsers and a warm model."""
    loop = BareLoop(job.settings(), Path(job.place.folder) / "papers")
    try:
        await loop.desk.start()
        await loop.batcher.embed(["warm"])
        yield loop
    finally:
        await loop.batcher.close()
        await loop.desk.close()
