"""The local embedder: real vectors from a real child that may die, and searches before documents."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
import numpy.typing as npt
import psutil
import pytest

from penstock.embed.local.embedder import LocalEmbedder, wordllama
from penstock.embed.local.process import ChildDied, LocalProcess
from penstock.embed.local.ranked_places import RankedPlaces
from penstock.embed.tokens import count
from penstock.errors import EmbedderOutOfMemory, EmbedderRefused
from penstock.model.embedder import Embedded, Embedder
from tests.plugins.workers import eventually

pytestmark = pytest.mark.fresh_children

TEXTS = ["The cat sat on the mat.", "A kitten lies on a rug.", "Income tax is due in April."]


@asynccontextmanager
async def running() -> AsyncIterator[LocalEmbedder]:
    embedder = wordllama()
    try:
        yield embedder
    finally:
        await embedder.close()


def rows(found: Embedded) -> npt.NDArray[np.float32]:
    return np.array([np.frombuffer(vector, "<f2") for vector in found.vectors], dtype=np.float32)


async def test_vectors_are_256_half_floats_of_length_one_and_tokens_are_counted() -> None:
    async with running() as embedder:
        as_protocol: Embedder = embedder
        found = await as_protocol.embed(TEXTS)
    assert [len(vector) for vector in found.vectors] == [512] * 3
    assert np.allclose(np.linalg.norm(rows(found), axis=1), 1, atol=2e-3)
    assert found.tokens == sum(count("llama", TEXTS))


async def test_a_paraphrase_is_nearer_than_something_else() -> None:
    async with running() as embedder:
        near = rows(await embedder.embed(TEXTS))
    assert near[0] @ near[1] > near[0] @ near[2] + 0.2


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    texts = [f"{'word ' * (at * 7 % 13)}number {at}" for at in range(150)]
    async with running() as embedder:
        together = await embedder.embed(texts)
        alone = await embedder.embed(texts[77:78])
    assert together.vectors[77] == alone.vectors[0]


async def test_vectors_are_those_of_the_package_itself() -> None:
    program = (
        "import wordllama, pathlib, sys; folder = pathlib.Path(wordllama.__file__).parent;"
        "model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True);"
        f"sys.stdout.buffer.write(model.embed({TEXTS!r}, norm=True).astype('<f2').tobytes())"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    async with running() as embedder:
        found = await embedder.embed(TEXTS)
    theirs = np.frombuffer(ended.stdout, "<f2").reshape(3, 256).astype(np.float32)
    assert np.allclose(rows(found), theirs, atol=2e-3)


async def test_an_empty_text_is_refused_and_the_child_lives_on() -> None:
    async with running() as embedder:
        await embedder.embed(["one"])
        pid = embedder.pid
        with pytest.raises(EmbedderRefused, match="text 1 is empty"):
            await embedder.embed(["one", " \n"])
        await embedder.embed(["two"])
        assert embedder.pid == pid


async def test_a_child_that_was_killed_is_replaced_without_the_caller_noticing() -> None:
    async with running() as embedder:
        before = await embedder.embed(TEXTS)
        assert embedder.pid is not None
        os.kill(embedder.pid, signal.SIGKILL)
        assert (await embedder.embed(TEXTS)).vectors == before.vectors


async def test_close_ends_the_child() -> None:
    async with running() as embedder:
        await embedder.embed(["one"])
        pid = embedder.pid
        assert pid is not None
    assert not psutil.pid_exists(pid)


async def test_the_child_dies_with_its_parent() -> None:
    program = (
        "import asyncio, os\n"
        "from penstock.embed.local.embedder import wordllama\n"
        "async def main():\n"
        "    embedder = wordllama()\n"
        "    await embedder.embed(['one'])\n"
        "    print(embedder.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    pid = int(ended.stdout)

    async def gone() -> bool:
        return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE

    await eventually(gone)


async def test_a_cancelled_call_leaves_no_answer_to_the_next() -> None:
    async with running() as embedder:
        alone = await embedder.embed(["right"])
        for _ in range(20):
            wrong = asyncio.create_task(embedder.embed(["wrong " * 300] * 20))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            wrong.cancel()
            assert (await embedder.embed(["right"])).vectors == alone.vectors
            with pytest.raises(asyncio.CancelledError):
                await wrong


async def test_a_search_is_embedded_before_waiting_documents() -> None:
    lock = RankedPlaces(1)
    order: list[str] = []

    async def take(name: str, rank: int) -> None:
        async with lock.hold(rank):
            order.append(name)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group, lock.hold(1):
        for name, rank in (("document 0", 1), ("document 1", 1), ("search", 0), ("document 2", 1)):
            group.create_task(take(name, rank))
            await asyncio.sleep(0)
    assert order == ["search", "document 0", "document 1", "document 2"]


async def test_a_slot_given_to_a_cancelled_caller_is_passed_on() -> None:
    lock = RankedPlaces(1)

    async def take() -> None:
        async with lock.hold(1):
            pass

    async with lock.hold(1):
        leaves, stays = asyncio.create_task(take()), asyncio.create_task(take())
        await asyncio.sleep(0)
    leaves.cancel()  # it was just handed the turn
    await asyncio.wait_for(stays, 20)


async def test_a_search_has_a_place_that_documents_leave_free() -> None:
    places = RankedPlaces(2, kept=1)
    async with places.hold(1):
        second = asyncio.create_task(_take(places, 1))
        await asyncio.sleep(0)
        assert not second.done()
        await asyncio.wait_for(_take(places, 0), 20)
        assert not second.done()
    await asyncio.wait_for(second, 20)


async def test_whoever_wants_to_be_alone_waits_for_all_and_is_not_overtaken() -> None:
    places = RankedPlaces(3, kept=1)
    order: list[str] = []

    async def take(name: str, *, alone: bool) -> None:
        async with places.hold(1, alone=alone):
            order.append(name)
            await asyncio.sleep(0)
            order.append(name)

    async with asyncio.TaskGroup() as group, places.hold(1):
        for name, alone in (("alone", True), ("other", False)):
            group.create_task(take(name, alone=alone))
            await asyncio.sleep(0)
        assert order == []
    assert order == ["alone", "alone", "other", "other"]


async def test_a_caller_that_leaves_while_it_waits_to_be_alone_lets_the_others_go_on() -> None:
    places = RankedPlaces(2)
    async with places.hold(1):
        alone = asyncio.create_task(_take(places, 1, alone=True))
        await asyncio.sleep(0)
        behind = asyncio.create_task(_take(places, 1))
        await asyncio.sleep(0)
        alone.cancel()
        await asyncio.wait_for(behind, 20)


async def test_a_text_that_kills_the_child_fails_its_own_call_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another call has the child at the same time, and dies with it the first time."""
    running: set[str] = set()

    async def exchange(process: LocalProcess, texts: Sequence[str], rank: int) -> tuple[bytes, int]:
        running.update(texts)
        try:
            await asyncio.sleep(0.01)
            if "poison" in running:
                raise ChildDied("its child ended with code -9", killed=True)
            return bytes(512) * len(texts), len(texts)
        finally:
            running.difference_update(texts)

    monkeypatch.setattr(LocalProcess, "exchange", exchange)
    embedder = wordllama()
    innocent, guilty = await asyncio.gather(
        embedder.embed(["innocent"]), embedder.embed(["poison"]), return_exceptions=True
    )
    assert isinstance(guilty, EmbedderOutOfMemory)
    assert isinstance(innocent, Embedded)


async def test_calls_that_wait_learn_that_the_child_died() -> None:
    async with running() as embedder:
        await embedder.embed(["warm"])
        pid = embedder.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        calls = [asyncio.create_task(embedder.embed([f"text {at}"])) for at in range(4)]
        await asyncio.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        found = await asyncio.wait_for(asyncio.gather(*calls), 60)
        assert embedder.pid != pid
    assert len({each.vectors[0] for each in found}) == 4


async def _take(places: RankedPlaces, rank: int, *, alone: bool = False) -> None:
    async with places.hold(rank, alone=alone):
        pass
