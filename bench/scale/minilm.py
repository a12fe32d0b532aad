"""What embedding a document with MiniLM costs in processor time, from real chunks."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil

from bench.documents.bare import BareLoop
from bench.documents.load import tree_seconds
from bench.documents.sample_files import SampleFile, written
from penstock.errors import PenstockError
from penstock.settings import Settings

EMBEDDED = 100
"""Chunks that are embedded, of all."""


async def minilm_seconds(files: Sequence[SampleFile]) -> float | None:
    """Seconds per document, on average; None where the model is not installed."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        try:
            loop = BareLoop(Settings(embedder="minilm"), Path(folder))
        except PenstockError as missing:
            print(f"MiniLM is left out: {missing}", file=sys.stderr)
            return None
        try:
            await loop.parsers.start()
            await loop.batcher.embed(["warm"])
            paths = await asyncio.to_thread(written, list(files), Path(folder))
            texts = [
                chunk.embedder_input
                for path, file in zip(paths, files, strict=True)
                for chunk in await loop.chunks(path, file)
            ]
            some = np.random.default_rng(1).permutation(len(texts))[:EMBEDDED]
            before = _children()
            await loop.batcher.embed([texts[number] for number in some])
            return (_children() - before) / len(some) * len(texts) / len(files)
        finally:
            await loop.batcher.close()
            await loop.parsers.close()


def _children() -> float:
    times = psutil.Process().cpu_times()
    return tree_seconds(os.getpid()) - times.user - times.system
