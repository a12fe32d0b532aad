"""The child's side of a local model: its threads take the next text of any request, searches first."""

from __future__ import annotations

import io
import threading

import numpy as np
import numpy.typing as npt
import pytest

from penstock.embed.local.frames import ANSWER, REFUSED, TOKENS, VECTORS, request
from penstock.embed.local.serving import ModelServer


class Model:
    """Notes the order of the texts; the vector of a text is its length and one."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.seen: list[list[str]] = []
        self.may_begin = threading.Event()
        self.may_begin.set()

    def embed(self, texts: list[str]) -> tuple[npt.NDArray[np.float32], int]:
        assert self.may_begin.wait(20)
        self.seen.append(texts)
        if "bad" in texts:
            raise ValueError("this text is bad")
        rows = [[len(text), 1.0] if text != "nothing" else [0.0, 0.0] for text in texts]
        return np.array(rows, dtype=np.float32), len(texts)


class Pipe(io.RawIOBase):
    """Requests; the model may begin once they are all read."""

    def __init__(self, content: bytes, model: Model) -> None:
        self._content = io.BytesIO(content)
        self._model = model

    def read(self, size: int = -1) -> bytes:
        data = self._content.read(size)
        if not data:
            self._model.may_begin.set()
        return data


def served(model: Model, *requests: bytes) -> dict[int, tuple[int, bytes]]:
    """Kind and body of each answer; none of the requests is begun before all have arrived."""
    model.may_begin.clear()
    answers = io.BytesIO()
    ModelServer(model, answers).serve(Pipe(b"".join(requests), model))  # type: ignore[arg-type]  # read alone is used
    said, found = answers.getvalue(), {}
    while said:
        number, kind, length = ANSWER.unpack_from(said)
        found[number] = kind, said[ANSWER.size : ANSWER.size + length]
        said = said[ANSWER.size + length :]
    return found


def first_numbers(body: bytes) -> list[float]:
    """The first number of each vector, before it was scaled to length one."""
    rows = np.frombuffer(body[TOKENS.size :], "<f2").reshape(-1, 2).astype(np.float32)
    return [float(number) for number in np.round(rows[:, 0] / rows[:, 1])]


def test_each_request_gets_its_own_vectors_in_order() -> None:
    found = served(Model(3), request(1, 1, ["a", "bbb", "cc"]), request(2, 1, ["dddd"]))
    assert {number: kind for number, (kind, _) in found.items()} == {1: VECTORS, 2: VECTORS}
    assert first_numbers(found[1][1]) == [1, 3, 2]
    assert first_numbers(found[2][1]) == [4]
    assert TOKENS.unpack_from(found[1][1]) == (3,)


def test_a_search_overtakes_the_texts_of_documents_that_arrived_before() -> None:
    model = Model(2)
    served(model, request(1, 1, [f"document {at}" for at in range(20)]), request(2, 0, ["search"]))
    assert [text for texts in model.seen for text in texts].index("search") <= 2


def test_a_model_with_one_thread_gets_a_request_whole() -> None:
    model = Model(1)
    served(model, request(1, 1, ["one", "two"]))
    assert model.seen == [["one", "two"]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("bad", b"ValueError: this text is bad"), ("nothing", b"ValueError: a text has nothing to embed")],
)
def test_a_text_that_cannot_be_embedded_refuses_its_request_alone(text: str, reason: bytes) -> None:
    found = served(Model(2), request(1, 1, ["one", text, "three"]), request(2, 1, ["four"]))
    assert found[1] == (REFUSED, reason)
    assert found[2][0] == VECTORS
