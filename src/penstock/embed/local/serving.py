"""The child's side of a local model: several requests at a time, divided among threads, searches first."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from queue import PriorityQueue
from typing import BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from penstock.embed.local.frames import OUT_OF_MEMORY, REFUSED, REQUEST, TOKENS, VECTORS, answer


class LocalModel(Protocol):
    """A model in this process."""

    @property
    def threads(self) -> int:
        """How many texts it embeds at a time; with one thread it gets all texts of a request at once."""

    def embed(self, texts: list[str]) -> tuple[npt.NDArray[np.float32], int]:
        """One row for each text, not normalised, and the tokens read; called by several threads."""


@dataclass(slots=True)
class _Request:
    """A request and what was made of it so far."""

    number: int
    pieces: list[list[str]]
    rows: list[npt.NDArray[np.float32] | None] = field(init=False)
    tokens: int = 0
    left: int = field(init=False)
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self.rows = [None] * len(self.pieces)
        self.left = len(self.pieces)

    def answered(self) -> bytes:
        """The frame to send."""
        if isinstance(self.error, MemoryError):
            return answer(self.number, OUT_OF_MEMORY)
        if self.error is not None:
            said = f"{type(self.error).__name__}: {self.error}"
            return answer(self.number, REFUSED, said.encode())
        vectors = np.concatenate([rows for rows in self.rows if rows is not None])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (lengths > 0).all():
            return answer(self.number, REFUSED, b"ValueError: a text has nothing to embed")
        return answer(
            self.number, VECTORS, TOKENS.pack(self.tokens) + (vectors / lengths).astype("<f2").tobytes()
        )


_Piece = tuple[int, int, _Request | None, int]
"""Rank, arrival, the request and which of its pieces; no request ends a thread."""
_LAST = 256


class ModelServer:
    """Threads that always have the next text at hand: none waits for the others at the end of a request."""

    def __init__(self, model: LocalModel, answers: BinaryIO) -> None:
        self._model = model
        self._answers = answers
        self._waiting: PriorityQueue[_Piece] = PriorityQueue()
        self._arrivals = 0
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(model.threads)]

    def serve(self, requests: BinaryIO) -> None:
        """Answer until the parent closes the pipe, and then what is left."""
        for thread in self._threads:
            thread.start()
        while len(head := requests.read(REQUEST.size)) == REQUEST.size:
            number, rank, length = REQUEST.unpack(head)
            self._take(number, rank, json.loads(requests.read(length)))
        for _ in self._threads:
            self._put(_LAST, None, 0)
        for thread in self._threads:
            thread.join()

    def _take(self, number: int, rank: int, texts: list[str]) -> None:
        pieces = [texts] if self._model.threads == 1 else [[text] for text in texts]
        request = _Request(number, pieces)
        # The longest first, so that no thread is left alone with it at the end.
        for at in sorted(range(len(pieces)), key=lambda at: -len(pieces[at][0])):
            self._put(rank, request, at)

    def _put(self, rank: int, request: _Request | None, at: int) -> None:
        self._arrivals += 1
        self._waiting.put((rank, self._arrivals, request, at))

    def _work(self) -> None:
        while True:
            _, _, request, at = self._waiting.get()
            if request is None:
                return
            try:
                rows, tokens = self._model.embed(request.pieces[at])
            except Exception as error:  # noqa: BLE001  # sent to the parent, which raises it; the model stays loaded
                self._end(request, at, None, 0, error)
            else:
                self._end(request, at, rows, tokens, None)

    def _end(
        self,
        request: _Request,
        at: int,
        rows: npt.NDArray[np.float32] | None,
        tokens: int,
        error: Exception | None,
    ) -> None:
        with self._lock:
            request.rows[at] = rows
            request.tokens += tokens
            request.error = request.error or error
            request.left -= 1
            if request.left == 0:
                self._answers.write(request.answered())
                self._answers.flush()
