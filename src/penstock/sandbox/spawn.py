"""Starts a child: its own session, a clean environment, a socket, and a pipe for its standard error."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

# Everything else is dropped, above all secrets of the parent process.
_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "TESSDATA_PREFIX")
_SET_VARIABLES = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",  # the pool is the parallelism
    "MALLOC_ARENA_MAX": "2",  # otherwise every thread of a library keeps its own freed memory
}
_START = (
    "import sys; sys.path += sys.argv[4:]; from penstock.sandbox.child import main; "
    "main(int(sys.argv[2]), int(sys.argv[3]))"
)


def spawn(folder: str) -> tuple[subprocess.Popen[bytes], socket.socket, int]:
    """The process, our end of the socket, and the descriptor of its standard error.

    Call it in the loop's own thread, which lives as long as the child may: the kernel kills the child when
    the thread that started it ends.
    """
    ours, theirs = socket.socketpair()
    words, mouth = os.pipe()
    numbers = (str(theirs.fileno()), str(os.getpid()))
    try:
        process = subprocess.Popen(
            # Isolated: neither the working directory nor PYTHON… variables decide what is imported.
            [sys.executable, "-I", "-c", _START, "penstock.sandbox.child", *numbers, *import_path()],
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


def import_path() -> list[str]:
    """Where this process finds modules, without the working directory; a child looks there last, so that
    nothing in these folders takes the place of the standard library."""
    here = os.getcwd()
    root = str(Path(__file__).resolve().parents[2])
    entries = [os.path.abspath(entry) for entry in sys.path if entry]
    return [*dict.fromkeys(entry for entry in entries if entry != here), root]


def _environment(folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return kept | _SET_VARIABLES | {"TMPDIR": folder, "XDG_CACHE_HOME": str(Path(folder) / "cache")}
