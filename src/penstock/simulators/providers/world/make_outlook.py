"""Fills the owner's mailbox at Outlook with mails of the last year."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Final

from penstock.simulators.providers.world.mail import OWNER, OWNER_NAME
from penstock.simulators.providers.world.outlook import Exchange

if TYPE_CHECKING:
    from penstock.simulators.providers.world.delivery import Delivery

SHARED_MAILBOX: Final = "invoices@millbrook.example"
_USUAL: Final = {
    "plain": 8,
    "invoice": 5,
    "newsletter": 4,
    "signature_image": 2,
    "signature_and_invoice": 2,
    "two_files": 1,
    "auto_reply": 1,
}


def fill_outlook(
    random: Random, exchange: Exchange, delivery: Delivery, anchor: datetime, mails: int
) -> Exchange:
    """Mails before the anchor, the oldest first, and a shared mailbox that is empty."""
    mailbox = exchange.mailbox(OWNER, OWNER_NAME)
    exchange.share(SHARED_MAILBOX, OWNER)
    begun = sorted(random.randrange(3_600, 400 * 86_400) for _ in range(mails))[::-1]
    for ago in begun:
        template = random.choices(list(_USUAL), list(_USUAL.values()))[0]
        at = anchor - timedelta(seconds=ago)
        sent = delivery.write(template, f"{OWNER_NAME} <{OWNER}>", {}, at)
        mailbox.deliver(sent, at=at, read=True)
    return exchange
