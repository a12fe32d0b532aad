"""Exits when the event loop is blocked, after logging where."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.observe import get_logger
from penstock.worker import native_stall
from penstock.worker.loop_watch import LoopWatch
from penstock.worker.stall import LOG_SECONDS, end_stalled_process

log = get_logger(__name__)


@contextmanager
def loop_guard(stall_seconds: float) -> Iterator[None]:
    """Watch the running loop from a thread during the block; if it is blocked for this long, exit with 75.

    0 turns watching off. Time in which the process is frozen or stopped in a debugger does not count.
    """
    if not stall_seconds:
        yield
        return
    watch = LoopWatch(asyncio.get_running_loop(), stall_seconds, thread_id=threading.get_ident())
    stopped = threading.Event()
    thread = threading.Thread(
        target=_guard, args=(watch, stall_seconds, stopped), name="penstock-loop-guard", daemon=True
    )
    native_stall.prepare()
    native_stall.postpone(stall_seconds)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        native_stall.postpone(0)


def _guard(watch: LoopWatch, stall_seconds: float, stopped: threading.Event) -> None:
    while not stopped.wait(watch.tick):
        native_stall.postpone(stall_seconds)
        if not watch.stalled():
            continue
        if watch.in_debugger():
            log.throttled("loop_stopped_in_debugger", every=60.0)
            watch.restart()
            continue
        # The blocked thread may hold the log's lock while it waits for a full pipe: do not wait forever.
        writing = threading.Thread(target=_report, args=(watch,), name="penstock-stall-log", daemon=True)
        writing.start()
        writing.join(LOG_SECONDS)
        end_stalled_process()


def _report(watch: LoopWatch) -> None:
    log.error("loop_stalled", seconds=round(watch.silent, 1), stacks=watch.stacks())
