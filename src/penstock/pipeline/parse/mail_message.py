"""Renders a mail as text, whatever its file format: the visible headers, then the body."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.model import Attachment, Parsed
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.result import FileMetadata, described, parsed


@dataclass(frozen=True, slots=True)
class MailMessage:
    subject: str | None
    sender: str | None
    to: str | None
    cc: str | None
    sent: datetime | None
    message_id: str | None
    text: str
    attachments: tuple[Attachment, ...] = ()

    def parsed(self, parser: str) -> Parsed:
        """The subject becomes the heading and the title, the sender the author."""
        subject = cleaned_line(self.subject)
        sent = f"{self.sent:%a, %d %b %Y %H:%M:%S %z}" if self.sent else None
        shown = (("From", self.sender), ("To", self.to), ("Cc", self.cc), ("Date", sent))
        lines = [f"{name}: {line}" for name, value in shown if (line := cleaned_line(value, 2_000))]
        head = "\n\n".join(part for part in (f"# {subject}" if subject else "", "\n".join(lines)) if part)
        about = FileMetadata(
            title=subject,
            author=cleaned_line(self.sender),
            created_at=self.sent,
            metadata=described(message_id=self.message_id, to=self.to),
        )
        return parsed(
            [(None, head), (None, self.text)], parser=parser, about=about, attachments=self.attachments
        )


def bare(name: str) -> str:
    """An attachment's file name without folders."""
    return name.replace("\\", "/").rpartition("/")[2] or "attachment"
