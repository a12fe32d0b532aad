"""Sends messages: each is stored, and its supervised process started, in one transaction."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Final, Literal

from penstock.db import Connection
from penstock.db.pause import pause
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument, NotFound
from penstock.model import Attachment, TenantId

EMAIL: Final = "comms.send_email"
SMS: Final = "comms.send_sms"
CREATE_EMAIL: Final = "select comms.create_email_message($1, $2, $3, $4, $5, $6, $7, $8, $9)"
CREATE_SMS: Final = "select comms.create_sms_message($1, $2, $3)"
KICK_OFF: Final = {
    EMAIL: "select validation_failure_message, send_email_task_id from comms.kickoff_send_email($1, $2)",
    SMS: "select validation_failure_message, send_sms_task_id from comms.kickoff_send_sms($1, $2)",
}
SHOW: Final = {EMAIL: "select comms.show_send_email($1)", SMS: "select comms.show_send_sms($1)"}
MOST_ATTACHED: Final = 25 * 1024 * 1024
"""Maximum total size of a message's attachments; mail servers reject more."""
LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Sent:
    """An accepted message; pass `process_id` to `penstock process show`."""

    message_id: int
    process_id: str


@dataclass(frozen=True, slots=True)
class Sending:
    """The state of a message; `error_message` is that of the last failed attempt."""

    state: Literal["open", "succeeded", "failed"]
    attempts: int
    error_message: str | None
    next_check_at: datetime | None


class Messages:
    """An accepted message is sent at least once, or ends as failed with a reason."""

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def send_email(
        self,
        tenant_id: TenantId,
        *,
        to: Sequence[str],
        subject: str,
        text: str | None = None,
        html: str | None = None,
        sender: str | None = None,
        cc: Sequence[str] = (),
        bcc: Sequence[str] = (),
        reply_to: str | None = None,
        attachments: Iterable[Attachment] = (),
        at: datetime | None = None,
    ) -> Sent:
        """Send an email now, or at a given time; the default sender is PENSTOCK_SMTP_FROM."""
        if isinstance(to, str) or isinstance(cc, str) or isinstance(bcc, str):
            raise InvalidArgument(
                "recipients must be a list of addresses", "to", "Use [address], not address"
            )
        files = [_file(attachment) for attachment in attachments]
        if sum(len(file["content_base64"]) for file in files) * 3 // 4 > MOST_ATTACHED:
            raise InvalidArgument(
                f"the attachments are more than {MOST_ATTACHED:,} bytes",
                "attachments",
                "Send a link to them instead",
            )
        _check_texts(
            to=to, subject=subject, text=text, html=html, sender=sender, cc=cc, bcc=bcc, reply_to=reply_to,
            attachments=[part for file in files for part in file.values()],
        )  # fmt: skip
        _check_time(at)
        values = (list(to), subject, text, html, sender, list(cc), list(bcc), reply_to, json.dumps(files))
        async with self._tenants.transaction(tenant_id) as conn:
            message_id: int = await conn.fetchval(CREATE_EMAIL, *values)
            return Sent(message_id, await _kick_off(conn, EMAIL, message_id, at))

    async def send_sms(
        self,
        tenant_id: TenantId,
        *,
        to: str,
        text: str,
        sender: str | None = None,
        at: datetime | None = None,
    ) -> Sent:
        """Send a text message now, or at a given time; the default sender is PENSTOCK_SMS_FROM."""
        _check_texts(to=to, text=text, sender=sender)
        _check_time(at)
        async with self._tenants.transaction(tenant_id) as conn:
            message_id: int = await conn.fetchval(CREATE_SMS, to, text, sender)
            return Sent(message_id, await _kick_off(conn, SMS, message_id, at))

    async def show(self, tenant_id: TenantId, process_id: str) -> Sending:
        """The state of this process's message."""
        process, _, number = process_id.partition("/")
        if process not in SHOW or not (number.isascii() and number.isdigit() and len(number) < 19):
            raise InvalidArgument(
                f"{process_id!r} is not the process of a message",
                "process_id",
                f"Write {EMAIL}/12 or {SMS}/12",
            )
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            row: str | None = await conn.fetchval(SHOW[process], int(number))
        if row is None:
            raise NotFound(f"there is no process {process_id}", "process_id")
        told = json.loads(row)
        next_check = told.pop("next_check_at")
        return Sending(**told, next_check_at=next_check and datetime.fromisoformat(next_check))

    async def wait(self, tenant_id: TenantId, process_id: str, seconds: float) -> Sending:
        """The state when it has ended, or when the time is up."""
        deadline = monotonic() + seconds
        while True:
            sending = await self.show(tenant_id, process_id)
            left = deadline - monotonic()
            if sending.state != "open" or left <= 0:
                return sending
            await pause(min(LOOK_SECONDS, left))


async def _kick_off(conn: Connection, process: str, message_id: int, at: datetime | None) -> str:
    row = await conn.fetchrow(KICK_OFF[process], message_id, at)
    assert row is not None  # it returns one row always
    if row[0] is not None:
        raise InvalidArgument(row[0], "message_id")
    return f"{process}/{row[1]}"


def _file(attachment: Attachment) -> dict[str, str]:
    if not attachment.filename:
        raise InvalidArgument("an attachment has no file name", "attachments", "Name the file")
    return {
        "filename": attachment.filename,
        "mime_type": attachment.mime_type or "application/octet-stream",
        "content_base64": base64.b64encode(attachment.content).decode(),
    }


def _check_texts(**values: str | Sequence[str] | None) -> None:
    """Reject what Postgres cannot store: NUL and lone surrogates."""
    for field, value in values.items():
        for text in (value,) if isinstance(value, str) else value or ():
            if "\x00" in text or not _encodes(text):
                raise InvalidArgument(
                    f"{field} contains an invalid character", field, "Remove NUL and lone surrogates"
                )


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_time(at: datetime | None) -> None:
    if at is not None and at.tzinfo is None:
        raise InvalidArgument(
            "the time has no time zone", "at", "Use a datetime with a time zone, such as datetime.now(UTC)"
        )
