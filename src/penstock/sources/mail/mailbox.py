"""What a mailbox implements: reading from a watermark, fetching a mail, and subscribing to notifications."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from penstock.sources.protocol import Checkpoint, Cursor, Failed

if TYPE_CHECKING:
    from penstock.sources.mail.message import Mail


@dataclass(frozen=True, slots=True)
class Arrived:
    """A mail that is new or was moved here; the same mail may be named more than once."""

    id: str


@dataclass(frozen=True, slots=True)
class Left:
    """A mail that was deleted or moved away. Its documents stay: people archive what they need."""

    id: str


MailEvent: TypeAlias = Arrived | Left | Failed | Checkpoint


class Mailbox(Protocol):
    """An open mailbox; the token was refreshed when the sync began."""

    def sync_since(self, cursor: Cursor) -> AsyncIterator[MailEvent]:
        """What changed since the watermark, page by page, each with a checkpoint, and one that is done.

        A watermark that the provider no longer knows is replaced by a bounded look back, without an error.
        """

    async def fetch_message(self, message_id: str) -> Mail | None:
        """The mail with its attachments' names; None if it is no longer there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What makes the provider notify us. `provider_id` is the provider's id of it, if it has one."""

    provider_id: str | None
    expires_at: datetime
    details: dict[str, Any]


class SubscriptionLost(Exception):
    """The provider no longer knows the subscription: create another."""


class NotifiedMailbox(Protocol):
    """A mailbox whose provider sends notifications."""

    async def create_subscription(self, callback_url: str, client_state: str) -> Subscription:
        """Ask for notifications; `client_state` comes back with each of them."""

    async def renew_subscription(self, subscription: Subscription) -> Subscription:
        """Extend it; SubscriptionLost if the provider does not know it any more."""

    async def drop_subscription(self, subscription: Subscription) -> None:
        """Ask for no more notifications; not an error if there is none."""


class PushMailbox(Mailbox, NotifiedMailbox, Protocol):
    """A mailbox that is read, and whose provider sends notifications."""
