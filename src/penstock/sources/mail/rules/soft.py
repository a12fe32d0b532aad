"""Soft rules: evidence for and against an item, which is added up."""

from __future__ import annotations

from typing import Final

from penstock.sources.mail.rules.candidate import Candidate
from penstock.sources.mail.rules.rule import Rule
from penstock.sources.mail.rules.settings import is_listed
from penstock.sources.mail.rules.vocabulary import (
    AUTOMATIC_SENDERS,
    ELECTRONIC_INVOICES,
    FORWARDED,
    MARKETING,
)

SENDING_SERVICES: Final = ("x-sg-eid", "x-mc-user", "x-ses-outgoing", "feedback-id")


def _bulk_headers(item: Candidate) -> str | None:
    return "its headers say that it went to many people" if item.view.is_bulk else None


def _sending_service(item: Candidate) -> str | None:
    header = next((each for each in SENDING_SERVICES if each in item.mail.headers), None)
    return f"a service for sending many mails sent it ({header})" if header else None


def _automatic_sender(item: Candidate) -> str | None:
    is_automatic = item.view.sender.startswith(AUTOMATIC_SENDERS)
    return f"{item.view.sender} looks like a program" if is_automatic else None


def _unsubscribe_words(item: Candidate) -> str | None:
    return _named(item.view.unsubscribe, "in the text")


def _marketing_words(item: Candidate) -> str | None:
    found = _named(item.view.marketing, "in the mail")
    return found or _named(MARKETING.found_in(item.filename), "in the file name")


def _nothing_concrete(item: Candidate) -> str | None:
    is_vague = item.is_text and item.view.is_bulk and item.view.is_vague
    return "it went to many people and names no document, sum, date or number" if is_vague else None


def _social_network(item: Candidate) -> str | None:
    return _named(item.view.social, "in the mail or its sender's address")


def _notification_words(item: Candidate) -> str | None:
    return _named(item.view.notification, "in the mail")


def _technical_part(item: Candidate) -> str | None:
    return "a signature, a key or a business card" if item.kind == "technical" else None


def _document_type(item: Candidate) -> str | None:
    return "a file that is not a picture" if item.kind == "document" else None


def _document_filename(item: Candidate) -> str | None:
    return _named(item.document_name, "in the file name")


def _document_subject(item: Candidate) -> str | None:
    return None if item.kind == "technical" else _named(item.view.subject_document, "in the subject")


def _document_text(item: Candidate) -> str | None:
    return None if item.kind == "technical" else _named(item.view.text_document, "in the text")


def _amount(item: Candidate) -> str | None:
    named = item.view.names_document and item.view.has_amount and item.kind != "technical"
    return "the text names a document and a sum of money" if named else None


def _electronic_invoice(item: Candidate) -> str | None:
    return _named(ELECTRONIC_INVOICES.found_in(item.filename), "in the file name")


def _brings_document(item: Candidate) -> str | None:
    brings = item.is_text and item.view.has_document
    return "a document is attached to the mail" if brings else None


def _forwarded_by_colleague(item: Candidate) -> str | None:
    is_forwarded = item.view.is_from_colleague and item.view.subject.starts_with(FORWARDED)
    return "somebody of ours forwarded it" if is_forwarded and item.kind != "technical" else None


def _known_client(item: Candidate) -> str | None:
    context, sender = item.view.context, item.view.sender
    known = sender in context.client_addresses or is_listed(sender, context.client_domains)
    return f"{sender} is a known client" if known and item.kind != "technical" else None


def _accepted_thread(item: Candidate) -> str | None:
    known = item.mail.thread_id is not None and item.mail.thread_id in item.view.context.accepted_threads
    return "a document of this conversation was kept" if known and item.kind != "technical" else None


def _allowed_sender(item: Candidate) -> str | None:
    allowed = is_listed(item.view.sender, item.view.settings.allow_senders)
    return (
        f"{item.view.sender} is in the source's allow_senders"
        if allowed and item.kind != "technical"
        else None
    )


def _restored_sender(item: Candidate) -> str | None:
    restored = item.view.context.restored.get(item.view.sender)
    return "a person restored an item of this sender" if restored and item.kind != "technical" else None


def _named(found: str | None, place: str) -> str | None:
    return f"{found!r} {place}" if found else None


SOFT_RULES: Final = (
    Rule(
        name="bulk_headers",
        about="List-Unsubscribe, List-Id or Precedence say that the mail went to many people.",
        applies=_bulk_headers,
        weight=-0.8,
        skip_reason="marketing_material",
    ),
    Rule(
        name="sending_service",
        about="A service such as SendGrid, Mailchimp or Amazon SES sent the mail.",
        applies=_sending_service,
        weight=-0.4,
        skip_reason="marketing_material",
    ),
    Rule(
        name="automatic_sender",
        about="The sender is called noreply or the like.",
        applies=_automatic_sender,
        weight=-0.4,
        skip_reason="notification",
    ),
    Rule(
        name="unsubscribe_words",
        about="The text offers to unsubscribe.",
        applies=_unsubscribe_words,
        weight=-0.3,
        skip_reason="marketing_material",
    ),
    Rule(
        name="marketing_words",
        about="Subject, text or file name has a word of campaigns, such as webinar or discount.",
        applies=_marketing_words,
        weight=-1.2,
        skip_reason="marketing_material",
    ),
    Rule(
        name="nothing_concrete",
        about="A mail to many people brings no document and names none, nor a sum, a date or a long number.",
        applies=_nothing_concrete,
        weight=-1.2,
        skip_reason="bulk_mail",
    ),
    Rule(
        name="social_network",
        about="A social network sent the mail, or it reads like one of theirs.",
        applies=_social_network,
        weight=-1.2,
        skip_reason="social_notification",
    ),
    Rule(
        name="notification_words",
        about="A code for signing in, a password to reset, a failed build.",
        applies=_notification_words,
        weight=-1.2,
        skip_reason="notification",
    ),
    Rule(
        name="technical_part",
        about="A cryptographic signature, a key or a business card.",
        applies=_technical_part,
        weight=-2.5,
        skip_reason="technical_part",
    ),
    Rule(
        name="document_type",
        about="A file that is not a picture: PDF, Office, XML, ZIP, a forwarded mail, a link.",
        applies=_document_type,
        weight=0.5,
    ),
    Rule(
        name="document_filename",
        about="The file's name is that of a document, such as Rechnung_4711.pdf.",
        applies=_document_filename,
        weight=2.0,
    ),
    Rule(
        name="document_subject",
        about="The subject names a document.",
        applies=_document_subject,
        weight=1.2,
    ),
    Rule(
        name="document_text",
        about="The text names a document.",
        applies=_document_text,
        weight=0.8,
    ),
    Rule(
        name="amount",
        about="The mail names a document and a sum of money.",
        applies=_amount,
        weight=0.8,
    ),
    Rule(
        name="electronic_invoice",
        about="The file's name is that of an electronic invoice, such as factur-x.xml.",
        applies=_electronic_invoice,
        weight=1.5,
    ),
    Rule(
        name="brings_document",
        about="The text of a mail with a document attached.",
        applies=_brings_document,
        weight=1.0,
    ),
    Rule(
        name="forwarded_by_colleague",
        about="Somebody with an address of our domain forwarded the mail.",
        applies=_forwarded_by_colleague,
        weight=0.8,
    ),
    Rule(
        name="known_client",
        about="The sender's address or domain is that of a known client.",
        applies=_known_client,
        weight=1.5,
    ),
    Rule(
        name="accepted_thread",
        about="A document of the same conversation was kept.",
        applies=_accepted_thread,
        weight=1.0,
    ),
    Rule(
        name="allowed_sender",
        about="The sender is in `allow_senders`.",
        applies=_allowed_sender,
        weight=5.0,
    ),
    Rule(
        name="restored_sender",
        about="A person restored an earlier item of the sender.",
        applies=_restored_sender,
        weight=3.0,
    ),
)
