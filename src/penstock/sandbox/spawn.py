"""Starts a child: its own session, a clean environment, a line to talk, a pipe for its last words."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

# Everything else stays out, above all the secrets of the process that serves tenants.
_KEPT_VARIABLES = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "TESSDATA_PREFIX",
)
_SET_VARIABLES = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",  # the pool is the parallelism
    "MALLOC_ARENA_MAX": "2",  # otherwise every thread of a library keeps freed memory of its own
}


def spawn(folder: str) -> tuple[subprocess.Popen[bytes], socket.socket, int]:
    """The process, our end of the line, and the descriptor its standard error comes out of.

    Call it in the loop's own thread, which lives as long as the child may: the kernel kills the child when
    the thread that started it ends.
    """
    ours, theirs = socket.socketpair()
    words, mouth = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "penstock.sandbox.child", str(theirs.fileno()), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=mouth,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
            cwd=folder,
            env=_environment(folder),
        )
    except OSError:
        ours.close()
        os.close(words)
        raise
    finally:
        theirs.close()
        os.close(mouth)
    ours.setblocking(False)
    os.set_blocking(words, False)
    return process, ours, words


def _environment(folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return kept | _SET_VARIABLES | {"TMPDIR": folder, "XDG_CACHE_HOME": str(Path(folder) / "cache")}
