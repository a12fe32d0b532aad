"""The bare loop: the same parsers, chunker, model and parallelism, without a queue, a database or a blob."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from bench.documents.place import Job
from bench.documents.sample_files import SampleFile, written
from penstock.embed.batcher import Batcher
from penstock.embed.registry import make_embedder
from penstock.model import Chunk, Parsed
from penstock.pipeline.chunk import plan_for
from penstock.pipeline.chunk.chunk_file import read_batches
from penstock.pipeline.parser_pool import ParserPool
from penstock.settings import Settings

Work = Callable[[Path, SampleFile], Awaitable[None]]


class BareLoop:
    """`parse`, `chunks` and `run` take files through in the number the worker would."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.parsers = ParserPool(settings)
        self.batcher = Batcher(make_embedder(settings.embedder, settings))
        embedder = self.batcher.embedder
        self.plan = plan_for(embedder.max_tokens, tokenizer=embedder.tokenizer)

    async def run(self, files: Sequence[SampleFile]) -> int:
        """Parse, chunk and embed all; how many chunks there were."""
        counts: list[int] = []

        async def one(path: Path, file: SampleFile) -> None:
            chunks = await self.chunks(path, file)
            await self.batcher.embed([chunk.embedder_input for chunk in chunks])
            counts.append(len(chunks))

        await self._each(files, one)
        return sum(counts)

    async def texts(self, files: Sequence[SampleFile]) -> dict[str, str]:
        """Parse all; the text by filename."""
        found: dict[str, str] = {}

        async def one(path: Path, file: SampleFile) -> None:
            found[file.filename] = (await self.parse(path, file)).text

        await self._each(files, one)
        return found

    async def parse(self, path: Path, file: SampleFile) -> Parsed:
        return await self.parsers.parse(path, mime_type=file.mime_type, filename=file.filename)

    async def chunks(self, path: Path, file: SampleFile) -> list[Chunk]:
        with tempfile.TemporaryDirectory() as folder:
            files = await self.parsers.parse_to(
                Path(folder), path, mime_type=file.mime_type, filename=file.filename, plan=self.plan
            )
            await self.parsers.chunk(files, self.plan)
            return [chunk for batch in read_batches(files.chunks) for chunk in batch]

    async def _each(self, files: Sequence[SampleFile], work: Work) -> None:
        waiting = iter(zip(written(list(files), self.folder), files, strict=True))

        async def runner() -> None:
            for path, file in waiting:
                await work(path, file)

        async with asyncio.TaskGroup() as group:
            for _ in range(self.settings.ingest_concurrency):
                group.create_task(runner())


@contextlib.asynccontextmanager
async def bare_loop(job: Job) -> AsyncIterator[BareLoop]:
    """With warm parsers and a warm model."""
    loop = BareLoop(job.settings(), Path(job.place.folder) / "files")
    try:
        await loop.parsers.start()
        await loop.batcher.embed(["warm"])
        yield loop
    finally:
        await loop.batcher.close()
        await loop.parsers.close()
