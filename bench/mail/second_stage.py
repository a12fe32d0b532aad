"""The second stage as the benchmark sees it: a classifier for what the rules are not sure of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from penstock.pipeline.classify.mail_signs import MailSigns


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the classifier is given about an attachment, or about a mail's text (then without a file name)."""

    subject: str
    sender: str
    filename: str | None
    text: str = field(repr=False)
    media_type: str = "text/plain"
    size: int | None = None
    mail: MailSigns | None = None


class SecondStage(Protocol):
    @property
    def name(self) -> str:
        """Shown in the results, such as `local` or the name of a model."""

    async def classify(self, asked: Asked) -> str:
        """The class, such as `invoice` or `marketing_material`."""

    def keeps(self, found: str) -> bool:
        """Whether documents of this class are kept."""
