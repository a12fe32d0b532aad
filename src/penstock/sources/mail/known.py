"""What is known beside a mail when the rules look at it, and which items a person restored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from penstock.sources.mail.message import Mail
from penstock.sources.mail.rules.context import NOTHING_KNOWN, MailContext


@dataclass(frozen=True, slots=True)
class KnownAboutMail:
    """`restored` are ids of items that a person wants, `kept` of those that are documents already; both stay,
    whatever the rules say by now."""

    context: MailContext = NOTHING_KNOWN
    restored: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()


NOTHING: Final = KnownAboutMail()


@dataclass(frozen=True, slots=True)
class ToRestore:
    """An item that a person restored: its id, and the mailbox's id of its mail."""

    item_id: str
    message_id: str


class MailMemory(Protocol):
    """What a source remembers of earlier mails and decisions."""

    async def about(self, mails: Sequence[Mail]) -> Sequence[KnownAboutMail]:
        """What is known about each mail, in their order."""

    async def to_restore(self) -> Sequence[ToRestore]:
        """Items that a person restored and that have not been fetched yet."""


class NoMemory:
    """A source that remembers nothing."""

    async def about(self, mails: Sequence[Mail]) -> Sequence[KnownAboutMail]:
        return [NOTHING for _ in mails]

    async def to_restore(self) -> Sequence[ToRestore]:
        return []
