"""What a template makes a mail of, and the parts that all templates use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from html import escape
from random import Random
from typing import Final

from penstock.simulators.providers.world.companies import Person
from penstock.simulators.providers.world.mime import Link, Part, SentMail
from penstock.simulators.providers.world.pdf import make_pdf

PDF: Final = "application/pdf"
_UTF8: Final = (("charset", "utf-8"),)


@dataclass(frozen=True, slots=True)
class Draft:
    """One mail to write: from whom, to whom, when; `number` is different for each mail of a world."""

    number: int
    random: Random
    person: Person
    at: datetime
    to: str
    """`Name <address>`"""
    size: int = 8_000_000
    """Bytes of the attachment of the template `large`."""

    @property
    def sender(self) -> str:
        return f"{self.person.name} <{self.person.email}>"

    @property
    def invoice(self) -> str:
        """The number of the invoice in this mail."""
        return f"INV-{self.at:%Y}-{self.number:06d}"

    @property
    def invoice_lines(self) -> tuple[str, ...]:
        company, amount = self.person.company, 90 + self.number * 37 % 90_000
        return (
            f"{company.name}",
            f"Invoice {self.invoice}",
            f"Date {self.at:%Y-%m-%d}",
            f"{company.offer}: {1 + self.number % 12} units",
            f"Total due: ${amount:,}.{self.number % 100:02d}",
            f"Questions: {self.person.name}, {self.person.email}",
        )

    def invoice_pdf(self, **more: str) -> Part:
        content = make_pdf(self.invoice_lines)
        return file_part(f"{self.invoice}.pdf", PDF, content, **more)

    def mail(
        self,
        subject: str,
        text: str,
        *files: Part,
        html: str | None = None,
        sender: str | None = None,
        headers: dict[str, str] | None = None,
        links: tuple[Link, ...] = (),
        body: Part | None = None,
    ) -> SentMail:
        """A mail with text, HTML and files; `body` replaces the text and the HTML."""
        domain = self.person.company.domain
        given = {
            "From": sender or self.sender,
            "To": self.to,
            "Subject": subject,
            "Date": format_datetime(self.at),
            "Message-ID": f"<{self.number:08d}.{self.random.randrange(16**8):08x}@{domain}>",
            **(headers or {}),
        }
        shown = body or alternative(text, html)
        whole = Part("multipart/mixed", parts=(shown, *files)) if files else shown
        return SentMail(tuple(given.items()), whole, links)

    def letter(self, said: str) -> str:
        hello = self.to.partition(" ")[0]
        return f"Hello {hello},\n\n{said}\n\nBest regards\n{self.person.name}\n"


def alternative(text: str, html: str | None = None) -> Part:
    shown = html or "<html><body><div>" + escape(text).replace("\n", "<br>\n") + "</div></body></html>"
    return Part(
        "multipart/alternative",
        parts=(text_part("text/plain", text), text_part("text/html", shown)),
    )


def text_part(media_type: str, text: str) -> Part:
    return Part(media_type, text.encode(), parameters=_UTF8)


def file_part(filename: str, media_type: str, content: bytes, **more: str) -> Part:
    """An attachment; `more` are its disposition and content_id."""
    disposition = more.get("disposition", "attachment")
    assert disposition in ("attachment", "inline"), disposition
    return Part(
        media_type,
        content,
        filename=filename,
        disposition="inline" if disposition == "inline" else "attachment",
        content_id=more.get("content_id"),
    )
