"""A child process with the simulated providers: `python -m bench.sources.providers CONTACTS`."""

from __future__ import annotations

import asyncio
import json
import sys

from bench.child import stop_when_parent_hangs_up
from penstock.simulators.providers import serving_providers


async def serve(contacts: int) -> None:
    stop = asyncio.Event()
    stop_when_parent_hangs_up(stop)
    async with serving_providers(contacts=contacts, companies=contacts // 50, deals=1) as simulators:
        simulators.hubspot.oauth.auto_consent = True
        access, _ = simulators.issue_tokens("hubspot")
        told = {"settings": simulators.settings(), "access": access}
        print(json.dumps(told, default=str), flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
