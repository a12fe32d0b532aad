"""One attachment of a mail, or its text, as the rules look at it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from penstock.sources.mail.message import Mail, MailAttachment
from penstock.sources.mail.rules.kinds import Kind
from penstock.sources.mail.rules.mail_view import MailView
from penstock.sources.mail.rules.vocabulary import DOCUMENT_CODES, DOCUMENT_NAMES, DOCUMENTS, SCANS
from penstock.sources.mail.rules.words import Words

LONGEST_NAME: Final = 200
SMALLEST_PAGE: Final = 30_000
"""A picture of a page that somebody can read has more bytes."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One item; `attachment` and `kind` are None for the mail's own text.

    `document_name` is what in the file's name says that it is a document.
    """

    view: MailView
    attachment: MailAttachment | None
    kind: Kind | None
    filename: Words
    document_name: str | None

    @classmethod
    def of(cls, view: MailView, attachment: MailAttachment | None, kind: Kind | None) -> Candidate:
        filename = Words.of(attachment.filename[:LONGEST_NAME] if attachment else "")
        return cls(view, attachment, kind, filename, _document_name(filename))

    @property
    def mail(self) -> Mail:
        return self.view.mail

    @property
    def is_text(self) -> bool:
        return self.attachment is None

    @property
    def is_image(self) -> bool:
        return self.kind == "image"

    @property
    def size(self) -> int | None:
        return self.attachment.size if self.attachment else None

    @property
    def may_be_document(self) -> bool:
        """Whether only a hard rule may drop it: a file but a small picture, a text with facts or a file."""
        if self.attachment is None:
            return self.view.states_facts or self.view.has_document
        if self.is_image:
            return not self.attachment.is_shown and (self.size is None or self.size >= SMALLEST_PAGE)
        return self.kind == "document"


def _document_name(filename: Words) -> str | None:
    for first, second in pairwise(filename.tokens):
        if first in DOCUMENT_CODES and second.isdecimal() and len(second) > 2:
            return f"{first}{second}"
    return DOCUMENTS.found_in(filename) or DOCUMENT_NAMES.found_in(filename) or SCANS.found_in(filename)
