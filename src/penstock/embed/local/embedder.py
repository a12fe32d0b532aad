"""The local embedders: wordllama out of the box, MiniLM once installed, each in its own child process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.embed.local.priority_lock import PriorityLock
from penstock.embed.local.process import LocalProcess
from penstock.embed.models_dir import MINILM, minilm_folder, minilm_is_installed, minilm_tokenizer
from penstock.embed.models_dir import not_installed as minilm_not_installed
from penstock.embed.tokens import wordllama_folder
from penstock.errors import EmbedderRefused
from penstock.model.embedder import Embedded, Purpose, Vector
from penstock.settings import Settings

WORDLLAMA = "wordllama-l2-supercat-256"
WORDLLAMA_MAX_TOKENS = 512
MINILM_MAX_TOKENS = 254  # 256 with the special tokens at both ends

_RANK: dict[Purpose, int] = {"query": 0, "document": 1}


class LocalEmbedder:
    """Sends a call to its child in small batches, so that a search waits for at most one of them."""

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
        at_once: int,
        gives_way: bool = False,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self.tokenizer = tokenizer
        self.batch_size = batch_size
        self.is_remote = False
        self._at_once = at_once
        self._process = LocalProcess(model, name, folder, gives_way=gives_way)
        self._lock = PriorityLock()

    @property
    def pid(self) -> int | None:
        """The child's process id, if it is running."""
        return self._process.pid

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        """Batches texts of similar length, since a batch is padded to its longest."""
        empty = next((at for at, text in enumerate(texts) if not text or text.isspace()), None)
        if empty is not None:
            raise EmbedderRefused(self.model, f"text {empty} is empty", "Send texts that are not empty")
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        vectors: list[Vector] = [Vector(b"")] * len(texts)
        width, tokens = 2 * self.dimensions, 0
        for start in range(0, len(order), self._at_once):
            batch = order[start : start + self._at_once]
            async with self._lock.hold(_RANK[purpose]):
                found, read = await self._process.exchange([texts[at] for at in batch])
            tokens += read
            for row, at in enumerate(batch):
                vectors[at] = Vector(found[row * width : (row + 1) * width])
        return Embedded(tuple(vectors), tokens)

    async def close(self) -> None:
        async with self._lock.hold(0):
            await self._process.close()


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
        at_once=64,
        gives_way=gives_way,
    )


def minilm(settings: Settings, *, gives_way: bool = False) -> LocalEmbedder:
    """Better and slower; batches of 8 are fastest on few cores."""
    if not minilm_is_installed(settings):
        raise minilm_not_installed(minilm_folder(settings))
    return LocalEmbedder(
        name="minilm",
        folder=minilm_folder(settings),
        model=MINILM,
        dimensions=384,
        max_tokens=MINILM_MAX_TOKENS,
        tokenizer=minilm_tokenizer(settings),
        batch_size=32,
        at_once=8,
        gives_way=gives_way,
    )
