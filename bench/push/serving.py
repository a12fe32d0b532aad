"""A child process: the API that receives notifications, or the worker that syncs. It ends with its stdin."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import uvloop

from bench.documents.place import Place
from bench.push.busy_mailbox import BusyMailbox
from bench.sources.fixture_embedders import FixtureEmbedders
from penstock.api import ConnectionLimits, create_app, listen, server
from penstock.engine.engine import Engine

PUBLIC_URL = "http://penstock.example"


async def until_stdin_ends() -> None:
    await asyncio.to_thread(sys.stdin.read)


def tell(told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


async def api(place: Place) -> None:
    settings = place.settings(public_url=PUBLIC_URL, allow_private_addresses=True)
    async with Engine(settings) as engine:
        with listen("127.0.0.1", 0) as listening:
            running = server(create_app(engine), limits=ConnectionLimits.of(settings))
            serving = asyncio.create_task(running.serve([listening]))
            tell({"url": f"http://127.0.0.1:{listening.getsockname()[1]}", "pid": os.getpid()})
            await until_stdin_ends()
            running.stop()
            await serving


async def work(place: Place) -> None:
    settings = place.settings(allow_private_addresses=True, parse_processes=1)
    async with Engine(settings, providers={"outlook": BusyMailbox()}) as engine:
        engine.embedders = FixtureEmbedders()
        worker = engine.worker()
        await worker.start()
        tell({"worker": True})
        await until_stdin_ends()
        await worker.stop()


def main(role: str, place: str) -> None:
    found = Place(**json.loads(place))
    # As `penstock api` and `penstock worker` run.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(api(found) if role == "api" else work(found))


if __name__ == "__main__":
    main(*sys.argv[1:3])
