"""Runs MiniLM with onnxruntime; a text's vector is the mean over its tokens, without padding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from tokenizers import Tokenizer

MAX_TOKENS = 256  # it was trained with this limit, including the two special tokens


class MiniLM:
    """The installed model."""

    def __init__(self, folder: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Texts differ in length, and memory plans cached for every length would grow without bound.
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # leaves cores idle
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()

    def embed(self, texts: list[str]) -> tuple[npt.NDArray[np.float32], int]:
        found = self._tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in found], dtype=np.int64)
        mask = np.array([encoding.attention_mask for encoding in found], dtype=np.int64)
        (hidden,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        return mean_pool(hidden, mask), int(mask.sum())


def mean_pool(hidden: npt.NDArray[np.float32], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    weights = mask[..., None].astype(np.float32)
    pooled: npt.NDArray[np.float32] = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled
