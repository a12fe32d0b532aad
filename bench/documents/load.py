"""What processes cost: processor seconds of a tree, and its memory."""

from __future__ import annotations

import dataclasses
import os

import psutil

from bench.documents.place import Place

MEBIBYTE = 2**20


@dataclasses.dataclass(frozen=True, slots=True)
class Cpu:
    """Processor seconds so far: this process, its children (parsers and models), and the database server."""

    own: float
    children: float
    server: float

    def since(self, earlier: Cpu) -> Cpu:
        return Cpu(self.own - earlier.own, self.children - earlier.children, self.server - earlier.server)

    @property
    def total(self) -> float:
        return self.own + self.children + self.server


def cpu(place: Place) -> Cpu:
    times = psutil.Process().cpu_times()
    own = times.user + times.system
    server = tree_seconds(place.server_pid) if place.server_pid else 0.0
    return Cpu(own, tree_seconds(os.getpid()) - own, server)


def tree_seconds(pid: int) -> float:
    """A child that ended stays counted: its parent has its time."""
    seconds = 0.0
    for process in _tree(pid):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def memory(pid: int) -> tuple[int, int]:
    """Resident bytes of a process, and of it with all its descendants."""
    sizes = []
    for process in _tree(pid):
        try:
            sizes.append(process.memory_info().rss)
        except psutil.NoSuchProcess:
            sizes.append(0)
    return sizes[0], sum(sizes)


def _tree(pid: int) -> list[psutil.Process]:
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]
