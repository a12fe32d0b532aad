"""Makes the mailbox of the simulated business: conversations with contacts, and newsletters."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from penstock.simulators.providers.world import notes
from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.companies import Person
from penstock.simulators.providers.world.mail import OWNER, OWNER_NAME, Attachment, Mailbox


def make_mailbox(
    random: Random, clock: SimulatedClock, anchor: datetime, people: list[Person], threads: int
) -> Mailbox:
    """Conversations with people of the companies, oldest first; some carry a PDF, some are newsletters."""
    mailbox = Mailbox(clock)
    begun = sorted(random.randrange(3_600, 400 * 86_400) for _ in range(threads))[::-1]
    for number, ago in enumerate(begun):
        at = anchor - timedelta(seconds=ago)
        person = random.choice(people)
        if number % 12 == 11:
            _newsletter(mailbox, person, at)
        else:
            _conversation(random, mailbox, person, anchor, at)
    return mailbox


def _conversation(random: Random, mailbox: Mailbox, person: Person, anchor: datetime, at: datetime) -> None:
    topic, said = notes.paragraph(random, person, anchor)
    subject, thread = f"{topic}: {person.company.name}", None
    for turn in range(random.randrange(1, 5)):
        ours = turn % 2 == 1
        theirs, mine = f"{person.name} <{person.email}>", f"{OWNER_NAME} <{OWNER}>"
        body = said if turn == 0 else notes.paragraph(random, person, anchor)[1]
        attachments: tuple[Attachment, ...] = ()
        if not ours and random.random() < 0.15:
            lines = (f"Offer for {person.company.name}", body, f"Contact: {person.name}, {person.title}")
            attachments = (Attachment(f"offer-{person.number}.pdf", "application/pdf", lines),)
        hello, end = (person.first, OWNER_NAME) if ours else (OWNER_NAME.split()[0], person.name)
        added = mailbox.add(
            sender=mine if ours else theirs,
            to=(theirs,) if ours else (mine,),
            subject=subject if thread is None else f"Re: {subject}",
            text=f"Hello {hello},\n\n{body}\n\nBest regards\n{end}\n",
            thread_id=thread,
            attachments=attachments,
            labels=("SENT",) if ours else ("INBOX",),
            at=min(at + timedelta(hours=7 * turn), anchor),
        )
        thread = added.thread_id


def _newsletter(mailbox: Mailbox, person: Person, at: datetime) -> None:
    company = person.company
    mailbox.add(
        sender=f"{company.name} News <news@{company.domain}>",
        subject=f"What is new at {company.name}",
        text=f"This month: {company.offer} at a lower price.\n\nUnsubscribe at any time.\n",
        headers={
            "List-Unsubscribe": f"<mailto:unsubscribe@{company.domain}>",
            "List-Id": f"<news.{company.domain}>",
            "Precedence": "bulk",
        },
        labels=("INBOX", "CATEGORY_PROMOTIONS"),
        at=at,
    )
