"""An embedder without a model: texts that share words are near each other, and nothing is downloaded."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Sequence

from penstock.embed.registry import add_embedder
from penstock.errors import EmbedderRefused
from penstock.model.embedder import Embedded, Purpose, Vector

NAME = "hashing"
_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Hashes each word to a dimension and a sign. The same text has the same vector on every machine."""

    model = NAME
    dimensions = 256
    max_tokens = 512
    tokenizer = "llama"
    batch_size = 256
    is_remote = False

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        """Both purposes give the same vector."""
        words = [_WORD.findall(text.casefold()) for text in texts]
        for at, text in enumerate(texts):
            if not text.strip():
                raise EmbedderRefused(self.model, f"text {at} is empty", "Send texts with words in them")
        return Embedded(tuple(map(self._vector, words)), sum(map(len, words)))

    async def close(self) -> None:
        """Nothing was opened."""

    def _vector(self, words: Sequence[str]) -> Vector:
        sums = [0.0] * self.dimensions
        for word in words:
            digest = hashlib.sha256(word.encode()).digest()
            sums[int.from_bytes(digest[:4], "little") % self.dimensions] += 1.0 if digest[4] & 1 else -1.0
        length = math.sqrt(sum(each * each for each in sums))
        if not length:  # no words, or two that cancel each other out
            sums[0] = length = 1.0
        return Vector(struct.pack(f"<{self.dimensions}e", *(each / length for each in sums)))


def install() -> None:
    """Make it selectable by name in this process; no list of models shows it."""
    add_embedder(NAME, lambda _settings: HashingEmbedder())
