"""A measured process: `python -m bench.documents.child module.function <json>` prints its figures as JSON."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Awaitable, Callable

import uvloop

from bench.documents.place import Job
from bench.job import Figures

Role = Callable[[Job], Awaitable[Figures]]


def main(role_name: str, text: str) -> None:
    module, _, function = role_name.rpartition(".")
    role: Role = getattr(importlib.import_module(f"bench.documents.{module}"), function)

    async def run() -> Figures:
        return await role(Job.parse(text))

    print(json.dumps(uvloop.run(run())), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
