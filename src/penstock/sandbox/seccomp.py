"""A seccomp filter: which system calls the kernel rejects for the rest of a process's life."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Iterator

from penstock.sandbox.syscalls import ARCHITECTURES, LINUX, MACHINE, NEWEST, number, prctl

_SET_SECCOMP, _NO_NEW_PRIVS, _FILTER = 22, 38, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW = 0x7FFF0000
_ARGUMENT = 16, 24, 32
"""Offsets of the lower halves of a call's first arguments."""

_NETWORK = "socket connect bind listen accept accept4"
_RINGS = "io_uring_setup io_uring_enter io_uring_register"
_OTHER_PROCESSES = """ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp
    pidfd_open pidfd_getfd pidfd_send_signal tkill rt_sigqueueinfo rt_tgsigqueueinfo setpriority ioprio_set
    migrate_pages move_pages sched_setscheduler sched_setparam sched_setattr sched_setaffinity"""
_NEW_PROCESSES = "fork vfork execve execveat"
_KERNEL = """keyctl add_key request_key bpf perf_event_open userfaultfd personality syslog modify_ldt iopl
    ioperm init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct
    quotactl quotactl_fd settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname vhangup
    uselib fanotify_init"""
_MOUNTS = """mount umount2 pivot_root chroot fsopen fsmount fsconfig fspick move_mount open_tree
    open_tree_attr mount_setattr unshare setns open_by_handle_at name_to_handle_at"""
# Landlock does not check these: they change a file by name, without opening it.
_ATTRIBUTES = """chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat
    utimensat setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
    file_setattr mknod mknodat"""
# Memory objects that no parser needs, and what outlives a process.
_SHARED = "memfd_create memfd_secret shmget shmat msgget semget mq_open"
REFUSED = " ".join(
    (_NETWORK, _RINGS, _OTHER_PROCESSES, _NEW_PROCESSES, _KERNEL, _MOUNTS, _ATTRIBUTES, _SHARED)
).split()

_CLONE_THREAD = 0x10000
_SET_OWNER, _SET_SIGNAL, _SET_OWNER_EX = 8, 10, 15
_FAKE_INPUT, _CONSOLE, _SOCKET_OWNER, _SOCKET_GROUP = 0x5412, 0x541C, 0x8901, 0x8902

Step = tuple[int, int, int, int]


def known_here() -> bool:
    """Whether this machine's system calls are known; otherwise there is no filter."""
    return LINUX and MACHINE in ARCHITECTURES


def refuse_calls(*, truncate: bool) -> None:
    """Install the filter in this process; `truncate` is rejected too if Landlock does not cover it."""
    steps = list(_program(truncate=truncate))
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(held)))
    prctl(_NO_NEW_PRIVS, 1)
    prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(header))


def _program(*, truncate: bool) -> Iterator[Step]:
    refused = (_ANSWER, 0, 0, _error(errno.EACCES))
    missing = (_ANSWER, 0, 0, _error(errno.ENOSYS))
    yield (_LOAD, 0, 0, 4)
    yield (_EQUAL, 1, 0, ARCHITECTURES[MACHINE])
    yield refused  # another architecture has other numbers
    yield (_LOAD, 0, 0, 0)
    yield (_AT_LEAST, 0, 1, NEWEST + 1)  # also the x32 twins of the calls
    yield missing
    for name in REFUSED + (["truncate"] if truncate else []):
        if number(name) >= 0:
            yield (_EQUAL, 0, 1, number(name))
            yield refused
    yield (_EQUAL, 0, 1, number("clone3"))  # a filter cannot see its flags; libraries fall back to clone
    yield missing
    own = os.getpid()
    yield from _only_if("clone", [(_LOAD, 0, 0, _ARGUMENT[0]), (_ANY_BIT, 0, 1, _CLONE_THREAD)])
    yield from _only_if("kill", [(_LOAD, 0, 0, _ARGUMENT[0]), (_EQUAL, 0, 1, own)])
    yield from _only_if("tgkill", [(_LOAD, 0, 0, _ARGUMENT[0]), (_EQUAL, 0, 1, own)])
    yield from _only_if("prlimit64", [(_LOAD, 0, 0, _ARGUMENT[0]), (_EQUAL, 1, 0, 0), (_EQUAL, 0, 1, own)])
    # An event loop needs a connected socket pair; a datagram pair could send to any address.
    yield from _only_if(
        "socketpair",
        [
            (_LOAD, 0, 0, _ARGUMENT[0]),
            (_EQUAL, 0, 4, socket.AF_UNIX),
            (_LOAD, 0, 0, _ARGUMENT[1]),
            (_AND, 0, 0, 0xF),
            (_EQUAL, 0, 1, socket.SOCK_STREAM),
        ],
    )
    yield from _unless("fcntl", (_SET_OWNER, _SET_SIGNAL, _SET_OWNER_EX))
    yield from _unless("ioctl", (_FAKE_INPUT, _CONSOLE, _SOCKET_OWNER, _SOCKET_GROUP))
    yield (_ANSWER, 0, 0, _ALLOW)


def _only_if(name: str, tests: list[Step]) -> Iterator[Step]:
    """Allow the call if the tests fall through to the step after them; reject it otherwise."""
    yield (_EQUAL, 0, len(tests) + 2, number(name))
    yield from tests
    yield (_ANSWER, 0, 0, _ALLOW)
    yield (_ANSWER, 0, 0, _error(errno.EACCES))


def _unless(name: str, commands: tuple[int, ...]) -> Iterator[Step]:
    """Reject the call if its second argument is one of the commands."""
    yield (_EQUAL, 0, len(commands) + 3, number(name))
    yield (_LOAD, 0, 0, _ARGUMENT[1])
    for at, command in enumerate(commands):
        yield (_EQUAL, len(commands) - at, 0, command)
    yield (_ANSWER, 0, 0, _ALLOW)
    yield (_ANSWER, 0, 0, _error(errno.EACCES))


def _error(code: int) -> int:
    return 0x00050000 | code
