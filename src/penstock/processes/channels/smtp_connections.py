"""A pool of connections to the mail server, each used for one mail at a time."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import aiosmtplib

from penstock.errors import SettingInvalid
from penstock.settings import Settings

IDLE_SECONDS: Final = 30.0
"""Servers close idle connections; one that was idle for longer is not reused."""
GOODBYE_SECONDS: Final = 2.0


class SmtpConnections:
    """At most PENSTOCK_SMTP_CONNECTIONS; one that broke, or whose mail failed, is replaced."""

    def __init__(self, settings: Settings, *, timeout: float) -> None:
        self._settings = settings
        self._timeout = timeout
        self._tls = _tls_context(settings)
        self._turns = asyncio.Semaphore(settings.smtp_connections)
        self._idle: list[tuple[aiosmtplib.SMTP, float]] = []
        self._own_name: str | None = None
        self.opened = 0
        """How many were opened so far."""

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[aiosmtplib.SMTP]:
        async with self._turns:
            smtp = await self._kept() or await self._new()
            try:
                yield smtp
            except BaseException:
                smtp.close()  # the server's state is unknown
                raise
            self._idle.append((smtp, time.monotonic()))

    async def close(self) -> None:
        """Close idle connections; mails being sent finish on their own."""
        idle, self._idle = self._idle, []
        for smtp, _ in idle:
            with suppress(aiosmtplib.SMTPException, OSError):
                await smtp.quit(timeout=GOODBYE_SECONDS)
            smtp.close()

    async def _kept(self) -> aiosmtplib.SMTP | None:
        """An idle connection that still responds, with its state reset."""
        while self._idle:
            smtp, since = self._idle.pop()
            try:
                if smtp.is_connected and time.monotonic() - since < IDLE_SECONDS:
                    await smtp.rset(timeout=GOODBYE_SECONDS)
                    return smtp
            except (aiosmtplib.SMTPException, OSError):
                pass  # the server closed it meanwhile
            except BaseException:
                smtp.close()
                raise
            smtp.close()
        return None

    async def _new(self) -> aiosmtplib.SMTP:
        settings = self._settings
        if self._own_name is None:
            self._own_name = await asyncio.to_thread(_own_name)
        smtp = aiosmtplib.SMTP(
            hostname=settings.smtp_host,
            port=settings.smtp_port,
            username=settings.smtp_username,
            password=settings.smtp_password if settings.smtp_username is not None else None,
            local_hostname=self._own_name,
            timeout=self._timeout,
            use_tls=settings.smtp_security == "tls",
            start_tls=settings.smtp_security == "starttls",
            tls_context=self._tls,
        )
        await smtp.connect()
        self.opened += 1
        return smtp


def _tls_context(settings: Settings) -> ssl.SSLContext | None:
    if settings.smtp_host is None or settings.smtp_security == "none":
        return None
    context = ssl.create_default_context()
    if settings.smtp_ca_file is not None:
        try:
            context.load_verify_locations(cafile=settings.smtp_ca_file)
        except OSError as unusable:  # ssl.SSLError is one
            raise SettingInvalid("PENSTOCK_SMTP_CA_FILE", str(unusable)) from unusable
    return context


def _own_name() -> str:
    """Our host name for EHLO; looked up once, because DNS may take seconds."""
    name = socket.getfqdn()
    return name if name.isascii() and "." in name else "[127.0.0.1]"
