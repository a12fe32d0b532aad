"""Makes the CRM of the simulated business: a company's contacts and deals."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from penstock.simulators.providers.world import words
from penstock.simulators.providers.world.clock import SimulatedClock, iso_ms
from penstock.simulators.providers.world.companies import Company, Person
from penstock.simulators.providers.world.crm import Crm, CrmTable


def make_crm(
    random: Random,
    clock: SimulatedClock,
    anchor: datetime,
    companies: list[Company],
    people: list[Person],
    deals: int,
) -> Crm:
    crm = Crm(CrmTable("contacts", clock), CrmTable("companies", clock), CrmTable("deals", clock))
    ids: dict[int, str] = {}
    for company in companies:
        at = _past(random, anchor)
        ids[company.number] = crm.companies.add(_company(random, company), at=at).id
    for person in people:
        at = _past(random, anchor)
        crm.contacts.add(_contact(random, person), company=ids[person.company.number], at=at)
    for number in range(deals):
        company = random.choice(companies)
        alone = random.random() < 0.02  # a deal nobody linked to a company
        crm.deals.add(
            _deal(random, company, number, anchor),
            company=None if alone else ids[company.number],
            at=_past(random, anchor),
        )
    return crm


def _past(random: Random, anchor: datetime) -> datetime:
    return anchor - timedelta(milliseconds=random.randrange(1, 700 * 86_400_000))


def _company(random: Random, company: Company) -> dict[str, str | None]:
    return {
        "name": company.name,
        "domain": company.domain if random.random() < 0.97 else None,
        "industry": company.industry,
        "numberofemployees": str(company.employees),
        "annualrevenue": str(company.revenue),
        "description": company.description,
        "city": company.city[0],
        "state": company.city[1],
        "country": "United States",
        "phone": f"+1555{company.number:07}",
        "lifecyclestage": "customer",
        "website": f"https://www.{company.domain}",
    }


def _contact(random: Random, person: Person) -> dict[str, str | None]:
    return {
        "firstname": person.first,
        "lastname": person.last,
        "email": person.email,
        "company": person.company.name,
        "industry": person.company.industry,
        "jobtitle": person.title if random.random() < 0.95 else None,
        "lifecyclestage": random.choice(words.STAGES),
        "phone": f"+1555{random.randrange(10_000_000):07}",
    }


def _deal(random: Random, company: Company, number: int, anchor: datetime) -> dict[str, str | None]:
    closes = anchor + timedelta(days=random.randrange(-300, 200))
    return {
        "dealname": f"{company.name}: {random.choice(words.DEAL_KINDS)} {number + 1}",
        "amount": f"{random.randrange(8, 900) * 250}",
        "dealstage": random.choice(words.DEAL_STAGES),
        "closedate": iso_ms(closes),
        "pipeline": "default",
        "deal_currency_code": "USD",
    }
