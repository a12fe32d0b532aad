"""What a child process does for its parent: exit with it, and report that its event loop runs."""

from __future__ import annotations

import faulthandler
import os
import signal
import threading

TELL_SECONDS = 1.0

_alive_fd: int | None = None


def end_with_parent() -> None:
    """Shut down gracefully when our parent dies, which closes our stdin.

    A parent started in the background by a shell ignores SIGINT and passes that on; we handle it again.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    # Our parent sends SIGABRT when we are unresponsive; then our stacks go to stderr.
    faulthandler.enable()

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="penstock-parent", daemon=True).start()


def tell_parent(fd: int) -> None:
    """Make `tell_alive` write to this file descriptor."""
    global _alive_fd  # one parent per process
    os.set_blocking(fd, False)
    os.set_inheritable(fd, False)
    _alive_fd = fd


async def tell_alive() -> None:
    """Report to our parent every second that the event loop runs; without a parent do nothing."""
    import asyncio  # `penstock --help` and `penstock version` do not need it

    while _alive_fd is not None:
        try:
            os.write(_alive_fd, b".")
        except BlockingIOError:
            pass  # it has not read for a while, and the pipe is full enough
        except OSError:
            return  # it is gone; our stdin reports that as well
        await asyncio.sleep(TELL_SECONDS)
