"""The watch over an event loop: counts silence, not frozen time, and tells where the loop is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.cli.run.answering import watch
from penstock.worker.loop_watch import LoopWatch


@contextmanager
def loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="watched")
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def answered(loop: asyncio.AbstractEventLoop) -> None:
    """Wait until the loop has run what was asked of it so far."""

    async def nothing() -> None:
        pass

    asyncio.run_coroutine_threadsafe(nothing(), loop).result(10)


def test_silence_is_counted_until_the_limit_and_an_answer_ends_it() -> None:
    clock, release = Clock(), threading.Event()
    with loop_in_thread() as loop:
        watched = LoopWatch(loop, 10.0, clock)
        assert not watched.stalled()
        answered(loop)
        inside = threading.Event()

        def block() -> None:
            inside.set()
            release.wait()

        loop.call_soon_threadsafe(block)
        inside.wait(10)
        looks = []
        for _ in range(14):
            clock.now += watched.tick
            looks.append(watched.stalled())
        assert looks.index(True) == 10  # one look asks, ten ticks of a second are the limit
        assert any(" in wait" in place for place in next(iter(watched.stacks().values())))
        assert next(iter(watched.stacks())).startswith("watched ")
        release.set()
        answered(loop)
        clock.now += watched.tick
        assert not watched.stalled()
        assert watched.silent == 0.0


def test_time_in_which_the_whole_process_was_frozen_does_not_count() -> None:
    clock, release = Clock(), threading.Event()
    with loop_in_thread() as loop:
        watched = LoopWatch(loop, 10.0, clock)
        loop.call_soon_threadsafe(release.wait)
        assert not watched.stalled()
        clock.now += 3_600.0
        assert not watched.stalled()
        assert watched.silent <= 2 * watched.tick
        release.set()


def test_a_loop_stopped_in_a_debugger_is_recognised() -> None:
    release = threading.Event()
    stopped: dict[str, object] = {"__name__": "pdb"}
    exec("def interaction(release): release.wait()", stopped)  # noqa: S102  # a frame of that module
    with loop_in_thread() as loop:
        watched = LoopWatch(loop, 10.0)
        assert not watched.stalled()
        answered(loop)
        assert not watched.in_debugger()
        waiting = threading.Event()

        def breakpoint_here() -> None:
            waiting.set()
            stopped["interaction"](release)  # type: ignore[operator]  # as above

        loop.call_soon_threadsafe(breakpoint_here)
        waiting.wait(10)
        while not watched.in_debugger():
            pass
        release.set()


class Mute:
    begun = True

    def forget(self) -> None:
        pass

    async def next(self, seconds: float) -> None:
        raise TimeoutError


async def test_a_supervisor_that_was_frozen_itself_blames_no_child() -> None:
    hours = iter([0.0, 3_600.0, *(3_600.0 + n for n in range(1, 99))])
    silent = await asyncio.wait_for(watch(Mute(), 12.0, lambda: next(hours)), 30)
    assert 12.0 <= silent <= 13.0  # an hour counted as ten seconds
