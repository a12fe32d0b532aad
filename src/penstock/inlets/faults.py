"""Points where a test may kill the process: PENSTOCK_FAULT=inlet.committed, or …@3 for the third time."""

from __future__ import annotations

import os
import signal
from collections import Counter

_reached: Counter[str] = Counter()


def reach(point: str) -> None:
    """End this process by SIGKILL if PENSTOCK_FAULT names the point, the n-th time it is reached."""
    wanted, _, time = os.environ.get("PENSTOCK_FAULT", "").partition("@")
    if wanted == point:
        _reached[point] += 1
        if _reached[point] == int(time or 1):
            os.kill(os.getpid(), signal.SIGKILL)
