"""The batcher: full batches of many callers in turn, each with its own vectors and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from penstock.embed.batcher import Batcher
from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderRefused, PenstockError
from penstock.model.embedder import Embedded, Purpose, Vector
from tests.plugins.workers import eventually


@dataclass
class Scripted:
    """An embedder whose vectors are the texts, that answers when let and raises what a test says."""

    batch_size: int = 8
    is_remote: bool = False
    raises: Callable[[Sequence[str]], PenstockError | None] = lambda _texts: None
    gate: asyncio.Event | None = None
    calls: list[list[str]] = field(default_factory=list)
    closed: bool = False
    model: str = "scripted"
    dimensions: int = 1
    max_tokens: int = 512
    tokenizer: str = "llama"

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        self.calls.append(list(texts))
        if self.gate is not None:
            await self.gate.wait()
        if (error := self.raises(texts)) is not None:
            raise error
        return Embedded(tuple(Vector(text.encode()) for text in texts), 10 * len(texts))

    async def close(self) -> None:
        self.closed = True


def texts(name: str, count: int) -> list[str]:
    return [f"{name} {at}" for at in range(count)]


def own(found: Embedded) -> list[str]:
    return [vector.decode() for vector in found.vectors]


async def test_callers_share_full_batches_and_get_their_own_vectors_in_order() -> None:
    embedder = Scripted(batch_size=10)
    batcher = Batcher(embedder)
    wanted = [texts(f"document{at}", 7) for at in range(10)]
    found = await asyncio.gather(*(batcher.embed(part) for part in wanted))
    assert [own(part) for part in found] == wanted
    assert [len(call) for call in embedder.calls] == [10] * 7
    assert sum(part.tokens for part in found) == 700


async def test_a_document_with_thousands_of_chunks_does_not_delay_a_small_one() -> None:
    embedder = Scripted(batch_size=8, gate=asyncio.Event())
    batcher = Batcher(embedder, concurrency=1)
    large = asyncio.create_task(batcher.embed(texts("large", 5_000)))
    await eventually(lambda: embedder.calls)
    small = asyncio.create_task(batcher.embed(texts("small", 3)))
    await asyncio.sleep(0)
    assert embedder.gate is not None
    embedder.gate.set()
    assert own(await small) == texts("small", 3)
    assert len(embedder.calls) <= 4
    assert own(await large) == texts("large", 5_000)


async def test_a_search_is_embedded_before_all_documents() -> None:
    embedder = Scripted(batch_size=4, gate=asyncio.Event())
    batcher = Batcher(embedder, concurrency=1)
    document = asyncio.create_task(batcher.embed(texts("document", 40)))
    await eventually(lambda: embedder.calls)
    search = asyncio.create_task(batcher.embed(["what?"], "query"))
    await asyncio.sleep(0)
    assert embedder.gate is not None
    embedder.gate.set()
    await search
    assert embedder.calls[1] == ["what?"]
    await document


async def test_no_more_than_the_given_batches_are_in_flight() -> None:
    embedder = Scripted(batch_size=2, gate=asyncio.Event())
    batcher = Batcher(embedder, concurrency=3)
    waiting = asyncio.create_task(batcher.embed(texts("a", 20)))
    await eventually(lambda: len(embedder.calls) == 3)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(embedder.calls) == 3
    assert embedder.gate is not None
    embedder.gate.set()
    await waiting


async def test_a_busy_embedder_gets_the_same_batch_again() -> None:
    answers = iter([EmbedderBusy("scripted", "429", 0.02), EmbedderBusy("scripted", "429", 0.02)])
    embedder = Scripted(batch_size=4, is_remote=True, raises=lambda _: next(answers, None))
    batcher = Batcher(embedder)
    found = await asyncio.gather(batcher.embed(texts("a", 2)), batcher.embed(texts("b", 2)))
    assert [own(part) for part in found] == [texts("a", 2), texts("b", 2)]
    assert embedder.calls == [[*texts("a", 2), *texts("b", 2)]] * 3


async def test_callers_get_an_error_when_an_embedder_stays_busy() -> None:
    embedder = Scripted(is_remote=True, raises=lambda _: EmbedderBusy("scripted", "429", 60))
    with pytest.raises(EmbedderBusy):
        await Batcher(embedder, patience=5).embed(["a"])


async def test_a_refused_text_fails_its_own_caller_only() -> None:
    def refuses(found: Sequence[str]) -> PenstockError | None:
        return EmbedderRefused("scripted", "too long", "Cut it") if "bad 1" in found else None

    for is_remote in (False, True):
        batcher = Batcher(Scripted(batch_size=8, is_remote=is_remote, raises=refuses))
        good, bad = await asyncio.gather(
            batcher.embed(texts("good", 12)), batcher.embed(texts("bad", 12)), return_exceptions=True
        )
        assert isinstance(good, Embedded)
        assert own(good) == texts("good", 12)
        assert isinstance(bad, EmbedderRefused)


async def test_a_broken_service_fails_the_callers_of_its_batch_without_more_calls() -> None:
    embedder = Scripted(is_remote=True, raises=lambda _: EmbedderFailed("scripted", "500"))
    batcher = Batcher(embedder)
    found = await asyncio.gather(*(batcher.embed([name]) for name in "abc"), return_exceptions=True)
    assert all(isinstance(error, EmbedderFailed) for error in found)
    assert len(embedder.calls) == 1


async def test_the_waiting_texts_of_a_cancelled_caller_are_dropped() -> None:
    embedder = Scripted(batch_size=4, gate=asyncio.Event())
    batcher = Batcher(embedder, concurrency=1)
    leaves = asyncio.create_task(batcher.embed(texts("leaves", 100)))
    await eventually(lambda: embedder.calls)
    stays = asyncio.create_task(batcher.embed(texts("stays", 2)))
    await asyncio.sleep(0)
    leaves.cancel()
    assert embedder.gate is not None
    embedder.gate.set()
    assert own(await stays) == texts("stays", 2)
    assert embedder.calls == [texts("leaves", 4), texts("stays", 2)]
    with pytest.raises(asyncio.CancelledError):
        await leaves


async def test_a_wrong_number_of_vectors_is_an_error() -> None:
    class Short(Scripted):
        async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
            return Embedded((Vector(b"x"),), 1)

    with pytest.raises(EmbedderFailed, match="1 vectors for 3 texts"):
        await Batcher(Short()).embed(texts("a", 3))


async def test_close_fails_waiting_callers_and_closes_the_embedder() -> None:
    embedder = Scripted(gate=asyncio.Event())
    batcher = Batcher(embedder)
    waiting = asyncio.create_task(batcher.embed(texts("a", 50)))
    await eventually(lambda: embedder.calls)
    await batcher.close()
    with pytest.raises(EmbedderFailed, match="closed"):
        await waiting
    with pytest.raises(EmbedderFailed, match="closed"):
        await batcher.embed(["late"])
    assert embedder.closed


async def test_an_empty_list_of_texts_makes_no_call() -> None:
    embedder = Scripted()
    assert await Batcher(embedder).embed([]) == Embedded((), 0)
    assert not embedder.calls
