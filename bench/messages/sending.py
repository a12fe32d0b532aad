"""The same messages by the whole supervised path, and by loops that only send."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email.message import EmailMessage
from time import perf_counter

import aiosmtplib

from bench.documents.place import Place
from bench.documents.running_engine import admin, make_tenant
from bench.environment import ROOT
from bench.job import Figures
from penstock.db import Connection
from penstock.engine.engine import Engine

PATIENCE_SECONDS = 300
AT_ONCE = 8
"""Kick-offs at the same time."""
LOOK_SECONDS = 0.02
SENDER = "mill@example.org"
TEXT = "The sluice was opened at noon, and the wheel began to turn.\n" * 10
FACTS = "select count(*) from comms.send_email_attempt_succeeded"


@dataclass(frozen=True, slots=True)
class MailServer:
    port: int
    process: asyncio.subprocess.Process

    async def counts(self) -> dict[str, int]:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        return await _line(self.process)


@contextlib.asynccontextmanager
async def mail_server() -> AsyncIterator[MailServer]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.messages.mail_server",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    try:
        yield MailServer((await _line(process))["port"], process)
    finally:
        process.terminate()
        await process.wait()


async def _line(process: asyncio.subprocess.Process) -> dict[str, int]:
    assert process.stdout is not None
    async with asyncio.timeout(30):
        told: dict[str, int] = json.loads(await process.stdout.readline())
    return told


async def bare(messages: int, connections: int) -> Figures:
    """Send and nothing else: no queue, no facts; what is in progress when it dies is lost, or sent again."""
    async with mail_server() as server:
        numbers = iter(range(messages))

        async def send_some() -> None:
            async with aiosmtplib.SMTP(hostname="127.0.0.1", port=server.port, start_tls=False) as smtp:
                for number in numbers:
                    await smtp.send_message(_mail(number))

        started = perf_counter()
        await asyncio.gather(*(send_some() for _ in range(connections)))
        seconds = perf_counter() - started
        counts = await server.counts()
    return {"rate": messages / seconds, "seconds": seconds, "taken": counts["taken"], "facts": 0}


def _mail(number: int) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = SENDER, f"client{number}@example.org", f"Notice {number}"
    mail["Message-ID"] = f"<{number}@example.org>"
    mail.set_content(TEXT)
    return mail


async def supervised(place: Place, messages: int) -> Figures:
    """From the first kick-off until the last success fact, by one worker."""
    async with mail_server() as server:
        settings = place.settings(
            smtp_host="127.0.0.1", smtp_port=server.port, smtp_security="none", smtp_from=SENDER
        )
        async with Engine(settings) as engine, admin(place) as connection:
            tenant_id, _ = await make_tenant(place, settings)
            worker = engine.worker()
            await worker.start()
            try:
                numbers = iter(range(messages))

                async def kick_off_some() -> None:
                    for number in numbers:
                        await engine.messages.send_email(
                            tenant_id,
                            to=[f"client{number}@example.org"],
                            subject=f"Notice {number}",
                            text=TEXT,
                        )

                started = perf_counter()
                await asyncio.gather(*(kick_off_some() for _ in range(AT_ONCE)))
                kicked_off = perf_counter() - started
                await _reached(connection, FACTS, messages)
                seconds = perf_counter() - started
                await _reached(connection, "select 1 - least(1, count(*)) from internal.open_root", 1)
                over = perf_counter() - started
            finally:
                await worker.stop()
            facts = await connection.fetchval(FACTS)
            attempts = await connection.fetchval("select count(*) from comms.send_email_attempt")
        counts = await server.counts()
    return {
        "rate": messages / seconds,
        "seconds": seconds,
        "kick_off_rate": messages / kicked_off,
        "over_seconds": over,
        "facts": facts,
        "attempts": attempts,
        "taken": counts["taken"],
        "distinct": counts["distinct"],
    }


async def _reached(connection: Connection, query: str, wanted: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await connection.fetchval(query) < wanted:  # noqa: ASYNC110  # the worker is no part of us
            await asyncio.sleep(LOOK_SECONDS)
