"""Brings mails into the simulated mailboxes, from a template or from the bytes of a mail."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from penstock.simulators.providers.world.clock import parse_time
from penstock.simulators.providers.world.corpus.draft import Draft
from penstock.simulators.providers.world.corpus.templates import compose
from penstock.simulators.providers.world.mail import OWNER, OWNER_NAME
from penstock.simulators.providers.world.mime import SentMail, parse_mail

if TYPE_CHECKING:
    from penstock.simulators.providers.world.world import World

MailProvider: TypeAlias = Literal["outlook", "gmail"]
PROVIDERS: Final = ("outlook", "gmail")


@dataclass(frozen=True, slots=True)
class DeliveredMail:
    """A mail that has arrived; `id` is the provider's, the one that does not change when it is moved."""

    id: str
    message_id: str
    sent: SentMail

    @property
    def files(self) -> list[tuple[str, str]]:
        """Name and SHA-256 of each attachment."""
        return [(part.filename, hashlib.sha256(part.content).hexdigest()) for part in self.sent.files]


class Delivery:
    """Writes mails and delivers them; the same seed and the same calls make the same mails."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._last = 0

    def write(
        self, template: str, to: str, fields: Mapping[str, Any], at: datetime | None = None
    ) -> SentMail:
        """A new mail from somebody at one of the companies."""
        self._last += 1
        random = Random(f"{self._world.seed}/mails/{self._last}")  # the same each time
        size = {"size": int(fields["size"])} if "size" in fields else {}
        when = at or self._world.clock.now()
        draft = Draft(self._last, random, random.choice(self._world.people), when, to, **size)
        return compose(template, draft, fields)

    def deliver(
        self,
        provider: MailProvider,
        template: str = "invoice",
        *,
        to: str | None = None,
        raw: bytes | str | None = None,
        folder: str = "inbox",
        labels: Sequence[str] = ("INBOX", "UNREAD"),
        at: datetime | str | None = None,
        **fields: Any,
    ) -> DeliveredMail:
        """One mail into a mailbox, by default its owner's. `folder` is Outlook's, `labels` are Gmail's."""
        if provider not in PROVIDERS:
            raise ValueError(f"mails go to {' or '.join(PROVIDERS)}, not to {provider!r}")
        when = parse_time(at) if isinstance(at, str) else at
        address = (to or OWNER).lower()
        name = OWNER_NAME if address == OWNER else address.partition("@")[0].replace(".", " ").title()
        if raw is not None:
            sent = parse_mail(raw if isinstance(raw, bytes) else _bytes(raw))
        else:
            sent = self.write(template, f"{name} <{address}>", fields, when)
        if provider == "outlook":
            item = self._world.outlook.mailbox(address).deliver(sent, folder, at=when)
            return DeliveredMail(item.immutable_id, sent.header("Message-ID"), sent)
        message = self._world.gmail_of(address).deliver(sent, labels=labels, at=when)
        return DeliveredMail(message.id, message.rfc_id, sent)


def _bytes(text: str) -> bytes:
    """A mail as text, or as base64 if it has no header."""
    return text.encode() if ":" in text.partition("\n")[0] else base64.b64decode(text, validate=True)
