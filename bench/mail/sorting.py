"""Sorts the labelled mails by the rules, and what these ask about by the second stage; counts the results."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from bench.mail.generate import OWN_ADDRESS, LabelledItem, LabelledMail, labelled_mails
from bench.mail.second_stage import Asked, SecondStage
from bench.mail.template import Part
from penstock.pipeline.classify.mail_signs import MailSigns
from penstock.sources.mail.items import as_text
from penstock.sources.mail.rules.context import MailContext, seen_key
from penstock.sources.mail.rules.judge import judge
from penstock.sources.mail.verdict import Decision, Verdict

Place: TypeAlias = Literal["attachment", "text"]
PLACES: Final[tuple[Place, ...]] = ("attachment", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """One item after both stages; `found` is the second stage's class, None if it was not asked."""

    template: str
    language: str
    item: LabelledItem
    verdict: Verdict
    found: str | None = None
    is_skipped: bool = False

    @property
    def place(self) -> Place:
        return "text" if self.item.attachment is None else "attachment"

    @property
    def is_document(self) -> bool:
        return self.item.expected.is_document

    @property
    def has_right_reason(self) -> bool:
        return self.verdict.skip_reason in self.item.expected.skip_reasons


@dataclass(frozen=True, slots=True)
class Result:
    part: Part
    mails: int
    microseconds: float
    """Of the rules, per mail."""
    items: tuple[Sorted, ...]

    def of(self, is_document: bool, place: Place | None = None) -> list[Sorted]:
        return [
            each for each in self.items if each.is_document is is_document and place in (None, each.place)
        ]

    def kept_documents(self) -> float:
        """The share of documents that stage 1 did not drop."""
        documents = self.of(True)
        return 1 - share(documents, "drop")

    def lost_documents(self) -> int:
        """How many documents the second stage skipped."""
        return sum(each.is_skipped for each in self.of(True))

    def skipped_noise(self) -> int:
        return sum(each.is_skipped for each in self.of(False))

    def asked(self, is_document: bool) -> int:
        """How many documents, or how much noise, the second stage was asked about."""
        return sum(each.found is not None for each in self.of(is_document))

    def dropped_noise(self, place: Place | None = None) -> float:
        return share(self.of(False, place), "drop")

    def right_reasons(self) -> float:
        dropped = [each for each in self.of(False) if each.verdict.decision == "drop"]
        return sum(each.has_right_reason for each in dropped) / len(dropped) if dropped else 1.0


def share(items: list[Sorted], decision: Decision) -> float:
    return decisions(items)[decision] / len(items)


def decisions(items: Iterable[Sorted]) -> Counter[Decision]:
    return Counter(each.verdict.decision for each in items)


async def sort_mails(part: Part, second: SecondStage | None = None) -> Result:
    mails = labelled_mails(part)
    contexts = [context_of(mail) for mail in mails]
    began = time.perf_counter()
    verdicts = [judge(mail.mail, context) for mail, context in zip(mails, contexts, strict=True)]
    seconds = time.perf_counter() - began
    items = []
    for mail, judged in zip(mails, verdicts, strict=True):
        for item in mail.items:
            verdict = judged.text if item.attachment is None else judged.attachments[item.attachment.part]
            items.append(await _sorted(mail, item, verdict, second))
    return Result(part, len(mails), 1e6 * seconds / len(mails), tuple(items))


def context_of(mail: LabelledMail) -> MailContext:
    """What the mailbox knows: its address, and how often it has seen each attachment."""
    seen = {seen_key(item.attachment): item.earlier for item in mail.items if item.attachment}
    return MailContext(own_addresses=frozenset({OWN_ADDRESS}), seen=seen)


async def _sorted(
    mail: LabelledMail, item: LabelledItem, verdict: Verdict, second: SecondStage | None
) -> Sorted:
    found = None
    if second is not None and verdict.decision == "ask":
        asked = Asked(
            subject=mail.mail.subject,
            sender=mail.mail.sender,
            filename=item.attachment.filename if item.attachment else None,
            text=item.text if item.attachment else as_text(mail.mail),
            media_type=item.attachment.media_type if item.attachment else "text/plain",
            size=item.attachment.size if item.attachment else len(item.text),
            mail=MailSigns.of(verdict.score, (each.rule for each in verdict.fired)),
        )
        found = await second.classify(asked)
    return Sorted(
        template=mail.template,
        language=mail.language,
        item=item,
        verdict=verdict,
        found=found,
        is_skipped=second is not None and found is not None and not second.keeps(found),
    )
