"""What a child process does for its parent: end with it, and tell it that its event loop still runs."""

from __future__ import annotations

import faulthandler
import os
import signal
import threading

TELL_SECONDS = 1.0

_alive_fd: int | None = None


def end_with_parent() -> None:
    """Shut down gracefully when our parent dies: then our stdin, a pipe from it, ends.

    A parent that a shell started in the background ignores SIGINT and hands that down; we hear it again.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    # Our parent sends SIGABRT when we no longer answer; then our stacks go to stderr.
    faulthandler.enable()

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="penstock-parent", daemon=True).start()


def tell_parent(fd: int) -> None:
    """From now on `tell_alive` writes here."""
    global _alive_fd  # one parent per process
    os.set_blocking(fd, False)
    os.set_inheritable(fd, False)
    _alive_fd = fd


async def tell_alive() -> None:
    """Tell our parent every second, from the event loop, that the loop runs; without a parent do nothing."""
    import asyncio  # `penstock --help` and `penstock version` do without

    while _alive_fd is not None:
        try:
            os.write(_alive_fd, b".")
        except BlockingIOError:
            pass  # it has not read for a while and finds enough when it does
        except OSError:
            return  # it has gone, which our stdin says as well
        await asyncio.sleep(TELL_SECONDS)
