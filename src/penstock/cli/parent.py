"""Lets a process end with the one that started it."""

from __future__ import annotations

import os
import signal
import threading


def end_with_parent() -> None:
    """Stop in order when whoever started us dies: then our stdin, a pipe from it, ends."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="penstock-parent", daemon=True).start()
