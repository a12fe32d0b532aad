"""Reads winmail.dat, in which Outlook wraps the attachments of some mails (TNEF)."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import Final

from penstock.model import Attachment, Parsed, media
from penstock.pipeline.parse import tnef
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.mail_message import MailMessage, bare
from penstock.pipeline.parse.markup import web_page
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.tnef import Level, Tnef, TnefDamaged
from penstock.pipeline.reasons import Reason, rejected

MOST_FILES: Final = 500
# MAPI properties by their number.
_SUBJECT, _TEXT, _HTML, _SENDER, _MESSAGE_ID = 0x0037, 0x1000, 0x1013, 0x0C1A, 0x1035
_DATA, _SHORT_NAME, _LONG_NAME, _KIND, _DISPLAY_NAME = 0x3701, 0x3704, 0x3707, 0x370E, 0x3001
_IID_LENGTH: Final = 16
"""An embedded message begins with the id of its interface."""


class TnefReader:
    def read(self, source: ParserInput) -> Parsed:
        try:
            found = tnef.read_tnef(source.path.read_bytes())
        except (TnefDamaged, struct.error) as error:
            raise rejected(Reason.MALFORMED, f"the file is damaged: {error}") from error
        if len(found.attachments) > MOST_FILES:
            raise rejected(Reason.BOMB, f"it has {len(found.attachments):,} files, more than {MOST_FILES:,}")
        attachments = tuple(
            made
            for number, each in enumerate(found.attachments, start=1)
            if (made := _attachment(each, found.code_page, number)) is not None
        )
        message, code_page = found.message, found.code_page
        text = _body(found) or "Attached: " + ", ".join(each.filename for each in attachments)
        return MailMessage(
            subject=message.text(_SUBJECT, code_page) or message.attribute(tnef.SUBJECT, code_page),
            sender=message.text(_SENDER, code_page),
            to=None,
            cc=None,
            sent=_moment(message.attributes.get(tnef.SENT, b"")),
            message_id=message.text(_MESSAGE_ID, code_page),
            text=text,
            attachments=attachments,
        ).parsed("tnef")


def _body(found: Tnef) -> str:
    message, code_page = found.message, found.code_page
    text = message.text(_TEXT, code_page) or message.attribute(tnef.BODY, code_page)
    if text:
        return text
    _, html = message.properties.get(_HTML, (0, b""))
    return web_page(html.decode(code_page, "replace")).text if html else ""


def _attachment(level: Level, code_page: str, number: int) -> Attachment | None:
    content = level.attributes.get(tnef.DATA, b"")
    _, held = level.properties.get(_DATA, (0, b""))
    name = (
        level.text(_LONG_NAME, code_page)
        or level.text(_DISPLAY_NAME, code_page)
        or level.attribute(tnef.NAME, code_page)
        or level.text(_SHORT_NAME, code_page)
    )
    name = bare(cleaned_line(name, 200) or f"attachment-{number}")
    if held[_IID_LENGTH : _IID_LENGTH + 4] == tnef.SIGNATURE:
        return Attachment(f"{name}.tnef", held[_IID_LENGTH:], media.TNEF)
    content = content or held
    return Attachment(name, content, level.text(_KIND, code_page)) if content else None


def _moment(value: bytes) -> datetime | None:
    """Year, month, day, hour, minute, second, as numbers of two bytes."""
    if len(value) < 12:
        return None
    try:
        year, month, day, hour, minute, second = struct.unpack_from("<6H", value)
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


READER = TnefReader()
