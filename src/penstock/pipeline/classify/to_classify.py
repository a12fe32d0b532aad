"""What a classifier is given of a document, cut to a size that every one can read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Protocol

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

    `rules_score` is what the rules for mail added up to, below 0 if they speak against it, and None if there
    was no mail. `is_mass_mail`: it went to many people or was sent by a program or service for that.
    `brings_document`: it is the text of a mail with a document attached.
    """

    filename: str = ""
    subject: str = ""
    sender: str = ""
    media_type: str = ""
    size: int = 0
    text: str = field(default="", repr=False)
    rules_score: float | None = None
    is_mass_mail: bool = False
    brings_document: bool = False

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
        rules_score: float | None = None,
        is_mass_mail: bool = False,
        brings_document: bool = False,
    ) -> ToClassify:
        return cls(
            filename=_line(filename),
            subject=_line(subject),
            sender=_line(sender),
            media_type=_line(media_type),
            size=size,
            text=_without_signature(_without_head(text[: 4 * LONGEST_TEXT].strip()))[:LONGEST_TEXT],
            rules_score=rules_score,
            is_mass_mail=is_mass_mail,
            brings_document=brings_document,
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
