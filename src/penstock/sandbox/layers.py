"""Which of the kernel's means hold around a call on this machine."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = ("landlock", "seccomp", "namespaces", "users", "unprivileged")


@dataclass(frozen=True, slots=True)
class Layers:
    """What encloses a call. Each is tried when a child starts; from then on no call runs without it."""

    landlock: int = 0
    """The ABI of Landlock, which limits files; 0 is none."""
    seccomp: bool = False
    """Refused calls: sockets, new processes, other processes, attributes of files."""
    namespaces: bool = False
    """Its own processes and network: it sees nobody, and what it starts dies with it."""
    users: bool = False
    """Its own count of threads and processes."""
    unprivileged: bool = True
    """It runs as a user without rights: the worker's own, or nobody's where the worker is root."""

    def without(self, names: tuple[str, ...]) -> Layers:
        """For a kernel that lacks some of them."""
        held = {name: getattr(self, name) for name in NAMES}
        return Layers(**held | {name: type(held[name])() for name in names})
