"""What all items of a mail share, read once, so that many attachments cost little more than one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from penstock.model.document_signs import has_amount, has_date_or_reference
from penstock.sources.mail.message import LONGEST_HEADER, MOST_ATTACHMENTS, Mail
from penstock.sources.mail.rules.context import MailContext
from penstock.sources.mail.rules.kinds import Kind, kind_of
from penstock.sources.mail.rules.settings import RuleSettings
from penstock.sources.mail.rules.vocabulary import (
    COMMON,
    DOCUMENT_NAMES,
    DOCUMENTS,
    MARKETING,
    NOTIFICATIONS,
    PAPERS,
    SOCIAL,
    SOCIAL_NETWORKS,
    UNSUBSCRIBE,
)
from penstock.sources.mail.rules.words import Words, clipped

LONGEST_ADDRESS: Final = 320
ENOUGH_COMMON: Final = 3
"""Common words of one language that a text has if it is written in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailView:
    """The words that were found are None if there are none; `kinds` are those of the attachments."""

    mail: Mail
    context: MailContext
    settings: RuleSettings
    sender: str
    subject: Words
    subject_document: str | None
    text_document: str | None
    marketing: str | None
    social: str | None
    notification: str | None
    unsubscribe: str | None
    names_paper: bool
    is_readable: bool
    has_amount: bool
    has_date_or_reference: bool
    is_bulk: bool
    kinds: tuple[Kind, ...]

    @classmethod
    def of(cls, mail: Mail, context: MailContext, settings: RuleSettings) -> MailView:
        sender = mail.sender[-LONGEST_ADDRESS:]
        subject, text, read = Words.of(mail.subject), Words.of(mail.text), clipped(mail.text)
        labels = sender.rpartition("@")[2].split(".")
        return cls(
            mail=mail,
            context=context,
            settings=settings,
            sender=sender,
            subject=subject,
            subject_document=DOCUMENTS.found_in(subject) or DOCUMENT_NAMES.found_in(subject),
            text_document=DOCUMENTS.found_in(text),
            marketing=MARKETING.found_in(subject) or MARKETING.found_in(text),
            social=next((each for each in labels if each in SOCIAL_NETWORKS), None)
            or SOCIAL.found_in(subject)
            or SOCIAL.found_in(text),
            notification=NOTIFICATIONS.found_in(subject) or NOTIFICATIONS.found_in(text),
            unsubscribe=UNSUBSCRIBE.found_in(text),
            names_paper=(PAPERS.found_in(subject) or PAPERS.found_in(text)) is not None,
            is_readable=any(each.count_in(text) >= ENOUGH_COMMON for each in COMMON),
            has_amount=has_amount(read),
            has_date_or_reference=has_date_or_reference(read),
            is_bulk=_is_bulk(mail, context),
            kinds=tuple(kind_of(each) for each in mail.attachments[:MOST_ATTACHMENTS]),
        )

    def header(self, name: str) -> str:
        """In lower case, without space around it; empty if the mail does not have it."""
        return self.mail.headers.get(name, "")[:LONGEST_HEADER].strip().lower()

    @property
    def has_document(self) -> bool:
        return "document" in self.kinds

    @property
    def names_document(self) -> bool:
        return self.subject_document is not None or self.text_document is not None

    @property
    def states_facts(self) -> bool:
        """Whether the text has a sum of money with a date or a number to look it up by, as documents have."""
        return self.has_amount and self.has_date_or_reference

    @property
    def is_vague(self) -> bool:
        """Whether it is in a language we know and speaks of nothing that has to do with a document."""
        return self.is_readable and not (
            self.has_document
            or self.names_document
            or self.names_paper
            or self.has_amount
            or self.has_date_or_reference
        )

    @property
    def is_from_colleague(self) -> bool:
        return self.sender.rpartition("@")[2] in _own_domains(self.context)


def _is_bulk(mail: Mail, context: MailContext) -> bool:
    """Whether it says that it went to many; a list of our own domain is a shared mailbox."""
    list_id = mail.headers.get("list-id", "")[:LONGEST_HEADER].rstrip("> ").lower()
    if any(list_id.endswith((f".{domain}", f"<{domain}")) for domain in _own_domains(context)):
        return False
    precedence = mail.headers.get("precedence", "")[:LONGEST_HEADER].strip().lower()
    return bool(list_id or mail.headers.get("list-unsubscribe")) or precedence in ("bulk", "list", "junk")


def _own_domains(context: MailContext) -> set[str]:
    return {address.rpartition("@")[2] for address in context.own_addresses}
