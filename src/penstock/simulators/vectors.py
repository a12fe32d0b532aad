"""Makes vectors that are equal for equal texts, and close for texts that share words."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def vector(model: str, text: str, dimensions: int) -> Floats:
    """The sum of one seeded vector per word; its length is not one, as with some vendors."""
    words = re.findall(r"\w+", text.lower()) or [text]
    total = np.zeros(dimensions, dtype=np.float32)
    for word in words:
        total += _seeded(model, word, dimensions)
    return total


@lru_cache(maxsize=4_096)
def _seeded(model: str, word: str, dimensions: int) -> Floats:
    seed = int.from_bytes(hashlib.sha256(f"{model}\x1f{word}".encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimensions, dtype=np.float32)
