"""Whether a notification reaches LISTEN on the address that workers listen on."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import AsyncExitStack

from penstock.db.connect import connect
from penstock.db.types import Connection

NAME = "penstock doctor"


async def notifications_arrive(listen_url: str, notify_url: str, *, within: float = 5.0) -> bool:
    """Send one from another connection, while a third has a transaction open on the address that listens.

    A transaction pooler gives the backend that ran LISTEN to that transaction, so nothing arrives. Without it
    a quiet pooler would pass: with one client the same backend answers each time.
    """
    channel, arrived = f"penstock_check_{secrets.token_hex(8)}", asyncio.Event()
    try:
        async with asyncio.timeout(within), AsyncExitStack() as lines:
            listening = await _open(lines, listen_url)
            await listening.add_listener(channel, lambda *_: arrived.set())
            busy = await _open(lines, listen_url)
            await lines.enter_async_context(busy.transaction())
            await busy.execute("select 1")
            sender = await _open(lines, notify_url)
            await sender.execute(f"notify {channel}")
            await arrived.wait()
    except TimeoutError:
        return False
    return True


async def _open(lines: AsyncExitStack, url: str) -> Connection:
    line = await connect(url, application_name=NAME, statement_cache_size=0)
    lines.callback(line.terminate)
    return line
