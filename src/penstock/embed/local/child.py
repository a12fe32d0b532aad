"""The child process with a local model: texts on stdin, vectors on stdout, until the parent exits."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from penstock.embed.local.frames import (
    ANSWER,
    GIVES_WAY,
    OUT_OF_MEMORY,
    READY,
    REFUSED,
    REQUEST,
    TOKENS,
    VECTORS,
    answer,
)
from penstock.sandbox.confine import die_with, stand_back


class LocalModel(Protocol):
    """A model in this process: returns one row for each text, not normalised, and the tokens read."""

    def embed(self, texts: list[str]) -> tuple[npt.NDArray[np.float32], int]: ...


def load(name: str, folder: Path) -> LocalModel:
    """Load only the needed model: the other's libraries would cost a hundred megabytes."""
    if name == "minilm":
        from penstock.embed.local.minilm_model import MiniLM

        cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        return MiniLM(folder, threads=cores)
    from penstock.embed.local.wordllama_model import WordLlama

    return WordLlama(folder)


def serve(model: LocalModel, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one request after the other until the parent closes the pipe."""
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        number, length = REQUEST.unpack(head)
        texts = json.loads(requests.read(length))
        try:
            vectors, tokens = model.embed(texts)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            if not (lengths > 0).all():
                raise ValueError("a text has nothing to embed")
            body = TOKENS.pack(tokens) + (vectors / lengths).astype("<f2").tobytes()
            answers.write(answer(number, VECTORS, body))
        except MemoryError:
            answers.write(answer(number, OUT_OF_MEMORY))
        except Exception as error:  # noqa: BLE001  # sent to the parent, which raises it; the model stays loaded
            answers.write(answer(number, REFUSED, f"{type(error).__name__}: {error}".encode()))
        answers.flush()


def main() -> None:
    die_with(int(sys.argv[3]))
    if sys.argv[4:] == [GIVES_WAY]:
        stand_back()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's output must not end up between frames
    try:
        model = load(sys.argv[1], Path(sys.argv[2]))
    except Exception as error:  # noqa: BLE001  # the parent raises it
        answers.write(answer(0, REFUSED, f"{type(error).__name__}: {error}".encode()))
        answers.flush()
        sys.exit(1)
    answers.write(ANSWER.pack(0, READY, 0))
    answers.flush()
    serve(model, sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
