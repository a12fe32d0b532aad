"""The demo's mails: they arrive at simulated mailboxes, which notify the API, and are found seconds later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal

from penstock.cli.demo.files import Piece, scan_png
from penstock.cli.demo.progress import DemoProgress
from penstock.db import Connection
from penstock.db.pause import pause
from penstock.engine.services import Services
from penstock.errors import InvalidMove
from penstock.model import SourceId, TenantId
from penstock.sources.decision_rows import Decision

if TYPE_CHECKING:
    from penstock.simulators.providers import ProviderSimulators

MAILBOXES: Final[tuple[Literal["outlook", "gmail"], ...]] = ("outlook", "gmail")
POLL_SECONDS: Final = 0.05
GIVE_UP_SECONDS: Final = 60.0
INVOICES: Final = {
    "outlook": (4711, "Sandblasting of the fish ladder at Larch Mill"),
    "gmail": (4712, "Rental of a mobile crane at Maple Mill"),
}
INVOICE_QUESTION: Final = "what did sandblasting the fish ladder cost?"
PICTURE: Final = "autumn-prices.png"
PICTURE_QUESTION: Final = "price of a trash rack in autumn"
INDEXED: Final = """
  select count(*) from ingest.document where filename = $1 and status = 'indexed' and deleted_at is null
"""


@dataclass(frozen=True, slots=True)
class ArrivedMail:
    """A mail with an invoice: seconds from its arrival until we were notified, and until it was indexed."""

    provider: str
    subject: str
    filename: str
    notified: float
    indexed: float


@dataclass(frozen=True, slots=True)
class MailResult:
    """`skipped` is what the rules did not keep, `restored` the one of it that was taken in after all."""

    arrived: Sequence[ArrivedMail]
    skipped: Sequence[Decision]
    restored: Decision

    @property
    def whole(self) -> bool:
        return self.restored.state == "restored"


@dataclass(frozen=True, slots=True)
class DemoMail:
    """Delivers mails to connected mailboxes and waits for what becomes of them."""

    services: Services
    owner: TenantId
    connection: Connection
    simulators: ProviderSimulators
    progress: DemoProgress

    async def show(self, sources: Sequence[tuple[str, SourceId]]) -> MailResult:
        """Mails arrive, and a picture that the rules dropped is restored."""
        for kind, source_id in sources:
            if kind in MAILBOXES:
                await _until(partial(self._is_subscribed, source_id), f"the subscription of {kind}")
        arrived = [await self._invoice(provider) for provider in MAILBOXES]
        self.progress.say("A newsletter arrives in Outlook …")
        self.simulators.deliver("outlook", raw=newsletter())
        await _until(self._has_dropped, "a decision about the newsletter")
        skipped = (await self.services.sources.skipped(self.owner)).items
        chosen = next(each for each in skipped if each.filename == PICTURE)
        await self.services.sources.restore(self.owner, chosen.decision_id, decided_by="demo")
        await _until(partial(self._is_indexed, PICTURE), "the restored picture")
        now = {each.decision_id: each for each in (await self.services.sources.skipped(self.owner)).items}
        return MailResult(arrived, skipped, now[chosen.decision_id])

    async def _invoice(self, provider: Literal["outlook", "gmail"]) -> ArrivedMail:
        emitter = self.simulators.providers[provider].emitter
        assert emitter is not None
        before, started = emitter.delivered, monotonic()
        number, work = INVOICES[provider]
        subject, filename = f"Invoice {number}", f"invoice-{number}.pdf"
        lines = [f"Foundry Fox, invoice {number}", f"{work}. Total due: 2,340 euros within 30 days."]
        attached = {"filename": filename, "lines": lines}
        self.simulators.deliver(provider, "signature_image", subject=subject, attachments=[attached])

        async def is_notified() -> bool:
            return emitter.delivered > before

        await _until(is_notified, f"a notification of {provider}")
        notified = monotonic() - started
        await _until(partial(self._is_indexed, filename), filename)
        indexed = monotonic() - started
        self.progress.say(
            f"A mail arrives in {provider.capitalize()}: notified after {notified:.2f} s, "
            f"{filename} indexed after {indexed:.1f} s."
        )
        return ArrivedMail(provider, subject, filename, notified, indexed)

    async def _is_subscribed(self, source_id: SourceId) -> bool:
        push = (await self.services.sources.show(self.owner, source_id)).health.push
        return push is not None and push.state == "active"

    async def _is_indexed(self, filename: str) -> bool:
        return bool(await self.connection.fetchval(INDEXED, filename))

    async def _has_dropped(self) -> bool:
        page = await self.services.sources.skipped(self.owner)
        return any(each.filename == PICTURE for each in page.items)


def newsletter(number: int = 0) -> bytes:
    """A campaign whose HTML shows its prices as a picture; each number is another mail."""
    mail, picture = EmailMessage(), f"prices-{number}@foundryfox.example"
    mail["From"], mail["To"] = "Foundry Fox News <news@foundryfox.example>", "office@millbrook.example"
    mail["Subject"], mail["Message-ID"] = "Autumn sale: 20% off all spare parts", f"<autumn.{picture}>"
    mail["Date"] = datetime.now(UTC)
    mail["List-Unsubscribe"] = "<mailto:unsubscribe@foundryfox.example>"
    mail.set_content("Our prices are in the picture. Unsubscribe at any time.\n")
    mail.add_alternative(f'<p>Our prices this autumn:</p><img src="cid:{picture}">', subtype="html")
    lines: list[Piece] = [
        "# Prices this autumn",
        "Trash rack 480 euros, guide vane 310 euros, shaft seal 95 euros.",
    ]
    html = mail.get_payload()[1]  # type: ignore[index]  # the alternatives are a list
    html.add_related(  # type: ignore[union-attr]  # of messages
        scan_png(lines), "image", "png", cid=f"<{picture}>", filename=PICTURE, disposition="inline"
    )
    return mail.as_bytes()


async def _until(is_so: Callable[[], Awaitable[bool]], what: str) -> None:
    begun = monotonic()
    while not await is_so():
        if monotonic() - begun > GIVE_UP_SECONDS:
            raise InvalidMove(
                f"the demo waited {GIVE_UP_SECONDS:.0f} s for {what}", None, "Read worker-2.log in its folder"
            )
        await pause(POLL_SECONDS)
