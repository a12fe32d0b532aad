"""The child process with a local model: texts on stdin, vectors on stdout, until the parent exits."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from penstock.embed.local.cores import cores
from penstock.embed.local.frames import ANSWER, GIVES_WAY, READY, REFUSED, answer
from penstock.embed.local.serving import LocalModel, ModelServer
from penstock.sandbox.confine import die_with, stand_back


def load(name: str, folder: Path) -> LocalModel:
    """Load only the needed model: the other's libraries would cost a hundred megabytes."""
    if name == "minilm":
        from penstock.embed.local.minilm_model import MiniLM

        return MiniLM(folder, threads=cores())
    from penstock.embed.local.wordllama_model import WordLlama

    return WordLlama(folder)


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
    ModelServer(model, answers).serve(sys.stdin.buffer)


if __name__ == "__main__":
    main()
