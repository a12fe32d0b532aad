"""Waits for a provider's redirect in this process, if no API answers at the public address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from penstock.cli.failures import warn
from penstock.errors import InvalidArgument

if TYPE_CHECKING:
    from penstock.engine.services import Services

ASK_SECONDS: Final = 3.0
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@asynccontextmanager
async def callback_served(services: Services, *, follows: bool) -> AsyncIterator[None]:
    """While the block runs, somebody answers at /oauth/callback of the public address.

    `follows`: the block ends with the first sync, so the page that shows it can be loaded again until then.
    """
    url = services.settings.api_url
    if await _answers(url):
        yield
        return
    parts = urlsplit(url)
    if parts.hostname not in LOOPBACK or parts.scheme != "http" or parts.path not in ("", "/"):
        raise InvalidArgument(
            f"no API answers at {url}, where the provider sends the browser back to",
            "PENSTOCK_PUBLIC_URL",
            "Start the API there (penstock up), or correct PENSTOCK_PUBLIC_URL",
        )
    from penstock.api import listen, server
    from penstock.api.connect_pages import pages_app

    host = "::1" if parts.hostname == "::1" else "127.0.0.1"
    try:
        listening = listen(host, parts.port or 80)
    except OSError as error:
        raise InvalidArgument(
            f"cannot wait for the browser at {url}: {error.strerror}",
            "PENSTOCK_PUBLIC_URL",
            "Start the API there (penstock up), or choose another port",
        ) from None
    running = server(pages_app(services, follows=follows), grace_seconds=1)
    with listening:
        serving = asyncio.create_task(running.serve([listening]))
        warn(f"No API answers at {url}, so this command waits for the browser itself.")
        try:
            yield
        finally:
            running.stop()
            await serving


async def _answers(url: str) -> bool:
    """Whether an API is there; its address is the operator's own, so it may be private."""
    import httpx2

    from penstock.net.outbound import open_client

    async with open_client(allow_private=True, total_seconds=ASK_SECONDS) as client:
        try:
            return (await client.get(f"{url}/healthz")).status_code == 200
        except httpx2.HTTPError:
            return False
