"""A child process with the simulated providers and an empty mailbox; mails arrive over /_control."""

from __future__ import annotations

import asyncio
import json
import signal

import uvloop

from penstock.simulators.providers import serving_providers


async def serve() -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with serving_providers(contacts=3, mails=0, threads=0) as simulators:
        simulators.outlook.oauth.auto_consent = True
        told = {"url": simulators.url, "environment": simulators.environment()}
        print(json.dumps(told), flush=True)
        await stopped.wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve())
