"""Reads Outlook's MSG files like mail; bodies in rich text only are left to xberg."""

from __future__ import annotations

import re
import struct
from datetime import UTC, datetime, timedelta

from penstock.model import Attachment, Parsed, media
from penstock.pipeline.parse import engine
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.compound import CompoundDamaged, CompoundFile
from penstock.pipeline.parse.mail_message import MailMessage, bare
from penstock.pipeline.parse.markup import web_page
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.reasons import Reason, rejected

# Properties of messages and attachments by their number.
_SUBJECT, _BODY, _HTML = "0037", "1000", "1013"
_SENDER, _SENDER_ADDRESS, _SENDER_SMTP, _TO, _CC, _MESSAGE_ID = "0C1A", "0C1F", "5D01", "0E04", "0E03", "1035"
_SENT, _RECEIVED = 0x0039, 0x0E06
_DATA, _LONG_NAME, _SHORT_NAME, _KIND = "3701", "3707", "3704", "370E"
_EMBEDDED = f"__substg1.0_{_DATA}000D"
_ATTACHED = "__attach_version1.0_#"
_XBERG_HEAD = re.compile(r"\A(?:\*\*\w+\*\*: .*\n+)+")


class OutlookReader:
    def read(self, source: ParserInput) -> Parsed:
        try:
            file = CompoundFile(source.path.read_bytes())
            if not any(path[0].startswith("__properties_version1.0") for path in file.entries if path):
                raise rejected(Reason.MALFORMED, "the file contains no message")
            message = _Message(file)
            text = message.body()
            attachments = tuple(_attachments(file))
        except (CompoundDamaged, struct.error) as error:
            raise rejected(Reason.MALFORMED, f"the message is damaged: {error}") from error
        if not text.strip():
            text = _rich_text(source)
        address = message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS)
        return MailMessage(
            subject=message.text(_SUBJECT),
            sender=_sender(message.text(_SENDER), address),
            to=message.text(_TO),
            cc=message.text(_CC),
            sent=message.moment(),
            message_id=message.text(_MESSAGE_ID),
            text=text,
            attachments=attachments,
        ).parsed("msg")


class _Message:
    """A message, or one nested in it, by its folder in the compound file."""

    def __init__(self, file: CompoundFile, *folder: str) -> None:
        self._file = file
        self._folder = folder

    def text(self, number: str) -> str:
        wide = self._file.stream(*self._folder, f"__substg1.0_{number}001F")
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._file.stream(*self._folder, f"__substg1.0_{number}001E")
        return (narrow or b"").decode("cp1252", "replace").rstrip("\0")

    def data(self, number: str) -> bytes | None:
        return self._file.stream(*self._folder, f"__substg1.0_{number}0102")

    def body(self) -> str:
        if plain := self.text(_BODY):
            return plain
        html = self.data(_HTML)
        return web_page(html.decode("utf-8", "replace") if html else self.text(_HTML)).text

    def moment(self) -> datetime | None:
        """When it was sent or received: both are fixed-length properties, as ticks since 1601."""
        listed = self._file.stream(*self._folder, "__properties_version1.0") or b""
        found = {
            number: ticks
            for kind, number, _, ticks in struct.iter_unpack(
                "<HHIQ", listed[32 : 32 + (len(listed) - 32) // 16 * 16]
            )
            if kind == 0x0040
        }
        ticks = found.get(_SENT) or found.get(_RECEIVED)
        try:
            return datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10) if ticks else None
        except OverflowError:
            return None


def _rich_text(source: ParserInput) -> str:
    """The body as read by xberg, without the repeated headers and mixed-in attachments."""
    document = engine.extract(source.path, mime_type=media.MSG, filename="document.msg")
    return _XBERG_HEAD.sub("", engine.prose(document.content)).partition("\nAttachments:\n")[0]


def _sender(name: str, address: str) -> str:
    return f"{name} <{address}>" if name and "@" in address and name != address else name or address


def _attachments(file: CompoundFile) -> list[Attachment]:
    found = []
    folders = sorted(path[0] for path in file.entries if len(path) == 1 and path[0].startswith(_ATTACHED))
    for number, folder in enumerate(folders, start=1):
        held = _Message(file, folder)
        content = held.data(_DATA)
        if content is not None:
            kind = held.text(_KIND) or None
            name = cleaned_line(held.text(_LONG_NAME) or held.text(_SHORT_NAME), 200)
            name = name or f"attachment-{number}.{media.extension(kind or '')}"
            found.append(Attachment(bare(name), content, kind))
        elif (folder, _EMBEDDED) in file.entries:
            # A nested message is not a separate file; its text becomes one.
            inner = _Message(file, folder, _EMBEDDED)
            title = cleaned_line(inner.text(_SUBJECT), 120) or f"message-{number}"
            found.append(Attachment(f"{title}.txt", f"{title}\n\n{inner.body()}".encode(), media.TEXT))
    return found


READER = OutlookReader()
