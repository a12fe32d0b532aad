"""The local embedders: wordllama out of the box, MiniLM once installed, each in its own child process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path

from penstock.embed.local.cores import cores
from penstock.embed.local.process import ChildDied, LocalProcess
from penstock.embed.local.ranked_places import RankedPlaces
from penstock.embed.models_dir import MINILM, minilm_folder, minilm_is_installed, minilm_tokenizer
from penstock.embed.models_dir import not_installed as minilm_not_installed
from penstock.embed.tokens import wordllama_folder
from penstock.errors import EmbedderFailed, EmbedderOutOfMemory, EmbedderRefused
from penstock.model.embedder import Embedded, Purpose, Vector
from penstock.observe import get_logger
from penstock.settings import Settings

log = get_logger(__name__)

WORDLLAMA = "wordllama-l2-supercat-256"
WORDLLAMA_MAX_TOKENS = 512
MINILM_MAX_TOKENS = 254  # 256 with the special tokens at both ends

AT_ONCE = 2
"""Parts of documents that the child has at the same time: it always knows what comes next."""
FOR_SEARCHES = 1
"""More of them, which only searches use."""

_RANK: dict[Purpose, int] = {"query": 0, "document": 1}


class LocalEmbedder:
    """Sends a call to its child in small parts. A search overtakes the parts that wait here, and in the child
    the texts of those that do not."""

    def __init__(
        self,
        *,
        name: str,
        folder: Path,
        model: str,
        dimensions: int,
        max_tokens: int,
        tokenizer: str,
        batch_size: int,
        gives_way: bool = False,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self.tokenizer = tokenizer
        self.batch_size = batch_size
        self.is_remote = False
        self._process = LocalProcess(model, name, folder, gives_way=gives_way)
        self._places = RankedPlaces(AT_ONCE + FOR_SEARCHES, FOR_SEARCHES)

    @property
    def pid(self) -> int | None:
        """The child's process id, if it is running."""
        return self._process.pid

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        """Vectors in the order of the texts, whatever the child finishes first."""
        empty = next((at for at, text in enumerate(texts) if not text or text.isspace()), None)
        if empty is not None:
            raise EmbedderRefused(self.model, f"text {empty} is empty", "Send texts that are not empty")
        parts = [texts[at : at + self.batch_size] for at in range(0, len(texts), self.batch_size)]
        if len(parts) == 1:
            answers = [await self._part(parts[0], _RANK[purpose])]
        else:
            answers = await _all([self._part(part, _RANK[purpose]) for part in parts])
        width = 2 * self.dimensions
        vectors = tuple(
            Vector(found[at : at + width]) for found, _ in answers for at in range(0, len(found), width)
        )
        return Embedded(vectors, sum(tokens for _, tokens in answers))

    async def close(self) -> None:
        async with self._places.hold(0, alone=True):
            await self._process.close()

    async def _part(self, texts: Sequence[str], rank: int) -> tuple[bytes, int]:
        """A child that died is replaced once; the second time it gets these texts alone, so that it dies of
        nobody else's."""
        try:
            async with self._places.hold(rank):
                return await self._process.exchange(texts, rank)
        except ChildDied as died:
            log.warning("embedder_child_died", model=self.model, reason=str(died))
        try:
            async with self._places.hold(rank, alone=True):
                return await self._process.exchange(texts, rank)
        except ChildDied as died:
            if died.killed:  # killed twice, and not by us: most likely the kernel's OOM killer
                raise EmbedderOutOfMemory(self.model) from died
            raise EmbedderFailed(self.model, str(died)) from died


async def _all(parts: Sequence[Coroutine[None, None, tuple[bytes, int]]]) -> list[tuple[bytes, int]]:
    """All answers in order; with the first error the rest is cancelled."""
    running = [asyncio.create_task(part) for part in parts]
    try:
        return list(await asyncio.gather(*running))
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def wordllama(*, gives_way: bool = False) -> LocalEmbedder:
    """Instant and small; its weights are in the wheel."""
    return LocalEmbedder(
        name="wordllama",
        folder=wordllama_folder(),
        model=WORDLLAMA,
        dimensions=256,
        max_tokens=WORDLLAMA_MAX_TOKENS,
        tokenizer="llama",
        batch_size=64,
        gives_way=gives_way,
    )


def minilm(settings: Settings, *, gives_way: bool = False) -> LocalEmbedder:
    """Better and slower. Each text is embedded alone, so that small parts cost nothing and are back soon."""
    if not minilm_is_installed(settings):
        raise minilm_not_installed(minilm_folder(settings))
    return LocalEmbedder(
        name="minilm",
        folder=minilm_folder(settings),
        model=MINILM,
        dimensions=384,
        max_tokens=MINILM_MAX_TOKENS,
        tokenizer=minilm_tokenizer(settings),
        batch_size=max(8, 2 * cores()),
        gives_way=gives_way,
    )
