"""Sends email by SMTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import aiosmtplib

from penstock.processes.channels.channel import ProviderFailed, read_request
from penstock.processes.channels.email_message import EmailRequest, OutgoingMail, compose, refused
from penstock.processes.channels.names import ChannelName
from penstock.processes.channels.smtp_connections import SmtpConnections
from penstock.queue.task_run import TaskRun
from penstock.settings import Settings

PROVIDER: Final = ChannelName.EMAIL.value
ANSWER_SECONDS: Final = 60.0
LATER: Final = "Penstock retries automatically; if this persists, check the mail server and PENSTOCK_SMTP_*"
NEVER: Final = "Read the server's message, correct the email or PENSTOCK_SMTP_*, and send it again"


class EmailChannel:
    """A 5xx reply (also to the login) is final; 4xx, timeouts and lost connections are retried.

    If some recipients are rejected, the others get the mail, and the attempt fails for good: a retry would
    send it to those a second time, and success would hide that some did not get it.
    """

    def __init__(self, settings: Settings, *, timeout: float = ANSWER_SECONDS) -> None:
        self._settings = settings
        self.connections = SmtpConnections(settings, timeout=timeout)

    async def call(self, request: Mapping[str, Any], run: TaskRun) -> Mapping[str, Any]:
        settings = self._settings
        if settings.smtp_host is None:
            raise ProviderFailed(
                PROVIDER, "no mail server is configured", "Set PENSTOCK_SMTP_HOST", retriable=True
            )
        wanted = read_request(PROVIDER, EmailRequest, request)
        if not (wanted.from_address or settings.smtp_from):
            raise ProviderFailed(
                PROVIDER, "the message has no sender", "Set PENSTOCK_SMTP_FROM", retriable=True
            )
        if wanted.attachments or wanted.is_large():
            mail = await asyncio.to_thread(compose, wanted, settings.smtp_from)
        else:
            mail = compose(wanted, settings.smtp_from)
        return {"message_id": wanted.message_id, "response": f"250 {await self._send(mail)}"}

    async def close(self) -> None:
        await self.connections.close()

    async def _send(self, mail: OutgoingMail) -> str:
        try:
            async with self.connections.lend() as smtp:
                missed, answer = await smtp.sendmail(
                    mail.sender,
                    mail.recipients,
                    mail.content,
                    mail_options=["SMTPUTF8", "BODY=8BITMIME"] if mail.utf8 else [],
                )
        except aiosmtplib.SMTPRecipientsRefused as error:
            said = "; ".join(f"{each.code} {each.message}" for each in error.recipients)
            final = any(each.code >= 500 for each in error.recipients)
            raise _failed(f"every recipient was rejected: {said}", retriable=not final) from error
        except aiosmtplib.SMTPNotSupported as error:
            raise refused(
                "to_addresses", f"the server does not accept non-ASCII addresses ({error})"
            ) from error
        except aiosmtplib.SMTPConnectError as error:
            raise _failed(str(error), retriable=True) from error
        except aiosmtplib.SMTPResponseException as error:
            raise _failed(f"{error.code} {error.message}", retriable=error.code < 500) from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise _failed(f"{type(error).__name__}: {error}", retriable=True) from error
        if missed:
            said = "; ".join(f"{one.code} {one.message}" for one in missed.values())
            count = f"{len(missed)} of {len(mail.recipients)} recipients"
            raise _failed(f"{count} were rejected, the others got the mail: {said}", retriable=False)
        return answer


def _failed(reason: str, *, retriable: bool) -> ProviderFailed:
    return ProviderFailed(PROVIDER, reason, LATER if retriable else NEVER, retriable=retriable)
