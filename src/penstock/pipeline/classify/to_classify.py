"""What a classifier is given of a document, cut to a size that every one can read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Protocol

from penstock.pipeline.classify.mail_signs import MailSigns
from penstock.pipeline.classify.protocol import FoundClass

LONGEST_NAME: Final = 300
LONGEST_TEXT: Final = 6_000
"""Characters of the text that are looked at, and that a remote classifier is sent."""
SIGNATURE: Final = "\n--"
LONGEST_HEAD: Final = 3_000
_HEAD: Final = re.compile(
    r"[^\n]*\n\s*From: [^\n]*\n\s*To: [^\n]*\n(?:\s*Cc: [^\n]*\n)?(?:\s*Date: [^\n]*\n)?"
)
"""What a mailbox writes above the text of a mail: its date says nothing about what follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToClassify:
    """The beginning of a document; `subject` and `sender` are those of the mail it came with.

    `mail` is what the rules said about that mail; None for what did not come by mail.
    """

    filename: str = ""
    subject: str = ""
    sender: str = ""
    media_type: str = ""
    size: int = 0
    text: str = field(default="", repr=False)
    mail: MailSigns | None = None

    @classmethod
    def of(
        cls,
        *,
        filename: str,
        subject: str,
        sender: str,
        media_type: str,
        size: int,
        text: str,
        mail: MailSigns | None = None,
    ) -> ToClassify:
        return cls(
            filename=_line(filename),
            subject=_line(subject),
            sender=_line(sender),
            media_type=_line(media_type),
            size=size,
            text=_without_signature(_without_head(text[: 4 * LONGEST_TEXT].strip()))[:LONGEST_TEXT],
            mail=mail,
        )


class ByContent(Protocol):
    """Sorts documents by what they say; None if it cannot tell, and then the document is kept."""

    async def found(self, tenant: str, asked: ToClassify) -> FoundClass | None: ...


def _line(text: str) -> str:
    return " ".join(text[: 2 * LONGEST_NAME].split())[:LONGEST_NAME]


def _without_head(text: str) -> str:
    head = _HEAD.match(text, 0, LONGEST_HEAD)
    return text if head is None else text[head.end() :].lstrip()


def _without_signature(text: str) -> str:
    """The text before a line of two dashes: what follows is the footer of a list or of a person."""
    start = 0
    while (at := text.find(SIGNATURE, start)) >= 0:
        after = text[at + len(SIGNATURE) : at + len(SIGNATURE) + 2]
        if after.strip(" ")[:1] in ("", "\n"):
            return text[:at].rstrip()
        start = at + len(SIGNATURE)
    return text
