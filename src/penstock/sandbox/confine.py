"""What a child gives up before it works: other limits, core dumps, the network, outliving its parent."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import socket
import struct
import sys
from typing import NoReturn

from penstock.sandbox.frames import MEGABYTE

OPEN_FILES = 512
GIVEN_WAY = 10
"""Steps of niceness: about a tenth of the share of a process that has none."""

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
# Per machine: its audit architecture and its numbers of socket() and io_uring_setup().
_SYSCALLS = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}


def die_with(parent: int) -> None:
    """Be killed when the parent dies, even in the middle of native code."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0)
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


def give_way() -> None:
    """Let whoever answers requests have the processor first; nothing is lost while nobody asks."""
    os.nice(GIVEN_WAY)


def limit_process() -> None:
    """No core dumps, few open files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def limit_memory(memory_mb: int) -> None:
    """The kernel's own limit, a quarter above the one the parent watches, for what grows too fast.

    RLIMIT_DATA counts what is written to; RLIMIT_AS would also count the gigabytes that thread pools and
    allocators only reserve, and refuse a harmless child.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = memory_mb * MEGABYTE * 5 // 4
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def limit_files(file_mb: int) -> None:
    """The size of any file it writes, from now on; beyond it a write fails with EFBIG."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    wanted = file_mb * MEGABYTE
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )


def leave_network() -> None:
    """Refuse every socket but those within this machine's files.

    The kernel refuses native code too where it can filter; elsewhere Python code at least meets a guard.
    """
    if sys.platform == "linux" and platform.machine() in _SYSCALLS:
        _refuse_sockets(*_SYSCALLS[platform.machine()])
    else:
        socket.socket.connect = _refused  # type: ignore[method-assign]  # a guard, on purpose
        socket.getaddrinfo = _refused


def _refused(*_args: object, **_named: object) -> NoReturn:
    raise PermissionError("the sandbox has no network")


def _refuse_sockets(architecture: int, socket_call: int, ring_call: int) -> None:
    """Install a seccomp filter: EACCES for socket() of a family other than AF_UNIX, and for io_uring."""
    load, jump_equal, jump_at_least, answer = 0x20, 0x15, 0x35, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | 13
    steps = (
        (load, 0, 0, 4),  # the architecture
        (jump_equal, 1, 0, architecture),
        (answer, 0, 0, refuse),  # another architecture has other numbers
        (load, 0, 0, 0),  # the call's number
        (jump_at_least, 4, 0, 0x40000000),  # the x32 twins of the calls
        (jump_equal, 3, 0, ring_call),
        (jump_equal, 0, 3, socket_call),
        (load, 0, 0, 16),  # socket()'s first argument
        (jump_equal, 1, 0, socket.AF_UNIX),
        (answer, 0, 0, refuse),
        (answer, 0, 0, allow),
    )
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(held)))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, 0)
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(header))


def _prctl(option: int, value: int, pointer: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(pointer), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option} failed")
