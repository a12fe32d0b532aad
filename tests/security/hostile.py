"""What a taken-over parser would try: an attack raises OSError when it is refused, and returns when not."""

from __future__ import annotations

import array
import ctypes
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.sandbox import GivenFile
from penstock.sandbox.syscalls import number

LIBRARY = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Target:
    """What lies outside: a key, a folder, servers, and the process that started the sandbox."""

    key: str
    folder: str
    parent: int
    port: int
    unix_socket: str
    abstract_socket: str


def attempt(name: str, target: Target) -> str:
    """`escaped` or why not."""
    try:
        ATTACKS[name](target)
    except OSError as error:
        return f"refused: {error.strerror or error}"
    return "escaped"


def call(name: str, *arguments: int) -> int:
    """A call past Python and past the C library's wrappers."""
    answer: int = LIBRARY.syscall(ctypes.c_long(number(name)), *map(ctypes.c_long, arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def _read_by_a_link(target: Target) -> None:
    os.symlink(target.key, "link")
    Path("link").read_bytes()


def _hard_link(target: Target) -> None:
    os.link(target.key, "stolen")


def _read_memory(target: Target) -> None:
    with open(f"/proc/{target.parent}/mem", "rb"):
        pass


def _read_every_environment(target: Target) -> None:
    """Also of processes whose numbers it has to guess."""
    for pid in (target.parent, 1, *range(2, 400)):
        try:
            if b"SECRET" in Path(f"/proc/{pid}/environ").read_bytes():
                return
        except OSError:
            continue
    raise PermissionError("no environment can be read")


def _append(target: Target) -> None:
    with open(target.key, "ab") as file:
        file.write(b"x")


def _connect(family: int, address: object) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as line:
        line.connect(address)  # type: ignore[arg-type]  # one for each family


def _datagram_pair(target: Target) -> None:
    """A pair needs no socket() and can send to any address."""
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", target.unix_socket)


def _reconnect_a_pair(target: Target) -> None:
    one, two = socket.socketpair()
    two.close()
    one.connect(target.unix_socket)


def _inherited(target: Target) -> None:
    """Descriptors beyond its own three and the line its answer goes by."""
    found = []
    for descriptor in range(3, 600):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        found.append(descriptor)
    if len(found) <= 1:
        raise PermissionError(f"only {found}")


def _be_root(target: Target) -> None:
    if os.geteuid() != 0 and os.getuid() != 0:
        raise PermissionError(f"user {os.geteuid()}")


def _become_root(target: Target) -> None:
    os.setuid(0)


def _fork(target: Target) -> None:
    if os.fork() == 0:
        os._exit(0)


def _many_threads(target: Target) -> None:
    """Threads are counted too, where forks are not refused."""
    stop = threading.Event()
    try:
        for _ in range(2_000):
            threading.Thread(target=stop.wait, daemon=True).start()
    except RuntimeError as error:
        raise PermissionError(str(error)) from error
    finally:
        stop.set()


def _other_limits(target: Target) -> None:
    call("prlimit64", target.parent, 7, 0, ctypes.addressof(ctypes.create_string_buffer(16)))


def _read_handle(target: Target) -> None:
    call("open_by_handle_at", -100, ctypes.addressof(ctypes.create_string_buffer(64)), 0)


def _old_file_by_descriptor(target: Target) -> None:
    """Opening without reading is allowed; making more of it must not be."""
    descriptor = os.open(target.key, os.O_PATH)
    os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)


def _memory_outside_of_processes(target: Target) -> None:
    os.memfd_create("kept")


def _shared_memory(target: Target) -> None:
    call("shmget", 0x5EC, 4_096, 0o1777)


ATTACKS: dict[str, Callable[[Target], object]] = {
    "read the key": lambda to: Path(to.key).read_bytes(),
    "read the key by a link": _read_by_a_link,
    "read the key by a descriptor": _old_file_by_descriptor,
    "list the data folder": lambda to: os.listdir(to.folder),
    "read the password file": lambda _: Path("/etc/passwd").read_bytes(),
    "hard-link the key": _hard_link,
    "read its parent's environment": lambda to: Path(f"/proc/{to.parent}/environ").read_bytes(),
    "read any environment": _read_every_environment,
    "read its parent's memory": _read_memory,
    "write outside": lambda to: Path(to.folder, "made").write_bytes(b"x"),
    "append to the key": _append,
    "truncate the key": lambda to: os.truncate(to.key, 0),
    "remove the key": lambda to: os.unlink(to.key),
    "rename the key": lambda to: os.rename(to.key, to.key + "2"),
    "make a folder outside": lambda to: os.mkdir(os.path.join(to.folder, "made")),
    "link from outside": lambda to: os.symlink("x", os.path.join(to.folder, "made")),
    "chmod outside": lambda to: os.chmod(to.key, 0o666),  # noqa: S103  # refused
    "chown outside": lambda to: os.chown(to.key, os.getuid(), os.getgid()),
    "touch outside": lambda to: os.utime(to.key, (1, 1)),
    "set an attribute outside": lambda to: os.setxattr(to.key, "user.x", b"x"),
    "connect by Unix socket": lambda to: _connect(socket.AF_UNIX, to.unix_socket),
    "connect by abstract socket": lambda to: _connect(socket.AF_UNIX, "\0" + to.abstract_socket),
    "connect by TCP": lambda to: _connect(socket.AF_INET, ("127.0.0.1", to.port)),
    "open UDP": lambda _: call("socket", socket.AF_INET, socket.SOCK_DGRAM, 0),
    "open netlink": lambda _: call("socket", 16, socket.SOCK_RAW, 0),
    "open packets": lambda _: call("socket", 17, socket.SOCK_RAW, 0),
    "send by a pair of datagrams": _datagram_pair,
    "connect a pair again": _reconnect_a_pair,
    "set up io_uring": lambda _: call(
        "io_uring_setup", 4, ctypes.addressof(ctypes.create_string_buffer(120))
    ),
    "trace its parent": lambda to: call("ptrace", 16, to.parent, 0, 0),
    "trace process 1": lambda _: call("ptrace", 16, 1, 0, 0),
    "read another process": lambda to: call("process_vm_readv", to.parent, 0, 0, 0, 0, 0),
    "signal its parent": lambda to: os.kill(to.parent, 0),
    "signal everybody": lambda _: os.kill(-1, 0),
    "signal its group": lambda _: os.kill(0, 0),
    "signal by thread": lambda to: call("tgkill", to.parent, to.parent, 0),
    "change its parent's limits": _other_limits,
    "make namespaces": lambda _: call("unshare", 0x10000000),
    "mount": lambda _: call("mount", 0, 0, 0, 0, 0),
    "use keys": lambda _: call("keyctl", 0, -3, 0, 0, 0),
    "load BPF": lambda _: call("bpf", 0, ctypes.addressof(ctypes.create_string_buffer(128)), 48),
    "open by handle": _read_handle,
    "start a process": _fork,
    "run a program": lambda _: os.execv("/bin/true", ["true"]),  # noqa: S606  # refused
    "use a new call": lambda _: call("clone3", ctypes.addressof(ctypes.create_string_buffer(88)), 88),
    "keep memory outside": _memory_outside_of_processes,
    "keep memory for the next": _shared_memory,
    "inherit descriptors": _inherited,
    "be root": _be_root,
    "become root": _become_root,
    "start threads without end": _many_threads,
}


def speak_raw(kind: int, length: int, body: str) -> None:
    """Write an answer past the sandbox's own writer, then wait to be ended."""
    for descriptor in range(3, 64):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        os.write(descriptor, kind.to_bytes(1, "big") + length.to_bytes(4, "big") + body.encode())
    time.sleep(1_000)


def answer_deeply(depth: int) -> dict[str, object]:
    """The types it declares are not what it sends."""
    body = "[" * depth + "]" * depth
    speak_raw(1, len(body), body)
    raise AssertionError


def answer_wrongly() -> dict[str, int]:
    body = '{"a": "no number"}'
    speak_raw(1, len(body), body)
    raise AssertionError


def claim_length(length: int) -> str:
    speak_raw(1, length, "x")
    raise AssertionError


def answer_twice(text: str) -> str:
    """A second answer, for the call after this one."""
    body = b'"from the call before"'
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, (1).to_bytes(1, "big") + len(text.encode()).to_bytes(4, "big"))
            os.write(descriptor, text.encode() + (1).to_bytes(1, "big") + len(body).to_bytes(4, "big") + body)
        except OSError:
            continue
    os._exit(0)


def send_a_descriptor() -> str:
    """Hand a descriptor to the parent beside the answer."""
    for descriptor in range(3, 64):
        try:
            with socket.socket(fileno=os.dup(descriptor)) as line:
                sent = array.array("i", [0] * 200)
                line.sendmsg([b""], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sent)])
        except OSError:
            continue
    return "sent"


def leave_a_note(text: str) -> None:
    """In every place a later call might look."""
    Path("note").write_text(text)
    globals()["NOTE"] = text
    os.environ["NOTE"] = text


def look_for_notes() -> list[str]:
    """What an earlier call left."""
    found = [str(globals().get("NOTE", "")), os.environ.get("NOTE", "")]
    found += [str(path) for path in Path().rglob("*")]
    for place in ("..", "../0", "../1"):
        try:
            found += os.listdir(place)
        except OSError:
            continue
    return [one for one in found if one]


def double_fork(flag: str) -> str:
    """Leave a process in a session of its own that keeps writing."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                Path(flag).write_text(str(time.monotonic()))
                time.sleep(0.01)
        os._exit(0)
    while not os.path.exists(flag):
        time.sleep(0.01)
    return "left"


def fork_bomb() -> None:
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)


def read_given(file: GivenFile, other: str) -> list[str]:
    """The file by its path, and one beside it by its name."""
    try:
        beside = Path(other).read_text()
    except OSError:
        beside = "no"
    return [Path(file.path).read_text(), beside]


def leave_deep_folders(outside: str) -> None:
    """Closed folders, folders deeper than Python recurses, and links to what is not its own."""
    os.symlink(outside, "link")
    os.umask(0o777)
    os.mkdir("closed")
    os.umask(0o077)
    for _ in range(1_500):
        os.mkdir("d")
        os.chdir("d")
