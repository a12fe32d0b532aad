"""Companies and the people in them, which every simulated provider tells something about."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from random import Random
from typing import Final

from penstock.simulators.providers.world import words

_SUFFIXES: Final = ("", "", "", " Group", " Co", " International", " West", " & Sons")
_LEGAL_FORMS: Final = (", Inc.", " LLC", " Ltd.", " Inc")


@dataclass(frozen=True, slots=True)
class Company:
    """A client of the simulated business."""

    number: int
    name: str
    domain: str
    industry: str
    offer: str
    employees: int
    revenue: int
    city: tuple[str, str, str]

    @property
    def description(self) -> str:
        place, state, _ = self.city
        return (
            f"{self.name} sells {self.offer} from {place}, {state}, with {self.employees:,} employees. "
            f"Founded by engineers, it serves customers in {1 + self.number % 9} states."
        )


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who works at a company."""

    number: int
    first: str
    last: str
    title: str
    company: Company

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def email(self) -> str:
        return f"{slug(self.first)}.{slug(self.last)}{self.number}@{self.company.domain}"


def slug(text: str) -> str:
    """Lower-case ASCII letters and digits of a text."""
    plain = unicodedata.normalize("NFKD", text.replace("ø", "o"))
    return re.sub(r"[^a-z0-9]+", "", plain.encode("ascii", "ignore").decode().lower())


def make_companies(random: Random, count: int) -> list[Company]:
    companies: list[Company] = []
    taken: set[str] = set()
    industries = tuple(words.TRADES)
    for number in range(count):
        industry = random.choice(industries)
        name = (
            f"{random.choice(words.STEMS)} {random.choice(words.TRADES[industry])}{random.choice(_SUFFIXES)}"
        )
        if name in taken:
            name = f"{name} {number}"
        taken.add(name)
        employees = int(10 ** random.uniform(0.7, 3.6))
        companies.append(
            Company(
                number=number,
                name=name,
                domain=f"{slug(name)}.example",
                industry=industry,
                offer=random.choice(words.OFFERS[industry]),
                employees=employees,
                revenue=employees * random.randrange(60, 260) * 1_000,
                city=random.choice(words.CITIES),
            )
        )
    return companies


def make_people(random: Random, count: int, companies: list[Company]) -> list[Person]:
    """People, at least one per company while there are enough."""
    return [
        Person(
            number=number,
            first=random.choice(words.FIRST_NAMES),
            last=random.choice(words.LAST_NAMES),
            title=random.choice(words.TITLES),
            company=companies[number] if number < len(companies) else random.choice(companies),
        )
        for number in range(count)
    ]


def name_in_books(random: Random, company: Company) -> str:
    """The company's name as a bookkeeper wrote it: often with its legal form, sometimes in capitals."""
    match random.randrange(4):
        case 0:
            return company.name
        case 1:
            return company.name.upper()
        case _:
            return company.name + random.choice(_LEGAL_FORMS)
