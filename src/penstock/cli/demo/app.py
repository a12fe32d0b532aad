"""The app of `penstock demo`: tasks that take a moment, tasks that fail once, tasks that always fail."""

from __future__ import annotations

import asyncio
from typing import Any

from penstock.engine.penstock import Penstock
from penstock.model import Table
from penstock.settings import Settings
from penstock.worker import Context

QUEUE = "demo"
WORK_SECONDS = 0.005


class ServiceUnavailable(Exception):
    """What a remote service raises the first time."""


class DocumentUnreadable(Exception):
    """An error that no retry fixes."""


def app(settings: Settings | None = None) -> Penstock:
    """A new app; `penstock worker --app penstock.cli.demo.app:app` calls this."""
    demo = Penstock(settings)

    @demo.task("demo.document", queue=QUEUE)
    async def document(payload: dict[str, Any]) -> None:
        await asyncio.sleep(WORK_SECONDS)

    @demo.task("demo.urgent", queue=QUEUE, priority=1)
    async def urgent(payload: dict[str, Any]) -> None:
        await asyncio.sleep(WORK_SECONDS)

    @demo.task("demo.flaky", queue=QUEUE, retry=Table((0.0, 0.5, 1.0)))
    async def flaky(payload: dict[str, Any], ctx: Context) -> None:
        await asyncio.sleep(WORK_SECONDS)
        if ctx.attempt == 1:
            raise ServiceUnavailable("503, come back later")

    @demo.task("demo.broken", queue=QUEUE, retry=Table((0.0, 0.5)))
    async def broken(payload: dict[str, Any]) -> None:
        raise DocumentUnreadable("not a PDF, despite its name")

    return demo
