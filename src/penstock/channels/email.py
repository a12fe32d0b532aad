"""Sends email by SMTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import aiosmtplib

from penstock.channels.channel import ProviderFailed, read_request
from penstock.channels.email_message import EmailRequest, Mail, compose, refused
from penstock.channels.ports import Run
from penstock.channels.smtp_connections import SmtpConnections
from penstock.settings import Settings

PROVIDER: Final = "email"
ANSWER_SECONDS: Final = 60.0
LATER: Final = "Penstock tries again by itself; if it goes on, check the mail server and PENSTOCK_SMTP_*"
NEVER: Final = "Read what the server says, correct the message or PENSTOCK_SMTP_*, and send it anew"


class EmailChannel:
    """What the server refuses for good (5xx, also the login) is final; 4xx, silence and lost lines are not.

    If some recipients are refused, the others get the mail, and the attempt counts as failed for good: trying
    again would send it to those a second time, and success would hide that somebody did not get it.
    """

    def __init__(self, settings: Settings, *, timeout: float = ANSWER_SECONDS) -> None:
        self._settings = settings
        self.connections = SmtpConnections(settings, timeout=timeout)

    async def call(self, request: Mapping[str, Any], run: Run) -> Mapping[str, Any]:
        settings = self._settings
        if settings.smtp_host is None:
            raise ProviderFailed(PROVIDER, "no mail server is set", "Set PENSTOCK_SMTP_HOST", retriable=True)
        wanted = read_request(PROVIDER, EmailRequest, request)
        if not (wanted.from_address or settings.smtp_from):
            raise ProviderFailed(
                PROVIDER, "the message names no sender", "Set PENSTOCK_SMTP_FROM", retriable=True
            )
        if wanted.attachments or wanted.is_large():
            mail = await asyncio.to_thread(compose, wanted, settings.smtp_from)
        else:
            mail = compose(wanted, settings.smtp_from)
        return {"message_id": wanted.message_id, "response": f"250 {await self._send(mail)}"}

    async def close(self) -> None:
        await self.connections.close()

    async def _send(self, mail: Mail) -> str:
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
            raise _failed(f"every recipient was refused: {said}", retriable=not final) from error
        except aiosmtplib.SMTPNotSupported as error:
            raise refused(
                "to_addresses", f"the server takes no address with such letters ({error})"
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
            raise _failed(f"{count} were refused, the others have the mail: {said}", retriable=False)
        return answer


def _failed(reason: str, *, retriable: bool) -> ProviderFailed:
    return ProviderFailed(PROVIDER, reason, LATER if retriable else NEVER, retriable=retriable)
