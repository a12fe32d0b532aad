"""A measured process: `python -m bench.child <system> <workload.role> <json>` prints its figures as JSON."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
from collections.abc import Awaitable, Callable

from bench.job import Figures, Job
from bench.systems import System, load

Role = Callable[[System, Job], Awaitable[Figures]]


def announce_ready() -> None:
    print(json.dumps({"ready": 1}), flush=True)


def stop_when_parent_hangs_up(stop: asyncio.Event) -> None:
    """The parent ends a serving child by closing its standard input, and so does the parent's death."""
    loop = asyncio.get_running_loop()

    def hang_up() -> None:
        if not os.read(sys.stdin.fileno(), 1):
            loop.remove_reader(sys.stdin)
            stop.set()

    loop.add_reader(sys.stdin, hang_up)


def main(system_name: str, role_name: str, text: str) -> None:
    job = Job.parse(text)
    system = load(system_name, job.settings)
    workload, _, function = role_name.partition(".")
    role: Role = getattr(importlib.import_module(f"bench.workloads.{workload}"), function)

    async def run() -> Figures:
        return await role(system, job)

    if system.settings["loop"] == "uvloop":
        import uvloop

        figures = uvloop.run(run())
    else:
        figures = asyncio.run(run())
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
