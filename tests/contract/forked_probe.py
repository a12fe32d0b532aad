"""Reports what a child process finds around itself."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading


def surroundings() -> dict[str, str]:
    """All that must not depend on whether the process was started or forked."""
    limits = [name for name in dir(resource) if name.startswith("RLIMIT")]
    found: dict[str, object] = {
        "interpreter": [sys.executable, str(sys.flags), sys.path],
        "variables": sorted(name for name in os.environ if name not in ("TMPDIR", "XDG_CACHE_HOME")),
        "user": [os.getuid(), os.getgid(), os.getgroups()],
        "files": len([number for number in range(100) if _is_open(number)]),
        "process": [
            os.getpriority(os.PRIO_PROCESS, 0),
            threading.active_count(),
            os.getsid(0) == os.getpgid(0),
        ],
        "signals": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        # The limit of memory is beyond what a process was born with.
        "limits": [resource.getrlimit(getattr(resource, name)) for name in limits if name != "RLIMIT_DATA"],
        "tests": "tests.plugins" in sys.modules,
    }
    return {name: str(value) for name, value in found.items()}


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
