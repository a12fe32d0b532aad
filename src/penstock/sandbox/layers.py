"""Which kernel mechanisms confine a call on this machine."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = ("landlock", "seccomp", "namespaces", "users", "unprivileged")


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of confinement. Each is tested when a child starts; after that no call runs without it."""

    landlock: int = 0
    """The ABI of Landlock, which limits files; 0 is none."""
    seccomp: bool = False
    """Rejected system calls: sockets, new processes, other processes, file attributes."""
    namespaces: bool = False
    """Its own process and network namespaces: it sees no other process, and its children die with it."""
    users: bool = False
    """Its own count of threads and processes."""
    unprivileged: bool = True
    """It runs without privileges: as the worker's user, or as `nobody` if the worker is root."""

    def without(self, names: tuple[str, ...]) -> Layers:
        """For a kernel that lacks some of them."""
        held = {name: getattr(self, name) for name in NAMES}
        return Layers(**held | {name: type(held[name])() for name in names})
