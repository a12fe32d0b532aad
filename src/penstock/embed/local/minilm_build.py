"""Builds MiniLM's int8 model, in its own process: the quantiser uses much memory and configures logging."""

from __future__ import annotations

import sys
from pathlib import Path

from onnxruntime.quantization import (  # type: ignore[import-untyped]  # it ships no types
    QuantType,
    quantize_dynamic,
)
from safetensors.numpy import load_file

from penstock.embed.local.minilm_graph import graph_of


def build(weights: Path, model: Path) -> None:
    """Per channel with a reduced range: otherwise 8-bit sums overflow on processors with only AVX2."""
    quantize_dynamic(
        graph_of(load_file(weights)),
        model,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=True,
    )


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
