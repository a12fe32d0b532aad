"""One business as five providers see it: the same companies in HubSpot, QuickBooks, Drive, Gmail, Outlook."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from random import Random
from typing import Final

from penstock.simulators.providers.world.books import Books
from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.companies import make_companies, make_people
from penstock.simulators.providers.world.crm import Crm
from penstock.simulators.providers.world.delivery import Delivery
from penstock.simulators.providers.world.drive import Drive
from penstock.simulators.providers.world.mail import OWNER, History, Mailbox
from penstock.simulators.providers.world.make_books import make_books
from penstock.simulators.providers.world.make_crm import make_crm
from penstock.simulators.providers.world.make_drive import make_drive
from penstock.simulators.providers.world.make_mail import make_mailbox
from penstock.simulators.providers.world.make_outlook import fill_outlook
from penstock.simulators.providers.world.outlook import Exchange

ANCHOR: Final = datetime(2026, 11, 1, tzinfo=UTC)
"""Generated records are older than this, so that a seed always makes the same ones."""


class World:
    """Records that are the same for the same seed, sizes and anchor; counts not given follow `contacts`.

    Its parts are changed by their own methods: `hubspot.contacts.change(…)`, `quickbooks.add_invoice(…)`,
    `drive.trash(…)`, `gmail.add(…)`. Mails arrive by `mails.deliver(…)`.
    """

    def __init__(
        self,
        seed: int = 1,
        *,
        contacts: int = 500,
        companies: int | None = None,
        deals: int | None = None,
        customers: int | None = None,
        invoices: int | None = None,
        files: int | None = None,
        threads: int | None = None,
        mails: int | None = None,
        clock: SimulatedClock | None = None,
        anchor: datetime = ANCHOR,
    ) -> None:
        self.seed = seed
        self.clock = clock or SimulatedClock()
        self.anchor = anchor
        firms = max(1, contacts // 5) if companies is None else max(1, companies)
        buyers = min(max(1, firms * 7 // 10) if customers is None else customers, firms)
        self._sizes = {
            "contacts": contacts,
            "deals": firms * 3 // 2 if deals is None else deals,
            "customers": buyers,
            "invoices": buyers * 4 if invoices is None else invoices,
            "files": max(5, contacts // 8) if files is None else files,
            "threads": max(1, contacts // 3) if threads is None else threads,
            "mails": max(1, contacts // 3) if mails is None else mails,
        }
        self.exchange = Exchange(self.clock)
        """Outlook's mailboxes before the owner's is filled; `outlook` is the same with its mails."""
        self.mails = Delivery(self)
        self.gmail_listeners: list[Callable[[Mailbox, History], None]] = []
        self._gmail: dict[str, Mailbox] = {}
        self.companies = make_companies(self._random("companies"), firms)
        self.people = make_people(self._random("people"), max(contacts, firms), self.companies)

    # Each part is made when it is first asked for: a test of one provider does not pay for the others.
    @cached_property
    def hubspot(self) -> Crm:
        people = self.people[: self._sizes["contacts"]]
        deals = self._sizes["deals"]
        return make_crm(self._random("crm"), self.clock, self.anchor, self.companies, people, deals)

    @cached_property
    def quickbooks(self) -> Books:
        sizes = (self._sizes["customers"], self._sizes["invoices"])
        return make_books(self._random("books"), self.clock, self.anchor, self.people, *sizes)

    @cached_property
    def drive(self) -> Drive:
        return make_drive(self._random("drive"), self.clock, self.anchor, self.people, self._sizes["files"])

    @cached_property
    def gmail(self) -> Mailbox:
        threads = self._sizes["threads"]
        made = make_mailbox(self._random("mail"), self.clock, self.anchor, self.people, threads)
        made.listeners = self.gmail_listeners
        return made

    def gmail_of(self, address: str) -> Mailbox:
        """The Gmail mailbox of an account; those of others than the owner begin empty."""
        if address == OWNER:
            return self.gmail
        if address not in self._gmail:
            self._gmail[address] = Mailbox(self.clock, address, self.gmail_listeners)
        return self._gmail[address]

    @cached_property
    def outlook(self) -> Exchange:
        sizes = self._sizes["mails"]
        return fill_outlook(self._random("outlook"), self.exchange, self.mails, self.anchor, sizes)

    def counts(self) -> dict[str, int]:
        """How many records of each kind there are, including archived and trashed ones."""
        return {
            "contacts": len(self.hubspot.contacts.objects),
            "companies": len(self.hubspot.companies.objects),
            "deals": len(self.hubspot.deals.objects),
            "customers": len(self.quickbooks.customers.entities),
            "invoices": len(self.quickbooks.invoices.entities),
            "files": len(self.drive.files),
            "threads": len(self.gmail.threads),
            "messages": len(self.gmail.messages),
            "mails": len(self.outlook.mailbox(OWNER).items) // 2,
        }

    def _random(self, part: str) -> Random:
        return Random(f"{self.seed}/{part}")
