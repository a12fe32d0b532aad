"""What the rules for mail found out about the mail that brought a document, for a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

SENDING_RULES: Final = frozenset({"bulk_headers", "sending_service"})
"""They say that a service sent it, or that it went to many people."""
WORD_RULES: Final = frozenset({"marketing_words", "social_network", "notification_words", "nothing_concrete"})
"""They say that it reads like a campaign or a notification."""
BRINGS_DOCUMENT: Final = "brings_document"


@dataclass(frozen=True, slots=True)
class MailSigns:
    """`score` is what the rules added up to, `is_campaign` whether it was sent to many and reads like that.

    `brings_document`: it is the text of a mail with a document attached.
    """

    score: float
    is_campaign: bool
    brings_document: bool

    @classmethod
    def of(cls, score: float, rules: Iterable[str]) -> MailSigns:
        names = frozenset(rules)
        is_campaign = not names.isdisjoint(SENDING_RULES) and not names.isdisjoint(WORD_RULES)
        return cls(score, is_campaign, BRINGS_DOCUMENT in names)

    @property
    def speak_for_it(self) -> str | None:
        """Why the document is not noise, as far as its mail tells."""
        if self.brings_document:
            return "it is the text of a mail that brings a document"
        if self.score >= 0:
            return "the rules for mail found nothing against it"
        return None if self.is_campaign else "its mail does not read like a campaign"


def best_of(signs: Sequence[MailSigns]) -> MailSigns | None:
    """Of a document that came by several mails, what each says for it; None if it came by none."""
    if not signs:
        return None
    return MailSigns(
        max(each.score for each in signs),
        all(each.is_campaign for each in signs),
        any(each.brings_document for each in signs),
    )
