"""Runs wordllama's token embeddings: a text's vector is the mean over its tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer


class WordLlama:
    """Reads the wheel's files directly: the package configures logging and pads batches."""

    threads = 1

    def __init__(self, folder: Path) -> None:
        weights = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
        self._weights: npt.NDArray[np.float32] = weights.astype(np.float32)
        self._tokenizer = Tokenizer.from_file(
            str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        )
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def embed(self, texts: list[str]) -> tuple[npt.NDArray[np.float32], int]:
        found = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        vectors = np.zeros((len(texts), self._weights.shape[1]), dtype=np.float32)
        tokens = 0
        for row, encoding in enumerate(found):
            ids = encoding.ids
            tokens += len(ids)
            if ids:
                vectors[row] = self._weights[ids].mean(axis=0)
        return vectors, tokens
