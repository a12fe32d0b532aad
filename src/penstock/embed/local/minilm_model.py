"""Runs MiniLM with onnxruntime, each text alone on one core; its vector is the mean over its tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from tokenizers import Encoding, Tokenizer

MAX_TOKENS = 256  # it was trained with this limit, including the two special tokens


class MiniLM:
    """The installed model.

    Texts in one batch would be padded to the longest, wait for each other after every layer, and share one
    scale of the 8-bit activations: alone they take half the processor time, and a text's vector does not
    depend on its neighbours.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # Texts differ in length, and memory plans cached for every length would grow without bound.
        options.enable_mem_pattern = False
        # The fused addition and normalisation is computed number by number; apart they take a seventh of its
        # time, and a text a quarter less in all.
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion"],
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()
        self.threads = threads

    def embed(self, texts: list[str]) -> tuple[npt.NDArray[np.float32], int]:
        found = [self._tokenizer.encode(text) for text in texts]
        rows = np.stack([self._vector(encoding) for encoding in found])
        return rows, sum(len(encoding.ids) for encoding in found)

    def _vector(self, encoding: Encoding) -> npt.NDArray[np.float32]:
        ids = np.array([encoding.ids], dtype=np.int64)
        (hidden,) = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        vector: npt.NDArray[np.float32] = hidden[0].mean(axis=0)
        return vector
