"""Runs a program as a child forked from a process that has done its imports: no new start."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

SERVER = Path(__file__).with_name("fork_server.py")
INTERPRETER = ("LANG", "LC_", "PYTHON", "LD_", "MALLOC_", "OPENBLAS_", "OMP_")
"""Variables with these beginnings are read when an interpreter starts or a library loads."""

PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "PENSTOCK_NICENESS")
PR_SET_CHILD_SUBREAPER = 36
_asking = threading.Lock()
_libc = ctypes.CDLL(None, use_errno=True)


def can_fork(variables: Mapping[str, str]) -> bool:
    """Whether a forked process is what a fresh one with these variables would be."""
    return sys.platform == "linux" and _read_at_start(variables) == _read_at_start(plain_variables())


def plain_variables() -> dict[str, str]:
    """What a command gets of our environment."""
    return {name: value for name, value in os.environ.items() if name in PASSED_ON}


def _read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith(INTERPRETER)}


KINDS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "commands": ((), {}),
    "embedder": (("-P",), {}),
    "parser": (("-I",), {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}),
}
"""The servers by what they have imported, with options and variables of the interpreters they stand for."""


class ForkServer:
    """One of each kind for the life of this process, started when it is first needed."""

    def __init__(self, kind: str) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.flags, variables = KINDS[kind]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, *self.flags, SERVER, str(theirs.fileno()), kind],
                env=plain_variables() | variables,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._socket = ours
        self.pid = self._process.pid
        atexit.register(self.close)

    def fork(self, request: Mapping[str, Any], descriptors: list[int]) -> int:
        """The id of a new child of ours that runs the program."""
        message = json.dumps(request).encode()
        # The process between the server and the child has ended when the server answers: while it
        # ends we adopt orphans, so that the new process is our child.
        _adopt_orphans(True)
        try:
            socket.send_fds(self._socket, [message], descriptors)
            answer = self._socket.recv(32)
        finally:
            _adopt_orphans(False)
        assert answer, "the fork server ended"
        return int(answer)

    def close(self) -> None:
        self._socket.close()
        self._process.wait(10)


_servers: dict[str, ForkServer] = {}


def server_pids() -> set[int]:
    return {server.pid for server in _servers.values()}


def _adopt_orphans(on: bool) -> None:
    if _libc.prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def fork(
    kind: str, mode: str, program: str, words: Sequence[str], *, folder: str, variables: Mapping[str, str],
    descriptors: Mapping[int, int], new_session: bool = False,
) -> int:  # fmt: skip
    """A child of ours that runs a module (`-m`) or a text (`-c`), its descriptors by their numbers there."""
    umask = os.umask(0o077)
    os.umask(umask)
    with _asking:
        if kind not in _servers:
            _servers[kind] = ForkServer(kind)
        server = _servers[kind]
        request = {
            "flags": server.flags,
            "mode": mode,
            "program": program,
            "words": list(words),
            "folder": folder,
            "variables": dict(variables),
            "descriptors": list(descriptors),
            "new_session": new_session,
            "umask": umask,
            "blocked_signals": [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
            "ignores_ctrl_c": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
            "parent": os.getpid(),
        }
        return server.fork(request, list(descriptors.values()))


class ForkedCommand(subprocess.Popen[Any]):
    """`python -m` with a module and its arguments; a Popen in all but how its process came about."""

    def _execute_child(
        self, args: list[str], _executable: None, _preexec: None, _close: bool, _pass: object, cwd: Path,
        env: Mapping[str, str], _info: None, _flags: int, _shell: bool, p2cread: int, p2cwrite: int,
        c2pread: int, c2pwrite: int, errread: int, errwrite: int, *_rest: object,
    ) -> None:  # fmt: skip
        try:
            streams = standard_streams(p2cread, c2pwrite, errwrite)
            self.pid = fork(
                "commands", "-m", args[0], args[1:], folder=str(cwd), variables=env, descriptors=streams
            )
            self._child_created = True
        finally:
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]


def standard_streams(*given: int) -> dict[int, int]:
    """The three streams of a child; where none is given it has ours."""
    return {number: number if descriptor == -1 else descriptor for number, descriptor in enumerate(given)}


def start(
    arguments: Sequence[str], folder: Path, variables: Mapping[str, str], *, fresh: bool = False,
    text: bool = False, stdin: int | IO[Any] | None, stdout: int | IO[Any] | None,
    stderr: int | IO[Any] | None,
) -> subprocess.Popen[Any]:  # fmt: skip
    """`python -m` with these arguments as a child of ours; `fresh` starts an interpreter, as a user does."""
    options: dict[str, Any] = {
        "cwd": folder, "env": variables, "stdin": stdin, "stdout": stdout, "stderr": stderr, "text": text,
    }  # fmt: skip
    if fresh or not can_fork(variables):
        return subprocess.Popen([sys.executable, "-m", *arguments], **options)
    return ForkedCommand(list(arguments), **options)
