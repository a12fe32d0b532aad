"""Text about a company: paragraphs for documents, rows for sheets, bodies of mails."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from penstock.simulators.providers.world import words
from penstock.simulators.providers.world.companies import Person


def paragraph(random: Random, person: Person, anchor: datetime) -> tuple[str, str]:
    """A topic and what is said about it."""
    topic, said = random.choice(words.TOPICS)
    return topic, said.format(
        company=person.company.name,
        person=person.name,
        offer=person.company.offer,
        city=person.company.city[0],
        day=f"{anchor + timedelta(days=random.randrange(-90, 90)):%d %B %Y}",
        amount=f"${random.randrange(4, 400) * 250:,}",
    )


def document(random: Random, person: Person, anchor: datetime, title: str) -> str:
    """A document of a few paragraphs under headings."""
    parts = [title, "", person.company.description, ""]
    for _ in range(random.randrange(2, 6)):
        topic, said = paragraph(random, person, anchor)
        parts += [topic, "", said, f"Next step: {person.name} ({person.title}) answers by e-mail.", ""]
    return "\n".join(parts)


def sheet(random: Random, person: Person) -> str:
    """A price list as CSV."""
    rows = ["Item,Quantity,Unit price,Total"]
    for service, price in words.SERVICES:
        count = random.randrange(1, 12)
        rows.append(f'"{service}",{count},{price:.2f},{count * price:.2f}')
    rows.append(f'"Prepared for {person.company.name}",,,')
    return "\r\n".join(rows) + "\r\n"
