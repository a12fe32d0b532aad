"""Landlock: restricts which files a process may reach, irrevocably."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from penstock.sandbox.syscalls import call, prctl

_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_SOCK, _MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_NEVER = _EXECUTE | _MAKE_CHAR | _MAKE_SOCK | _MAKE_BLOCK | _IOCTL_DEV
_TCP = 0b11
_SIGNALS_AND_ABSTRACT_SOCKETS = 0b11

_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


def version() -> int:
    """The kernel's Landlock ABI; 0 if unsupported or disabled."""
    try:
        return call("landlock_create_ruleset", 0, 0, _VERSION)
    except OSError:
        return 0


def restrict(abi: int, read: Iterable[str], write: str, descriptors: Iterable[int]) -> None:
    """From now on: read what lies beneath `read`, do anything but execute beneath `write`, and reopen the
    files of `descriptors` for reading. TCP, signals and abstract sockets go where the ABI has them."""
    handled = _FIRST
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        handled |= right if abi >= since else 0
    fields = [handled]
    if abi >= 4:
        fields.append(_TCP)
    if abi >= 6:
        fields.append(_SIGNALS_AND_ABSTRACT_SOCKETS)
    attributes = ctypes.create_string_buffer(struct.pack(f"={len(fields)}Q", *fields), 8 * len(fields))
    ruleset = call("landlock_create_ruleset", ctypes.addressof(attributes), len(attributes), 0)
    try:
        for path in read:
            _allow_path(ruleset, path, (_READ_FILE | _READ_DIR) & handled)
        for path in _DEVICES:
            _allow_path(ruleset, path, (_READ_FILE | _WRITE_FILE) & handled)
        _allow_path(ruleset, write, handled & ~_NEVER)
        for descriptor in descriptors:
            _allow(ruleset, descriptor, _READ_FILE)
        prctl(_NO_NEW_PRIVS, 1)
        call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow_path(ruleset: int, path: str, access: int) -> None:
    with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            _allow(ruleset, descriptor, access)
        finally:
            os.close(descriptor)


def _allow(ruleset: int, descriptor: int, access: int) -> None:
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        access &= _OF_A_FILE
    attributes = ctypes.create_string_buffer(struct.pack("=Qi", access, descriptor), 12)
    call("landlock_add_rule", ruleset, _PATH_BENEATH, ctypes.addressof(attributes), 0)


def readable_folders(paths: Iterable[str]) -> tuple[str, ...]:
    """Those that exist, without those inside another one."""
    kept: list[Path] = []
    for path in sorted({Path(one).resolve() for one in paths if one and os.path.exists(one)}):
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return tuple(map(str, kept))
