"""Restrictions of a child: lifetime, core dumps, memory, files, the network, other processes."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

from penstock.sandbox import landlock, namespaces, seccomp
from penstock.sandbox.frames import MEGABYTE
from penstock.sandbox.layers import Layers
from penstock.sandbox.syscalls import LINUX, prctl

OPEN_FILES = 512
THREADS = 256
GIVEN_WAY = 10
"""Niceness of parsers and models: about a tenth of the CPU share of a normal process."""
_SESSION_NICENESS = Path("/proc/self/autogroup")

_SET_PARENT_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SUBREAPER = 1, 4, 36


def die_with(parent: int) -> None:
    """Be killed when the parent dies, even in the middle of native code."""
    die_with_parent()
    if os.getppid() != parent:  # it died before the call
        os._exit(1)


def die_with_parent() -> None:
    """The same for a child that cannot see its parent. A change of user resets it."""
    if LINUX:
        prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of the orphans a call leaves behind."""
    if LINUX:
        prctl(_SET_SUBREAPER, 1)


def hide_memory() -> None:
    """Prevent other processes of this user from inspecting this one."""
    if LINUX:
        prctl(_SET_DUMPABLE, 0)


def give_way(niceness: int = GIVEN_WAY) -> None:
    """Run at low priority, so that request handling goes first."""
    os.nice(max(0, niceness - os.nice(0)))


def stand_back() -> None:
    """For a child: at low priority, and its session as well if its parent has given way."""
    of_parent = os.nice(0)
    give_way()
    if of_parent > 0:
        session_gives_way()


def session_gives_way() -> None:
    """Let a session that this process leads stand back as far as the process does.

    Many Linux kernels share the processors between sessions first; niceness counts only within one.
    """
    if os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):  # this kernel has no such groups
            _SESSION_NICENESS.write_text(str(os.nice(0)))


def limit_process() -> None:
    """No core dumps, few open files."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)


def limit_memory(memory_mb: int) -> None:
    """The kernel's limit, a quarter above the one the parent watches, for memory that grows too fast.

    RLIMIT_DATA counts what is written to; RLIMIT_AS would also count the gigabytes that thread pools and
    allocators only reserve, and reject a harmless child. Memory inherited from the parent does not count.
    """
    _limit(resource.RLIMIT_DATA, _data_bytes() + memory_mb * MEGABYTE * 5 // 4)


def limit_files(file_mb: int) -> None:
    """Limit the size of files it writes; a larger write fails with EFBIG."""
    _limit(resource.RLIMIT_FSIZE, file_mb * MEGABYTE)


def enclose(
    layers: Layers,
    *,
    read: tuple[str, ...],
    folder: str,
    descriptors: tuple[int, ...],
    user: tuple[int, int] | None,
    keeps_reading: bool,
) -> None:
    """Apply every layer to this process; OSError if one fails."""
    if user is not None:
        namespaces.become(*user, keeps_reading=keeps_reading)
    if layers.users:
        namespaces.count_alone()
        _limit(resource.RLIMIT_NPROC, THREADS)
    if LINUX:
        namespaces.drop_capabilities(keeps_reading=keeps_reading and user is not None)
    hide_memory()
    die_with_parent()
    if layers.landlock:
        landlock.restrict(layers.landlock, read, folder, descriptors)
    if layers.seccomp:
        seccomp.refuse_calls(truncate=layers.landlock < 3)
    else:
        socket.socket.connect = _refused  # type: ignore[method-assign]  # protects against Python code at least
        socket.getaddrinfo = _refused


def counts_per_namespace() -> bool:
    """Since Linux 5.14 the process limit counts per user namespace, before that per user."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)) or 0)) >= (5, 14)


def _limit(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (most, most))


def _data_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[5]) * resource.getpagesize()
    except OSError:
        return 0


def _refused(*_args: object, **_named: object) -> NoReturn:
    raise PermissionError("the sandbox has no network")


assert sys.platform != "win32"  # the limits above are Unix's
