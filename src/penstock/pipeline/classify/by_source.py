"""Chooses the classifier of each document by where it came from, and decides by the class it finds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from penstock.model.document_class import CLASSES, MAILBOXES, ClassifierName, Treatment
from penstock.pipeline.classify.images import found_in_picture
from penstock.pipeline.classify.mail_signs import MailSigns, best_of
from penstock.pipeline.classify.protocol import FoundClass, Keep, Skip
from penstock.pipeline.classify.to_classify import ByContent, ToClassify

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.model import Parsed
    from penstock.pipeline.job import Job

ORIGINS: Final = "select ingest.origins_of($1)"


@dataclass(frozen=True, slots=True)
class Choice:
    """How a document is classified: by which classifier, and what becomes of each class."""

    classifier: ClassifierName
    classes: Mapping[str, Treatment]


@dataclass(frozen=True, slots=True)
class Defaults:
    """The classifiers of what has no settings of its own: uploads and webhooks, and what came by mail."""

    uploads: ClassifierName
    mail: ClassifierName


class BySource:
    """Uploads and webhooks follow PENSTOCK_CLASSIFIER, mails PENSTOCK_MAIL_CLASSIFIER or their mailbox.

    A document that came several ways is skipped only if each of them would skip it. What the rules for mail
    were sure of is not asked about.
    """

    def __init__(self, tenants: TenantPool, defaults: Defaults, classifiers: Mapping[str, ByContent]) -> None:
        self._tenants = tenants
        self._defaults = defaults
        self._classifiers = classifiers

    def reads(self, job: Job) -> bool:
        return self._defaults.uploads != "off" or job.source_id is not None

    async def classify(self, job: Job, parsed: Parsed) -> Skip | Keep | None:
        async with self._tenants.transaction(job.tenant_id, durable=False) as conn:
            known = json.loads(await conn.fetchval(ORIGINS, job.document_id))
        choice = choose(known["origins"], self._defaults)
        if choice.classifier == "off":
            return None
        latest = known["origins"][0]
        asked = ToClassify.of(
            filename=job.filename or "",
            subject=latest["subject"] or "",
            sender=latest["sender"] or "",
            media_type=job.mime_type,
            size=job.size_bytes,
            text=parsed.text,
            mail=best_of(list(_mail_signs(known["origins"]))),
        )
        found = found_in_picture(asked)
        if found is None and asked.text:
            found = await self._classifiers[choice.classifier].found(str(job.tenant_id), asked)
        return None if found is None else decide(found, choice, known["restored_classes"])


def choose(origins: Sequence[Mapping[str, Any]], defaults: Defaults) -> Choice:
    """`off` as soon as one origin does not want it classified; the settings of the latest one count."""
    if not origins or any(_wanted(each, defaults) == "off" for each in origins):
        return Choice("off", CLASSES)
    kept = {
        name: "keep"
        for each in origins
        for name, treatment in (each["classes"] or {}).items()
        if treatment == "keep" and name in CLASSES
    }
    latest = {
        name: treatment
        for name, treatment in (origins[0]["classes"] or {}).items()
        if name in CLASSES and treatment in ("keep", "skip")
    }
    return Choice(_wanted(origins[0], defaults), {**CLASSES, **latest, **kept})  # type: ignore[dict-item]  # checked above


def decide(found: FoundClass, choice: Choice, restored: Sequence[str]) -> Skip | Keep:
    if choice.classes.get(found.name, "keep") == "keep" or found.name in restored:
        return Keep(found)
    return Skip(found.name, found)


def _mail_signs(origins: Sequence[Mapping[str, Any]]) -> Iterator[MailSigns]:
    for each in origins:
        if each["kind"] in MAILBOXES and isinstance(score := each["rules_score"], int | float):
            yield MailSigns.of(score, each["rules"])


def _wanted(origin: Mapping[str, Any], defaults: Defaults) -> ClassifierName:
    if origin["verdict"] == "keep":
        return "off"
    match origin["classifier"]:
        case "local":
            return "local"
        case "llm":
            return "llm"
        case "off":
            return "off"
        case _:
            is_mail = origin["kind"] in MAILBOXES and origin["verdict"] is not None
            return defaults.mail if is_mail else defaults.uploads
