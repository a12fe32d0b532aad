"""The people, companies, places and amounts that fill the templates, by language."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bench.mail.template import Language


@dataclass(frozen=True, slots=True)
class Names:
    companies: tuple[str, ...]
    people: tuple[str, ...]
    cities: tuple[str, ...]
    months: tuple[str, ...]
    amount: str
    date: str


NAMES: Final[Mapping[Language, Names]] = {
    "en": Names(
        ("Harrow Timber", "Bluebell Catering", "Okafor Design", "Penhallow Freight"),
        ("Grace Okafor", "Tom Whitfield", "Priya Nair", "Owen Hughes"),
        ("Leeds", "Bristol", "Cardiff"),
        ("January", "May", "October"),
        "£{whole:,}.{cents:02}",
        "{day} Oct 2026",
    ),
    "de": Names(
        ("Brandt Holzbau", "Küppers Elektro", "Wiesner Druck", "Alpenfracht"),
        ("Jutta Brandt", "Murat Yildiz", "Sabine Küppers", "Lukas Wiesner"),
        ("Köln", "Graz", "Zürich"),
        ("Januar", "März", "Oktober"),
        "{whole},{cents:02} €",
        "{day}.10.2026",
    ),
    "fr": Names(
        ("Menuiserie Leclerc", "Atelier Dubois", "Transports Morel", "Imprimerie Garnier"),
        ("Élodie Leclerc", "Karim Benali", "Chloé Dubois", "Paul Morel"),
        ("Lyon", "Nantes", "Bruxelles"),
        ("janvier", "août", "octobre"),
        "{whole},{cents:02} €",
        "{day}/10/2026",
    ),
    "es": Names(
        ("Carpintería Ruiz", "Gráficas Ortega", "Transportes Vidal", "Estudio Campos"),
        ("Lucía Ruiz", "Javier Ortega", "Nuria Vidal", "Diego Campos"),
        ("Sevilla", "Bilbao", "Valencia"),
        ("enero", "mayo", "octubre"),
        "{whole},{cents:02} EUR",
        "{day}/10/2026",
    ),
}
COLLEAGUES: Final = ("ines", "martin", "sofia", "yannick")


def values(language: Language, chance: random.Random) -> dict[str, str]:
    """What stands for `{company}`, `{amount}` and the other names in a template."""
    names = NAMES[language]
    company, person = chance.choice(names.companies), chance.choice(names.people)
    return {
        "company": company,
        "domain": f"{_plain(company)}.example",
        "person": person,
        "first": _plain(person.split()[0]),
        "colleague": chance.choice(COLLEAGUES),
        "city": chance.choice(names.cities),
        "month": chance.choice(names.months),
        "number": str(chance.randint(10_000, 99_999)),
        "amount": names.amount.format(whole=chance.randint(20, 9_000), cents=chance.randint(0, 99)),
        "date": names.date.format(day=chance.randint(1, 28)),
    }


def _plain(name: str) -> str:
    """In lower case and without what an address cannot have."""
    plain = name.lower().translate(str.maketrans("üéíóáñ", "ueioan"))
    return plain.replace(" ", "-")
