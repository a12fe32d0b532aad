"""Users and namespaces: a child sees no other process and has no network and no privileges."""

from __future__ import annotations

import ctypes
import os
import pwd
import struct
from pathlib import Path

from penstock.sandbox.syscalls import call, prctl

_NEW_USERS, _NEW_PROCESSES = 0x10000000, 0x20000000
_NEW_NETWORK, _NEW_IPC, _NEW_NAMES = 0x40000000, 0x08000000, 0x04000000
_CAPABILITIES_VERSION = 0x20080522
_DROP_FROM_BOUNDING_SET = 24
_LAST_CAPABILITY = 63
_SET_DUMPABLE, _KEEP_CAPABILITIES = 4, 8
_READ_ANY_FILE = 2


def enter() -> None:
    """New processes, network, IPC and host name for this process's next child; users too without root."""
    parts = _NEW_PROCESSES | _NEW_NETWORK | _NEW_IPC | _NEW_NAMES
    if os.geteuid() == 0:
        call("unshare", parts)
    else:
        _new_users(parts)


def count_alone() -> None:
    """Users of its own, so that the limit of processes counts this call's only."""
    _new_users(0)


def _new_users(parts: int) -> None:
    user, group = os.geteuid(), os.getegid()
    call("unshare", _NEW_USERS | parts)
    prctl(_SET_DUMPABLE, 1)  # a change of user took away who may write these
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def nobody() -> tuple[int, int]:
    """The user and group `nobody`."""
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return 65_534, 65_534
    return entry.pw_uid, entry.pw_gid


def become(user: int, group: int, *, keeps_reading: bool) -> None:
    """Be another user for good. Where the interpreter lies in a folder of root's, the right to read any file
    stays; then Landlock alone decides which."""
    os.setgroups([])
    os.setresgid(group, group, group)
    if keeps_reading:
        prctl(_KEEP_CAPABILITIES, 1)
    os.setresuid(user, user, user)
    if keeps_reading:
        _set_capabilities(1 << _READ_ANY_FILE)


def drop_capabilities(*, keeps_reading: bool) -> None:
    """Drop every capability, including those of its own namespace."""
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            prctl(_DROP_FROM_BOUNDING_SET, capability)
        except OSError:
            break  # past the last, or not ours to drop
    _set_capabilities(1 << _READ_ANY_FILE if keeps_reading else 0)


def _set_capabilities(kept: int) -> None:
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), 8)
    sets = ctypes.create_string_buffer(struct.pack("=IIIIII", kept, kept, 0, 0, 0, 0), 24)
    call("capset", ctypes.addressof(header), ctypes.addressof(sets))


def reachable_by_others(path: str) -> bool:
    """Whether an unprivileged user can reach and read the folder."""
    folder = Path(path).resolve()
    try:
        return bool(folder.stat().st_mode & 0o005 == 0o005) and all(
            above.stat().st_mode & 0o001 for above in folder.parents
        )
    except OSError:
        return False
