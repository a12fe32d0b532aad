"""An app whose tasks block the event loop in every way, for worker processes that are to notice."""

from __future__ import annotations

import asyncio
import re
import time

from penstock import Penstock, Table

app = Penstock()


@app.task("sleeps", queue="stall", retry=Table((0, 0, 0)))
async def sleeps(payload: dict[str, int]) -> None:
    time.sleep(600)  # noqa: ASYNC251  # the point of it


@app.task("spins", queue="stall", retry=Table((0, 0, 0)))
async def spins(payload: dict[str, int]) -> None:
    while True:
        pass


@app.task("matches", queue="stall", retry=Table((0, 0, 0)))
async def matches(payload: dict[str, int]) -> None:
    """Native code that does not let go of the interpreter's lock."""
    re.match(r"(?:x+x+)+y", "x" * 60)


@app.task("waits", queue="stall", retry=Table((0, 0, 0)))
async def waits(payload: dict[str, float]) -> None:
    await asyncio.sleep(payload.get("seconds", 0.0))
