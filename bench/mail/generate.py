"""Generates the labelled mails: each template in four languages, some times over, the same for one seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from bench.mail.labels import LABELS, Label
from bench.mail.mime import TYPES, VIA
from bench.mail.names import values
from bench.mail.template import LANGUAGES, AttachmentTemplate, Language, Part, Template, pages, templates
from penstock.sources.mail.message import Mail, MailAttachment

SEED: Final = 11
VARIANTS: Final = 2
"""Mails per template and language."""
OWN_ADDRESS: Final = "office@northmill.example"
"""The mailbox that receives the mails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledItem:
    """One thing the rules decide about: an attachment, or the mail's own text if `attachment` is None.

    `text` is what a parser would find in it; `earlier` counts the sender's earlier mails with it.
    """

    attachment: MailAttachment | None
    label: str
    text: str = field(repr=False)
    earlier: int = 0

    @property
    def expected(self) -> Label:
        return LABELS[self.label]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledMail:
    template: str
    part: Part
    language: Language
    mail: Mail
    items: tuple[LabelledItem, ...]


def labelled_mails(part: Part, seed: int = SEED, variants: int = VARIANTS) -> list[LabelledMail]:
    texts = pages(part)
    return [
        _mail(template, language, texts, random.Random(f"{seed} {template.name} {language} {variant}"))
        for template in templates(part)
        for language in LANGUAGES
        for variant in range(variants)
    ]


def _mail(
    template: Template,
    language: Language,
    texts: Mapping[str, Mapping[Language, str]],
    chance: random.Random,
) -> LabelledMail:
    filled = values(language, chance)
    words = template.words[language]
    filled["file"] = words.get("file", "").format_map(filled)
    body = words["body"].format_map(filled)
    headers = {**VIA[template.via], **template.headers}
    made = [
        (each, _attachment(each, number, filled, chance)) for number, each in enumerate(template.attachments)
    ]
    mail = Mail(
        id=f"{template.name}-{language}-{filled['number']}",
        message_id=f"{chance.getrandbits(64):x}@{filled['domain']}",
        thread_id=None,
        sender=template.sender.format_map(filled),
        sender_name=template.sender_name.format_map(filled),
        to=(template.to.format_map(filled),),
        cc=(),
        subject=words["subject"].format_map(filled),
        received_at=datetime(2026, 1, 5, 8, tzinfo=UTC) + timedelta(minutes=chance.randint(0, 300_000)),
        headers={name: value.format_map(filled) for name, value in headers.items()},
        folder="Inbox",
        labels=template.labels,
        is_outgoing=template.is_outgoing,
        text=body,
        attachments=tuple(attachment for _, attachment in made),
    )
    return LabelledMail(
        template=template.name,
        part=template.part,
        language=language,
        mail=mail,
        items=tuple(_items(template, mail, made, texts, language, filled)),
    )


def _attachment(
    template: AttachmentTemplate, number: int, filled: Mapping[str, str], chance: random.Random
) -> MailAttachment:
    smallest, largest = (round(1_000 * size) for size in template.size)
    return MailAttachment(
        part=str(number + 2),
        filename=template.name.format_map(filled),
        media_type=TYPES[template.type],
        size=None if template.kind == "link" else chance.randint(smallest, largest),
        kind=template.kind,
        disposition=None if template.disposition == "none" else template.disposition,
        content_id=f"part{number}@{filled['domain']}" if template.cid else None,
        is_shown=template.shown,
        url=template.url.format_map(filled) if template.url else None,
    )


def _items(
    template: Template,
    mail: Mail,
    made: list[tuple[AttachmentTemplate, MailAttachment]],
    texts: Mapping[str, Mapping[Language, str]],
    language: Language,
    filled: Mapping[str, str],
) -> Iterator[LabelledItem]:
    if mail.text:
        yield LabelledItem(attachment=None, label=template.text, text=mail.text)
    for number, (given, attachment) in enumerate(made):
        own = template.words[language].get("page") if number == 0 else None
        text = (own or texts.get(given.label, {}).get(language, "")).format_map(filled)
        yield LabelledItem(attachment=attachment, label=given.label, text=text, earlier=given.earlier)
